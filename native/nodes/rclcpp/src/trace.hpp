// SPDX-License-Identifier: Apache-2.0
//
// The trace events that only nodes of tacho have; rclcpp emits its own. Without a recorder nothing is emitted.
#pragma once

#include <dlfcn.h>
#include <tacho/events.h>

#include <cstdint>
#include <cstring>
#include <initializer_list>

template <class Function>
Function of_recorder(const char *name) {
  void *symbol = dlsym(RTLD_DEFAULT, name);
  Function found = nullptr;
  std::memcpy(&found, &symbol, sizeof found);
  return found;
}

inline void record(tacho_kind kind, std::initializer_list<uint64_t> words) {
  static const auto function = of_recorder<void (*)(uint32_t, const uint64_t *, uint32_t)>("tacho_record");
  if (function) function(kind, words.begin(), static_cast<uint32_t>(words.size()));
}

inline void record(tacho_kind kind, std::initializer_list<uint64_t> words, const char *text) {
  using Function = void (*)(uint32_t, const uint64_t *, uint32_t, const char *const *, uint32_t);
  static const auto function = of_recorder<Function>("tacho_record_texts");
  if (function) function(kind, words.begin(), static_cast<uint32_t>(words.size()), &text, 1);
}

inline uint64_t word(const void *handle) { return reinterpret_cast<uintptr_t>(handle); }
