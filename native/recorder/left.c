/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "left.h"

#include <signal.h>
#include <stddef.h>

/* A frame of a signal handler is larger (from 1.1 KB on x86-64, from 4.5 KB on AArch64), the frames of functions here are smaller. */
#define LESS_THAN_A_HANDLER 512u

/* A handler that interrupted the writing stands below it on the same stack, or on the stack for signals. Where neither tells, the writing is
 * taken to go on: an event is dropped rather than two written into each other. So a thread is silent until it next fires an event from as
 * far up its stack as the one that was left. */
bool left_for_ever(uint64_t busy)
{
  const uintptr_t here = (uintptr_t)__builtin_frame_address(0), writing = (uintptr_t)busy;
  stack_t of_signals = {.ss_flags = SS_DISABLE};
  if (writing == 1 || sigaltstack(NULL, &of_signals) != 0 || (of_signals.ss_flags & SS_ONSTACK)) return false;
  const bool was_on_it = !(of_signals.ss_flags & SS_DISABLE) && writing - (uintptr_t)of_signals.ss_sp < of_signals.ss_size;
  return was_on_it || here + LESS_THAN_A_HANDLER >= writing;
}
