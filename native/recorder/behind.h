/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls the functions that have the same names as ours: those of libtracetools, through which LTTng may be recording,
 * or those of another library that was preloaded after this one. If no LTTng session is running, such a call costs
 * little more than one comparison.
 */
#ifndef TACHO_RECORDER_BEHIND_H_
#define TACHO_RECORDER_BEHIND_H_

#include <stdatomic.h>
#include <stddef.h>

/* Stands for functions with any arguments: callers cast it back. */
typedef void (*behind_function)(void);

/* Names a function, the variable that holds its current target, and the target until the function is found. */
struct behind_entry {
  const char *symbol;
  _Atomic(behind_function) *called;
  behind_function seeks;
};

/* Searches for all functions. A program may load libtracetools long after it began. After some failed tries, calls do
 * nothing. */
void behind_find(const struct behind_entry *entries, size_t count);

/* Call this in a forked child: the thread that was searching does not exist there. */
void behind_forget_seekers(void);

/* Defines what calls of one function go through; `seek` calls behind_find. */
#define BEHIND(name, parameters, arguments, seek)                                             \
  typedef void(*behind_type_##name) parameters;                                               \
  static void behind_seeks_##name parameters;                                                 \
  static _Atomic(behind_function) behind_##name = (behind_function)behind_seeks_##name;       \
  static void behind_seeks_##name parameters {                                                \
    seek();                                                                                   \
    behind_function found = atomic_load_explicit(&behind_##name, memory_order_acquire);       \
    if (found != (behind_function)behind_seeks_##name) ((behind_type_##name)found) arguments; \
  }

#define BEHIND_CALL(name) ((behind_type_##name)atomic_load_explicit(&behind_##name, memory_order_relaxed))

#define BEHIND_ENTRY(name) {"ros_trace_" #name, &behind_##name, (behind_function)behind_seeks_##name}

#endif /* TACHO_RECORDER_BEHIND_H_ */
