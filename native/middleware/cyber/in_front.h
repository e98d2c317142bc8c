// SPDX-License-Identifier: Apache-2.0
//
// Standing before functions of Cyber RT: the wheel's library finds what is defined here, IN_FRONT, before its own definition,
// because the part of the plugin that is linked to it comes before it among those that the loader searches.
#ifndef TACHO_CYBER_IN_FRONT_H_
#define TACHO_CYBER_IN_FRONT_H_

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#define IN_FRONT __attribute__((visibility("default")))

// The definition behind, to which every call is passed on.
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
