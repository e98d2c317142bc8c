// SPDX-License-Identifier: Apache-2.0
#include "kinds.hpp"

extern "C" __attribute__((visibility("default"))) const struct tacho_tasks *tacho_tasks() {
  static const tacho_task_kind kinds[] = {camera::VIDEO, camera::DRAWN_CAMERA, camera::DETECTOR, camera::MOSSE,
                                          camera::LANE_DETECTION};
  static const struct tacho_tasks tasks = {TACHO_TASK_ABI, "camera", kinds, 5};
  return &tasks;
}
