// SPDX-License-Identifier: Apache-2.0
//
// The kinds of tasks of this library, each from a file of its own.
#ifndef TACHO_TASKS_JUDGES_KINDS_HPP_
#define TACHO_TASKS_JUDGES_KINDS_HPP_

#include <tasks/task.hpp>

namespace judges {

extern const tacho_task_kind JUDGE_GROUND, JUDGE_POSE, JUDGE_OBJECTS, JUDGE_BOXES, JUDGE_LANES;

}  // namespace judges

#endif  // TACHO_TASKS_JUDGES_KINDS_HPP_
