// SPDX-License-Identifier: Apache-2.0
//
// How a call of the plugin fails: thrown inside, told as text at its door.
#ifndef TACHO_CYBER_FAILURE_H_
#define TACHO_CYBER_FAILURE_H_

#include <tacho/middleware.h>

#include <cstdarg>
#include <cstdio>
#include <new>
#include <stdexcept>
#include <type_traits>

[[noreturn]] __attribute__((format(printf, 1, 2))) inline void fail(const char *format, ...) {
  char text[TACHO_ERROR_SIZE];
  va_list list;
  va_start(list, format);
  std::vsnprintf(text, sizeof text, format, list);
  va_end(list);
  throw std::runtime_error(text);
}

// No exception may leave a C function.
template <class Function>
auto guarded(char *error, Function function) -> decltype(function()) {
  try {
    return function();
  } catch (const std::bad_alloc &) {
    std::snprintf(error, TACHO_ERROR_SIZE, "cyber: no memory");
  } catch (const std::exception &failure) {
    std::snprintf(error, TACHO_ERROR_SIZE, "%s", failure.what());
  }
  if constexpr (std::is_pointer_v<decltype(function())>) return nullptr;
  else return -1;
}

#endif  // TACHO_CYBER_FAILURE_H_
