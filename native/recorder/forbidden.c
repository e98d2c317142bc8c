/* SPDX-License-Identifier: Apache-2.0
 *
 * Handles a thread that forbids itself what the recorder does with every event: reading the TSC (PR_SET_TSC), or making
 * system calls (seccomp's strict mode, which forbids the TSC as well). The next event would then end the program. We
 * notice calls of prctl(3), but not a program that makes the system call itself.
 */
#define _GNU_SOURCE
#include <linux/seccomp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <sys/prctl.h>

#include "dds/original.h"
#include "thread.h"

__attribute__((visibility("default"))) int prctl(int option, ...);

static struct original original_prctl = {"prctl", "libc.", (void *)prctl, NULL};

/* Programs may call prctl in signal handlers, and while the dynamic linker is busy. */
__attribute__((constructor)) static void find_original(void) { original_of(&original_prctl); }

int prctl(int option, ...) {
  va_list more;
  unsigned long arguments[4];
  va_start(more, option); /* as the C library does, however many arguments there are */
  for (int i = 0; i < 4; i++) arguments[i] = va_arg(more, unsigned long);
  va_end(more);
  const bool to_strict = option == PR_SET_SECCOMP && arguments[0] == SECCOMP_MODE_STRICT;
  if (to_strict) thread_mute(true);
  if (to_strict || option == PR_SET_TSC) clock_tsc_may_be_forbidden = true;
  if (option == PR_SET_TSC) thread_leave_chunk();
  int result = ((int (*)(int, unsigned long, unsigned long, unsigned long, unsigned long))original_of(&original_prctl))(
      option, arguments[0], arguments[1], arguments[2], arguments[3]);
  if (to_strict && result != 0) thread_mute(false);
  return result;
}
