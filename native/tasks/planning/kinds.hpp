// SPDX-License-Identifier: Apache-2.0
//
// The kinds of tasks of this library, each from a file of its own.
#ifndef TACHO_TASKS_PLANNING_KINDS_HPP_
#define TACHO_TASKS_PLANNING_KINDS_HPP_

#include <tasks/task.hpp>

namespace planning {

extern const tacho_task_kind ROUTE, TRAJECTORY;

}  // namespace planning

#endif  // TACHO_TASKS_PLANNING_KINDS_HPP_
