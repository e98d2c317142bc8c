// SPDX-License-Identifier: Apache-2.0
//
// The kinds of tasks of this library, each from a file of its own.
#ifndef TACHO_TASKS_WORLD_KINDS_HPP_
#define TACHO_TASKS_WORLD_KINDS_HPP_

#include <tasks/task.hpp>

namespace world {

extern const tacho_task_kind WORLD, ODOMETRY, IMU, LIDAR, GROUND_TRUTH_OBJECTS, GROUND_TRUTH_BOXES, ROADSIDE_UNIT;

}  // namespace world

#endif  // TACHO_TASKS_WORLD_KINDS_HPP_
