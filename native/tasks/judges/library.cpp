// SPDX-License-Identifier: Apache-2.0
#include "kinds.hpp"

extern "C" __attribute__((visibility("default"))) const struct tacho_tasks *tacho_tasks() {
  static const tacho_task_kind kinds[] = {judges::JUDGE_GROUND, judges::JUDGE_POSE, judges::JUDGE_OBJECTS,
                                          judges::JUDGE_BOXES, judges::JUDGE_LANES};
  static const struct tacho_tasks tasks = {TACHO_TASK_ABI, "judges", kinds, 5};
  return &tasks;
}
