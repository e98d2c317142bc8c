// SPDX-License-Identifier: Apache-2.0
//
// The kinds of tasks of this library, each from a file of its own: a file with PCL takes half a minute to compile.
#ifndef TACHO_TASKS_LIDAR_KINDS_HPP_
#define TACHO_TASKS_LIDAR_KINDS_HPP_

#include <tasks/task.hpp>

namespace lidar {

extern const tacho_task_kind VOXEL_GRID, GROUND_REMOVAL, EUCLIDEAN_CLUSTERS, SCAN_MATCHING, NDT_MATCHING;

}  // namespace lidar

#endif  // TACHO_TASKS_LIDAR_KINDS_HPP_
