/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds the function that the program would have called if ours had not been called first.
 */
#ifndef TACHO_RECORDER_DDS_ORIGINAL_H_
#define TACHO_RECORDER_DDS_ORIGINAL_H_

#include <stdatomic.h>
#include <stddef.h>

/* A function of ours and the function that it replaces. */
struct original {
  const char *symbol;
  const char *library; /* prefix of the names of libraries that are searched first: "librmw_implementation." */
  void *ours;          /* our function */
  _Atomic(void *) found;
};

/* Searches the loaded libraries. If none has the function, prints a message and ends the program: it cannot continue
 * without it. */
void *original_search(struct original *original);

static inline void *original_of(struct original *original) {
  void *found = atomic_load_explicit(&original->found, memory_order_acquire);
  return __builtin_expect(found != NULL, 1) ? found : original_search(original);
}

#endif /* TACHO_RECORDER_DDS_ORIGINAL_H_ */
