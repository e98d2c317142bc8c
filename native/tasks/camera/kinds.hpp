// SPDX-License-Identifier: Apache-2.0
//
// The kinds of tasks of this library, each from a file of its own.
#ifndef TACHO_TASKS_CAMERA_KINDS_HPP_
#define TACHO_TASKS_CAMERA_KINDS_HPP_

#include <tasks/task.hpp>

namespace camera {

extern const tacho_task_kind VIDEO, DRAWN_CAMERA, DETECTOR, MOSSE, LANE_DETECTION;

}  // namespace camera

#endif  // TACHO_TASKS_CAMERA_KINDS_HPP_
