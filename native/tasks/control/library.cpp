// SPDX-License-Identifier: Apache-2.0
#include "kinds.hpp"

extern "C" __attribute__((visibility("default"))) const struct tacho_tasks *tacho_tasks() {
  static const tacho_task_kind kinds[] = {control::PURE_PURSUIT, control::DRIVE_BY_WIRE};
  static const struct tacho_tasks tasks = {TACHO_TASK_ABI, "control", kinds, 2};
  return &tasks;
}
