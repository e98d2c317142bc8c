// SPDX-License-Identifier: Apache-2.0
//
// Interposes functions of Cyber RT: the wheel's library finds our definition, IN_FRONT, before its own, because the
// loader searches the part of the plugin that is linked to it first.
#ifndef TACHO_CYBER_IN_FRONT_H_
#define TACHO_CYBER_IN_FRONT_H_

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#define IN_FRONT __attribute__((visibility("default")))

// The original definition, to which every call is passed on.
template <class Function>
Function behind(const char *symbol) {
  void *found = dlsym(RTLD_NEXT, symbol);
  Function function = nullptr;
  std::memcpy(&function, &found, sizeof function);
  if (!function) {
    std::fprintf(stderr, "cyber: Cyber RT has no %s; expected the library of pycyber 0.0.6\n", symbol);
    std::abort();
  }
  return function;
}

#endif  // TACHO_CYBER_IN_FRONT_H_
