/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "keeper.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "ended.h"
#include "storage.h"
#include "thread.h"

#define AHEAD_ALLOCATED 256u /* at least 8 MiB ahead are backed by storage */
#define AHEAD_POPULATED 32u  /* at least 1 MiB ahead is free of page faults: memory that each process pays */
#define BEHIND_RESIDENT 512u /* at most 16 MiB of written chunks stay resident in the program */
#define STEP_MAX 8192u       /* chunks by which the file grows at most in one step: 256 MiB */
#define STACK_SIZE (256u * 1024u)
#define LOOK_AGAIN UINT64_C(20000000) /* ns between two checks whether all other threads have ended */

_Atomic uint64_t keeper_wake_at = UINT64_MAX;
static _Atomic uint32_t wanted;
static cpu_set_t cpus; /* the program's CPUs at its start; empty: unknown */

void keeper_wake(void) {
  if (atomic_exchange_explicit(&wanted, 1, memory_order_acq_rel) == 0) {
    syscall(SYS_futex, &wanted, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
  }
}

/* 1 from just before the keeper thread is created until it runs. */
static _Atomic uint32_t starting;

/* A starting thread allocates: in the C library, and for far longer in the address sanitiser. If the process forked
 * meanwhile, the child would find the sanitiser's allocator locked for good. A single-threaded program does not expect
 * such locks, so its fork waits here. The wait times out only if the keeper gets no CPU at all. */
void keeper_begun(void) {
  const struct timespec most = {0, 100000000};
  if (atomic_load_explicit(&starting, memory_order_acquire) != 0)
    syscall(SYS_futex, &starting, FUTEX_WAIT_PRIVATE, 1, &most, NULL, 0);
}

static atomic_bool leaves_when_alone;

/* Counts the threads of this process, including a first thread that has ended: its entry stays until the last thread
 * ends. Each thread is a link of this directory. 0: unknown. */
static unsigned long threads(void) {
  struct stat tasks;
  return stat("/proc/self/task", &tasks) == 0 && tasks.st_nlink > 2 ? tasks.st_nlink - 2 : 0;
}

void keeper_stay_not_alone(void) {
  atomic_store_explicit(&leaves_when_alone, true, memory_order_relaxed);
  keeper_wake();
}

void keeper_leave_to(void) {
  const struct timespec rest = {0, 100000};
  keeper_stay_not_alone();
  for (int i = 0; i < 1000 && threads() == 2; i++) nanosleep(&rest, NULL);
}

static uint64_t at_least(uint64_t value, uint64_t least) { return value > least ? value : least; }

/* Provides the storage that threads will need until the keeper next wakes. It predicts this from what they took since
 * its last wake-up. `seen` is the number of chunks reserved then, `populated` the end of the chunks without page
 * faults, and `given_back` the end of the chunks that are no longer resident. */
static void keep_ahead(uint64_t *seen, uint64_t *populated, uint64_t *given_back) {
  struct tacho_file_header *header = storage_header;
  uint64_t reserved = atomic_load_explicit(storage_live(&header->chunks_reserved), memory_order_relaxed);
  uint64_t taken = reserved - *seen;
  *seen = reserved;
  if (taken > STEP_MAX / 8) taken = STEP_MAX / 8;

  uint64_t allocated = atomic_load_explicit(storage_live(&header->chunks_allocated), memory_order_relaxed);
  uint64_t target = reserved + at_least(8 * taken, AHEAD_ALLOCATED);
  uint64_t most = storage_chunks_max();
  bool grown = true;
  if (allocated < target - AHEAD_ALLOCATED / 4 && allocated < most) {
    grown = storage_grow(target < most ? target : most);
    allocated = atomic_load_explicit(storage_live(&header->chunks_allocated), memory_order_relaxed);
  }

  uint64_t from = at_least(*populated, reserved);
  uint64_t to = reserved + at_least(2 * taken, AHEAD_POPULATED);
  if (to > allocated) to = allocated;
  if (to > from) {
    storage_populate(from, to);
    *populated = to;
  }
  /* A thread that still writes to such an old chunk takes one more page fault, once in these 16 MiB. */
  /* At the end of storage, threads have reserved more chunks than there are. */
  uint64_t written = reserved < allocated ? reserved : allocated;
  if (written - *given_back >= BEHIND_RESIDENT) {
    storage_give_back(*given_back, written - BEHIND_RESIDENT / 2);
    *given_back = written - BEHIND_RESIDENT / 2;
  }
  /* At the end of storage a wake-up would change nothing. The keeper tries again when it next reads the clocks, within
   * a second. */
  bool at_end = !grown || allocated >= most;
  uint64_t ahead = to > reserved ? to - reserved : 0;
  atomic_store_explicit(&keeper_wake_at, at_end && to >= allocated ? UINT64_MAX : reserved + ahead / 2,
                        memory_order_relaxed);
}

static void *keep(void *unused) {
  (void)unused;
  atomic_store_explicit(&starting, 0, memory_order_release);
  syscall(SYS_futex, &starting, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
  prctl(PR_SET_NAME, "tacho-recorder");
  /* Clocks are read soon after the start, so that a short run has its own slope, and then once a second. */
  static const uint64_t first_syncs[] = {10000000u, 100000000u, 1000000000u};
  uint64_t seen = 0, populated = 0, given_back = 0, syncs = 0;
  uint64_t start = clock_ns(CLOCK_MONOTONIC);
  uint64_t due = start + first_syncs[0];
  for (;;) {
    /* This is an exchange, so that the reads below see every chunk that was reserved before the wake-up it consumes. */
    atomic_exchange_explicit(&wanted, 0, memory_order_acq_rel);
    const bool may_leave = atomic_load_explicit(&leaves_when_alone, memory_order_relaxed);
    if (may_leave && threads() == 2) return NULL;
    ended_give_back();
    keep_ahead(&seen, &populated, &given_back);
    uint64_t now = clock_ns(CLOCK_MONOTONIC);
    if (now >= due) {
      thread_put_clock();
      storage_unmap_what_was_let_go();
      syncs++;
      due = syncs < 3 ? start + first_syncs[syncs] : now + first_syncs[2];
    }
    uint64_t rest = due > now ? due - now : 0;
    if (may_leave && rest > LOOK_AGAIN) rest = LOOK_AGAIN;
    struct timespec wait = {(time_t)(rest / 1000000000u), (long)(rest % 1000000000u)};
    syscall(SYS_futex, &wanted, FUTEX_WAIT_PRIVATE, 0, &wait, NULL, 0);
  }
  return NULL;
}

void keeper_note_cpus(void) {
  if (sched_getaffinity(0, sizeof cpus, &cpus) != 0) CPU_ZERO(&cpus);
}

static bool is_real_time(void) {
  int policy = sched_getscheduler(0) & ~SCHED_RESET_ON_FORK;
  return policy == SCHED_FIFO || policy == SCHED_RR;
}

/* The thread that fires the first event may be pinned, have real-time priority and never sleep. The keeper would never
 * run if it inherited these, so it inherits neither. It runs on the CPUs on which the program was started. */
static int start_thread(bool own_stack_and_cpus) {
  pthread_attr_t attributes;
  pthread_t thread;
  struct sched_param normal = {.sched_priority = 0};
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  if (is_real_time()) {
    pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED);
    pthread_attr_setschedpolicy(&attributes, SCHED_OTHER);
    pthread_attr_setschedparam(&attributes, &normal);
  }
  if (own_stack_and_cpus) {
    pthread_attr_setstacksize(&attributes, STACK_SIZE);
    if (CPU_COUNT(&cpus) > 0) pthread_attr_setaffinity_np(&attributes, sizeof cpus, &cpus);
  }
  int refused = pthread_create(&thread, &attributes, keep, NULL);
  pthread_attr_destroy(&attributes);
  return refused;
}

void keeper_start(void) {
  atomic_store_explicit(&starting, 1, memory_order_relaxed);
  int refused = start_thread(true);
  /* EINVAL: the program's thread-local storage is larger than the stack, or the cpuset no longer has any of those CPUs. */
  if (refused == EINVAL) refused = start_thread(false);
  if (refused != 0) atomic_store_explicit(&starting, 0, memory_order_relaxed);
  /* If no thread can be created, the program's own threads make the storage they need, and clocks are read only at the
   * beginning and the end. */
}

void keeper_forget(void) {
  atomic_store_explicit(&keeper_wake_at, UINT64_MAX, memory_order_relaxed);
  atomic_store_explicit(&wanted, 0, memory_order_relaxed);
  atomic_store_explicit(&starting, 0, memory_order_relaxed);
  atomic_store_explicit(&leaves_when_alone, false, memory_order_relaxed);
}
