/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "left.h"

#include <signal.h>
#include <stddef.h>

/* The frame of a signal handler is larger than this (1.1 KB or more on x86-64, 4.5 KB or more on AArch64). The frames
 * of our functions are smaller. */
#define LESS_THAN_A_HANDLER 512u

/* A handler that interrupted a write runs further down the same stack, or on the signal stack. If neither position
 * decides, we assume that the write continues: it is better to drop an event than to mix two. After such a jump, a
 * thread stays silent until it fires an event from as far up its stack as the abandoned write. */
bool left_for_ever(uint64_t busy) {
  const uintptr_t here = (uintptr_t)__builtin_frame_address(0), writing = (uintptr_t)busy;
  stack_t of_signals = {.ss_flags = SS_DISABLE};
  if (writing == 1 || sigaltstack(NULL, &of_signals) != 0 || (of_signals.ss_flags & SS_ONSTACK)) return false;
  const bool was_on_it =
      !(of_signals.ss_flags & SS_DISABLE) && writing - (uintptr_t)of_signals.ss_sp < of_signals.ss_size;
  return was_on_it || here + LESS_THAN_A_HANDLER >= writing;
}
