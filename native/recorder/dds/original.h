/* SPDX-License-Identifier: Apache-2.0
 *
 * The function that would have been called, had none of ours stood before it.
 */
#ifndef TACHO_RECORDER_DDS_ORIGINAL_H_
#define TACHO_RECORDER_DDS_ORIGINAL_H_

#include <stdatomic.h>
#include <stddef.h>

/* A function of ours and what it stands before. */
struct original {
  const char *symbol;
  const char *library;  /* how the names of libraries begin that are looked at first: "librmw_implementation." */
  void *ours;           /* the function that stands before it */
  _Atomic(void *) found;
};

/* Searches the loaded libraries. Ends the program, saying so, if none has it: somebody called it, so somebody must. */
void *original_search(struct original *original);

static inline void *original_of(struct original *original)
{
  void *found = atomic_load_explicit(&original->found, memory_order_acquire);
  return __builtin_expect(found != NULL, 1) ? found : original_search(original);
}

#endif /* TACHO_RECORDER_DDS_ORIGINAL_H_ */
