// SPDX-License-Identifier: Apache-2.0
//
// The kinds of tasks of this library, each from a file of its own.
#ifndef TACHO_TASKS_CONTROL_KINDS_HPP_
#define TACHO_TASKS_CONTROL_KINDS_HPP_

#include <tasks/task.hpp>

namespace control {

extern const tacho_task_kind PURE_PURSUIT, DRIVE_BY_WIRE;

}  // namespace control

#endif  // TACHO_TASKS_CONTROL_KINDS_HPP_
