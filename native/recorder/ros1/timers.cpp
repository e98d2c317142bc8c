// SPDX-License-Identifier: Apache-2.0
#include "timers.h"

#include <cxxabi.h>
#include <dlfcn.h>

#include <cstdlib>
#include <mutex>
#include <unordered_map>

namespace {

struct Timer {
  const void *manager;
  int32_t handle;
};
std::mutex timers_mutex;
auto &timers = lasting<std::unordered_map<const void *, Timer>>();  // key: callback

std::string demangled(const char *name) {
  int status = 0;
  char *readable = abi::__cxa_demangle(name, nullptr, nullptr, &status);
  const std::string text = status == 0 && readable ? readable : name;
  std::free(readable);
  return text;
}

}  // namespace

std::string name_of_function(const std::type_info &type, void *plain) {
  Dl_info found;
  if (plain && dladdr(plain, &found) != 0 && found.dli_sname && found.dli_saddr == plain)
    return demangled(found.dli_sname);
  return demangled(type.name());
}

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
