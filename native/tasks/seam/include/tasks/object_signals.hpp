// SPDX-License-Identifier: Apache-2.0
//
// The signals of tasks that give objects: how many there are, and where each one is.
#ifndef TACHO_TASKS_OBJECT_SIGNALS_HPP_
#define TACHO_TASKS_OBJECT_SIGNALS_HPP_

#include <tasks/task.hpp>

namespace tasks {

inline constexpr tacho_task_signal OBJECT_SIGNALS[] = {
    signal("objects", "", "number of objects in a message"),
    list("object_x", "m", "place of each object on the map"),
    list("object_y", "m", "place of each object on the map"),
    list("object_radius", "m", "of each object"),
};

// Reports objects (x, y, radius) at the instant that they describe.
template <class Object>
void report_objects(const tacho_task_call &call, const Object *objects, uint32_t count, int64_t at_ns) {
  enum { OBJECTS, X, Y, RADIUS };
  if (!call.report) return;
  report(call, OBJECTS, at_ns, count);
  for (uint32_t i = 0; i < count; ++i) {
    report(call, X, at_ns, objects[i].x, i), report(call, Y, at_ns, objects[i].y, i);
    report(call, RADIUS, at_ns, objects[i].radius, i);
  }
}

}  // namespace tasks

#endif  // TACHO_TASKS_OBJECT_SIGNALS_HPP_
