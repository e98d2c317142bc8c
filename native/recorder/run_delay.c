/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "run_delay.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <unistd.h>

#include "schedstat.h"
#include "thread.h"

#define THREADS 256u /* that may have a descriptor */
#define HIGH 1000u   /* programs rarely have descriptors from here on */
#define FEW 16u      /* if fewer are free, they belong to the program */

/* Descriptors; 0: free, TAKEN: one is being opened. */
static _Atomic int opened[THREADS];
#define TAKEN (-1)

/* The calling thread's place among them, from 1 on; 0: not asked yet. */
static _Thread_local uint32_t place __attribute__((tls_model("initial-exec")));
#define NO_PLACE UINT32_MAX

/* Opens the file under a number that programs which close or reuse low numbers leave alone. */
static int open_high(void) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return -1;
  int low = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
  if (low < 0) return -1;
  const rlim_t lowest = limit.rlim_cur / 2 < HIGH ? limit.rlim_cur / 2 : HIGH;
  int fd = (rlim_t)low + FEW < limit.rlim_cur ? fcntl(low, F_DUPFD_CLOEXEC, (int)lowest) : -1;
  close(low);
  return fd;
}

static void take_place(void) {
  place = NO_PLACE;
  for (uint32_t i = 0; i < THREADS; i++) {
    int free = 0;
    if (!atomic_compare_exchange_strong(&opened[i], &free, TAKEN)) continue;
    int fd = open_high();
    atomic_store(&opened[i], fd > 0 ? fd : 0);
    if (fd > 0) place = i + 1;
    return;
  }
}

bool run_delay_read(uint64_t *ns) {
  /* A process without a clock has no file yet, or is a child that ran none of fork's handlers. */
  if (place == NO_PLACE || thread_process.clock == 0) return false;
  int saved = errno;
  if (place == 0) take_place();
  char text[80];
  ssize_t size = place == NO_PLACE ? -1 : pread(atomic_load(&opened[place - 1]), text, sizeof text, 0);
  errno = saved;
  return size > 0 && schedstat_run_delay(text, (size_t)size, ns);
}

void run_delay_thread_ends(void) {
  if (place != 0 && place != NO_PLACE) {
    int fd = atomic_exchange(&opened[place - 1], 0);
    if (fd > 0) close(fd);
  }
  place = 0;
}

void run_delay_forget(void) {
  for (uint32_t i = 0; i < THREADS; i++) {
    int fd = atomic_exchange(&opened[i], 0);
    if (fd > 0) close(fd);
  }
  place = 0;
}
