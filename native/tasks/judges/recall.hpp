// SPDX-License-Identifier: Apache-2.0
//
// How much of what is there was found.
#ifndef TACHO_TASKS_JUDGES_RECALL_HPP_
#define TACHO_TASKS_JUDGES_RECALL_HPP_

#include <tasks/task.hpp>

#include <cstdint>

namespace judges {

struct Recall {
  uint64_t messages = 0, due = 0, matched = 0, wrong = 0;

  void report(const tasks::Figures &figure) const {
    figure("messages", "", static_cast<double>(messages));
    figure("obstacles_due", "", static_cast<double>(due));
    if (messages > 0) figure("false_mean", "", static_cast<double>(wrong) / static_cast<double>(messages));
    if (due > 0) figure("recall", "%", 100 * static_cast<double>(matched) / static_cast<double>(due));
  }
};

}  // namespace judges

#endif  // TACHO_TASKS_JUDGES_RECALL_HPP_
