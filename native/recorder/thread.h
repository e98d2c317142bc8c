/* SPDX-License-Identifier: Apache-2.0
 *
 * Writing an event: the hot path. A thread owns a chunk and a cursor into it; nothing is shared, so there is no lock, no
 * atomic read-modify-write, no allocation and no system call until the chunk is full.
 */
#ifndef TACHO_RECORDER_THREAD_H_
#define TACHO_RECORDER_THREAD_H_

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "clock.h"
#include "tacho/events.h"

/* What a child that runs none of fork's handlers must not take over (raw clone and fork, _Fork): it stands in pages of its own, which the kernel
 * gives to every child as zeros (MADV_WIPEONFORK, Linux 4.14). Zeros are what a process has before its first event; an event reads the clock's
 * kind in any case. */
#if defined(__x86_64__)
#define THREAD_PAGE 4096
#else
#define THREAD_PAGE 65536 /* the largest there is */
#endif
union of_process {
  struct {
    enum tacho_clock clock;  /* what ticks are; 0: not known yet, and no thread has a chunk */
    _Atomic int state;       /* undecided, recording, off */
    pthread_mutex_t opening; /* held while the first event makes the file */
  };
  char pages[THREAD_PAGE];
};
extern union of_process thread_process __attribute__((visibility("hidden")));

struct cursor {
  uint64_t *next;      /* where the next head goes; NULL while the thread has no chunk */
  uint64_t *end;       /* end of the chunk */
  uint64_t base_ticks; /* of the chunk */
  uint64_t busy;       /* while writing, where the stack stands (or 1): a signal handler that fires an event now is dropped, and counted */
  uint64_t claim;      /* the number of its chunk; where `claimed`, of one that is reserved for it and not yet usable */
  uint64_t sequence;   /* of the thread's next chunk */
  _Atomic uint64_t dropped; /* since its previous chunk; atomic towards the thread's own signal handlers */
  uint32_t tid;        /* 0: not asked for yet */
  bool claimed;
  bool muted;  /* in seccomp's strict mode: nothing but memory may be touched */
  bool forked; /* in a child whose fork interrupted the writing of an event: nothing here is of this process */
  char name[16];
};

/* Initial-exec: one addition to the thread pointer, never a call that could allocate. The library is preloaded, so the
 * room is there. */
extern _Thread_local struct cursor thread_cursor __attribute__((tls_model("initial-exec")));

/* Whether CPU time is asked for (TACHO_EVENTS_CPU_TIME=1); set before main. */
extern bool thread_cpu_time;

/* Whether events of this process are recorded; true from before the first event on. */
bool thread_recording(void);

/* An event with texts, whose records stand before it in the same chunk. */
void thread_put_texts(uint32_t kind, const uint64_t *words, uint32_t count, const char *const *texts,
                      uint32_t text_count);

/* For an event whose words depend on the release of tracetools: looks for it, once the file is open. */
void thread_seek_release(void);

/* A TACHO_CLOCK_SYNC record, read now. */
void thread_put_clock(void);

/* The rest of thread_put: no chunk yet, chunk full, a gap of 48 bits of ticks, not recording. Called with busy set. `at`: NULL: now. */
struct thread_moment;
__attribute__((noinline, cold)) void thread_put_slowly(uint32_t kind, const uint64_t *words, uint32_t count,
                                                       const struct thread_moment *at);

/* An event finds its thread busy. True: a signal handler left the writing of the event it interrupted for ever (siglongjmp), and this one may
 * be written. False: this one is fired inside the writing of another; it is dropped, and counted. */
__attribute__((noinline, cold)) bool thread_enter_busy(void);

/* The calling thread is about to enter seccomp's strict mode, or could not: until then its events are dropped, without a system call. */
void thread_mute(bool muted);

/* The calling thread may no longer read the TSC: it is asked for before its next event. */
void thread_leave_chunk(void);

/* Writes one record at this time into the cursor's chunk; the caller made sure that it fits. The head goes last, with
 * release order: a process killed in between leaves a head of 0. */
static inline __attribute__((always_inline)) void thread_write(struct cursor *cursor, uint64_t ticks, uint32_t kind,
                                                               const uint64_t *words, uint32_t count)
{
  uint64_t *at = cursor->next;
  for (uint32_t i = 0; i < count; i++) at[1 + i] = words[i];
  uint64_t head = (ticks - cursor->base_ticks) << 16 | (uint64_t)kind << 6 | count;
  atomic_store_explicit((_Atomic uint64_t *)at, head, memory_order_release);
  cursor->next = at + 1 + count;
}

/* Marks the thread as writing, by where its stack stands: as dear as marking it by a constant. */
static inline __attribute__((always_inline)) void thread_set_busy(struct cursor *cursor)
{
#if defined(__x86_64__)
  __asm__ volatile("mov %%rsp, %0" : "=m"(cursor->busy));
#elif defined(__aarch64__)
  __asm__ volatile("mov %0, sp" : "=r"(cursor->busy));
#else
  cursor->busy = 1;
#endif
}

static inline __attribute__((always_inline)) void thread_put(uint32_t kind, const uint64_t *words, uint32_t count)
{
  struct cursor *cursor = &thread_cursor;
  if (__builtin_expect(cursor->busy != 0, 0) && !thread_enter_busy()) return;
  thread_set_busy(cursor); /* before anything else is looked at: from here on the cursor is ours alone */
  atomic_signal_fence(memory_order_seq_cst);
  if (__builtin_expect(cursor->next + count < cursor->end, 1)) {
    uint64_t ticks = clock_ticks(thread_process.clock);
    if (__builtin_expect((ticks - cursor->base_ticks) >> 48 == 0, 1)) {
      thread_write(cursor, ticks, kind, words, count);
      atomic_signal_fence(memory_order_seq_cst);
      cursor->busy = 0;
      return;
    }
  }
  thread_put_slowly(kind, words, count, NULL);
}

/* A moment for which events may be written later, if this thread has written none in between. */
struct thread_moment {
  const uint64_t *next; /* where the thread's events stood; NULL: it had no chunk */
  uint64_t ticks;       /* 0: not known, the events are of the time of their writing */
  uint64_t ns;          /* the same moment, where it is not decided yet what ticks are, and they are found to be these */
};

/* The same, of a thread without a chunk, and maybe of a process without a file. */
__attribute__((noinline, cold)) struct thread_moment thread_first_moment(void);

static inline struct thread_moment thread_moment(void)
{
  const uint64_t *next = thread_cursor.next;
  if (__builtin_expect(next == NULL, 0)) return thread_first_moment();
  const uint64_t ticks = clock_ticks(thread_process.clock);
  return (struct thread_moment){next, ticks, ticks};
}

/* An event of that moment. Further ones of the same moment may follow. */
void thread_put_at(struct thread_moment *moment, uint32_t kind, const uint64_t *words, uint32_t count);

#endif /* TACHO_RECORDER_THREAD_H_ */
