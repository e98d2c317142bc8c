// SPDX-License-Identifier: Apache-2.0
//
// The kinds of tasks of this library, each from a file of its own.
#ifndef TACHO_TASKS_FUSION_KINDS_HPP_
#define TACHO_TASKS_FUSION_KINDS_HPP_

#include <tasks/task.hpp>

namespace fusion {

extern const tacho_task_kind MERGE_CLOUDS, FUSE_BOXES, TRACK_OBJECTS;

}  // namespace fusion

#endif  // TACHO_TASKS_FUSION_KINDS_HPP_
