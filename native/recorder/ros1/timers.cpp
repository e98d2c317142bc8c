// SPDX-License-Identifier: Apache-2.0
#include "timers.h"

#include <mutex>
#include <unordered_map>

namespace {

struct Timer {
  const void *manager;
  int32_t handle;
};
std::mutex timers_mutex;
auto &timers = lasting<std::unordered_map<const void *, Timer>>();  // key: callback

}  // namespace

void remember_timer(const void *manager, int32_t handle, const void *callback) {
  std::lock_guard<std::mutex> lock(timers_mutex);
  timers[callback] = {manager, handle};
}

const void *timer_callback(const void *manager, int32_t handle) {
  std::lock_guard<std::mutex> lock(timers_mutex);
  for (const auto &[callback, timer] : timers)
    if (timer.manager == manager && timer.handle == handle) return callback;
  return nullptr;
}
