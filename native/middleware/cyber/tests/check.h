// SPDX-License-Identifier: Apache-2.0
#ifndef TACHO_CYBER_TESTS_CHECK_H_
#define TACHO_CYBER_TESTS_CHECK_H_

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <tacho/middleware.h>

#define CHECK(condition, ...)                         \
  do {                                                \
    if (!(condition)) {                               \
      fprintf(stderr, "%s:%d: ", __FILE__, __LINE__); \
      fprintf(stderr, __VA_ARGS__);                   \
      fprintf(stderr, "\n");                          \
      exit(1);                                        \
    }                                                 \
  } while (0)
#define WAIT(condition)                                                                                           \
  ({                                                                                                              \
    time_t until = time(NULL) + 20;                                                                               \
    int held;                                                                                                     \
    while (!(held = !!(condition)) && time(NULL) < until) nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL); \
    held;                                                                                                         \
  })

static const struct tacho_middleware *middleware_of(const char *plugin) {
  void *library = dlopen(plugin, RTLD_NOW | RTLD_LOCAL);
  CHECK(library, "%s", dlerror());
  void *symbol = dlsym(library, "tacho_middleware");
  const struct tacho_middleware *(*entry)(void);
  memcpy(&entry, &symbol, sizeof entry);
  const struct tacho_middleware *found = entry ? entry() : NULL;
  CHECK(found && found->abi == TACHO_MIDDLEWARE_ABI, "%s: no tacho_middleware of ABI %u in it", plugin,
        TACHO_MIDDLEWARE_ABI);
  return found;
}

#endif  // TACHO_CYBER_TESTS_CHECK_H_
