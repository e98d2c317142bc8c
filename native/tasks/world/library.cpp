// SPDX-License-Identifier: Apache-2.0
#include "kinds.hpp"

extern "C" __attribute__((visibility("default"))) const struct tacho_tasks *tacho_tasks() {
  static const tacho_task_kind kinds[] = {world::WORLD,
                                          world::ODOMETRY,
                                          world::IMU,
                                          world::LIDAR,
                                          world::GROUND_TRUTH_OBJECTS,
                                          world::GROUND_TRUTH_BOXES,
                                          world::ROADSIDE_UNIT};
  static const struct tacho_tasks tasks = {TACHO_TASK_ABI, "world", kinds, 7};
  return &tasks;
}
