// SPDX-License-Identifier: Apache-2.0
//
// The trace events that only nodes of tacho have; rclcpp emits its own. Without a recorder there are none.
#pragma once

#include <dlfcn.h>
#include <tacho/events.h>

#include <cstdint>
#include <cstring>
#include <initializer_list>

inline void record(tacho_kind kind, std::initializer_list<uint64_t> words) {
  using Function = void (*)(uint32_t, const uint64_t *, uint32_t);
  static const Function function = [] {
    void *symbol = dlsym(RTLD_DEFAULT, "tacho_record");
    Function found = nullptr;
    std::memcpy(&found, &symbol, sizeof found);
    return found;
  }();
  if (function) function(kind, words.begin(), static_cast<uint32_t>(words.size()));
}

inline uint64_t word(const void *handle) { return reinterpret_cast<uintptr_t>(handle); }
