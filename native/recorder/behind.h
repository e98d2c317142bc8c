/* SPDX-License-Identifier: Apache-2.0
 *
 * The functions of the same names behind ours: those of libtracetools, which LTTng may be recording through, or of another
 * library that was preloaded after this one. Where no LTTng session is on, such a call is little more than one comparison.
 */
#ifndef TACHO_RECORDER_BEHIND_H_
#define TACHO_RECORDER_BEHIND_H_

#include <stdatomic.h>
#include <stddef.h>

/* Of whatever arguments: cast back for each call. */
typedef void (*behind_function)(void);

/* A function by its name, where calls of it go, and what they go to until it is found. */
struct behind_entry {
  const char *symbol;
  _Atomic(behind_function) *called;
  behind_function seeks;
};

/* Looks for all of them. libtracetools may be loaded long after the program began; after some tries calls go to nothing. */
void behind_find(const struct behind_entry *entries, size_t count);

/* In a forked child: whichever thread was looking is not here. */
void behind_forget_seekers(void);

/* What calls of one function go through; `seek` calls behind_find. */
#define BEHIND(name, parameters, arguments, seek)                                             \
  typedef void (*behind_type_##name) parameters;                                              \
  static void behind_seeks_##name parameters;                                                 \
  static _Atomic(behind_function) behind_##name = (behind_function)behind_seeks_##name;       \
  static void behind_seeks_##name parameters                                                  \
  {                                                                                           \
    seek();                                                                                   \
    behind_function found = atomic_load_explicit(&behind_##name, memory_order_acquire);       \
    if (found != (behind_function)behind_seeks_##name) ((behind_type_##name)found) arguments; \
  }

#define BEHIND_CALL(name) ((behind_type_##name)atomic_load_explicit(&behind_##name, memory_order_relaxed))

#define BEHIND_ENTRY(name) {"ros_trace_" #name, &behind_##name, (behind_function)behind_seeks_##name}

#endif /* TACHO_RECORDER_BEHIND_H_ */
