/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "behind.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>

#include "release.h"

static _Atomic int seeking; /* one thread searches; the others continue without waiting */

static void nothing(void) {}

void behind_find(const struct behind_entry *entries, size_t count) {
  static _Atomic int tries = 32;
  int saved = errno;
  sigset_t all, signals;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &signals); /* for the same reason as in release.c */
  if (atomic_exchange(&seeking, 1) != 0) goto done;
  /* RTLD_NEXT finds the functions of another preloaded library, or those of tracetools if the program is linked with
   * it. rclpy loads tracetools with RTLD_LOCAL, and RTLD_NEXT does not look there. */
  void *library = RTLD_NEXT;
  if (dlsym(library, "ros_trace_rcl_node_init") == NULL) library = release_open_tracetools();
  if (library != NULL || atomic_fetch_sub(&tries, 1) <= 1) {
    for (size_t i = 0; i < count; i++) {
      void *found = library != NULL ? dlsym(library, entries[i].symbol) : NULL;
      behind_function known = nothing;
      if (found != NULL) *(void **)&known = found;
      atomic_store_explicit(entries[i].called, known, memory_order_release);
    }
  }
  atomic_store(&seeking, 0);
done:
  pthread_sigmask(SIG_SETMASK, &signals, NULL);
  errno = saved;
}

void behind_forget_seekers(void) { atomic_store(&seeking, 0); }
