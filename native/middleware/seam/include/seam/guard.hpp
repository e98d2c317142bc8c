// SPDX-License-Identifier: Apache-2.0
//
// How a call of a plugin in C++ fails: the inside throws, and the outermost function turns the exception into text.
#ifndef TACHO_SEAM_GUARD_HPP_
#define TACHO_SEAM_GUARD_HPP_

#include <tacho/middleware.h>

#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <new>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace seam {

// A refusal or failure of the plugin itself.
class Failure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The text may use %m for errno. It need not begin with the plugin's name.
[[noreturn]] __attribute__((format(printf, 1, 2))) inline void fail(const char *format, ...) {
  char text[TACHO_ERROR_SIZE];
  va_list list;
  va_start(list, format);
  std::vsnprintf(text, sizeof text, format, list);
  va_end(list);
  throw Failure(text);
}

// No exception may leave a C function: guarded(error, [&] { ... }) returns the function's result, or else NULL or -1,
// with the cause in `error`. Every cause begins with the plugin's name; the cause of an exception from `below`, the
// library under the plugin, also names that library.
class Guard {
 public:
  constexpr explicit Guard(const char *plugin, const char *below = nullptr) : plugin_(plugin), below_(below) {}

  template <class Function>
  auto operator()(char *error, Function function) const -> decltype(function()) {
    try {
      return function();
    } catch (const std::bad_alloc &) {
      say(error, "", "no memory");
    } catch (const Failure &failure) {
      say(error, "", failure.what());
    } catch (const std::exception &failure) {
      say(error, below_ ? below_ : "", failure.what());
    }
    if constexpr (std::is_pointer_v<decltype(function())>)
      return nullptr;
    else
      return -1;
  }

 private:
  __attribute__((cold, noinline)) void say(char *error, const char *below, const char *text) const {
    const std::string prefix = std::string(plugin_) + ": ";
    const bool is_named = !std::strncmp(text, prefix.c_str(), prefix.size());
    std::snprintf(error, TACHO_ERROR_SIZE, "%s%s%s%s", is_named ? "" : prefix.c_str(), is_named ? "" : below,
                  *below && !is_named ? ": " : "", text);
  }

  const char *const plugin_, *const below_;
};

}  // namespace seam

#endif  // TACHO_SEAM_GUARD_HPP_
