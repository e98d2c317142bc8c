// SPDX-License-Identifier: Apache-2.0
#include "kinds.hpp"

extern "C" __attribute__((visibility("default"))) const struct tacho_tasks *tacho_tasks() {
  static const tacho_task_kind kinds[] = {fusion::MERGE_CLOUDS, fusion::FUSE_BOXES, fusion::TRACK_OBJECTS};
  static const struct tacho_tasks tasks = {TACHO_TASK_ABI, "fusion", kinds, 3};
  return &tasks;
}
