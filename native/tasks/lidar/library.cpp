// SPDX-License-Identifier: Apache-2.0
#include "kinds.hpp"

extern "C" __attribute__((visibility("default"))) const struct tacho_tasks *tacho_tasks() {
  static const tacho_task_kind kinds[] = {lidar::VOXEL_GRID, lidar::GROUND_REMOVAL, lidar::EUCLIDEAN_CLUSTERS,
                                          lidar::SCAN_MATCHING, lidar::NDT_MATCHING};
  static const struct tacho_tasks tasks = {TACHO_TASK_ABI, "lidar", kinds, 5};
  return &tasks;
}
