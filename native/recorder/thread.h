/* SPDX-License-Identifier: Apache-2.0
 *
 * Writing an event: the hot path. A thread owns a chunk and a cursor into it; nothing is shared, so there is no lock, no
 * atomic read-modify-write, no allocation and no system call until the chunk is full.
 */
#ifndef TACHO_RECORDER_THREAD_H_
#define TACHO_RECORDER_THREAD_H_

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "clock.h"
#include "tacho/events.h"

struct cursor {
  uint64_t *next;      /* where the next head goes; NULL while the thread has no chunk */
  uint64_t *end;       /* end of the chunk */
  uint64_t base_ticks; /* of the chunk */
  uint64_t busy;       /* 1 while writing: a signal handler that fires an event now is dropped, and counted */
  uint64_t claim;      /* the number of its chunk; where `claimed`, of one that is reserved for it and not yet usable */
  uint64_t sequence;   /* of the thread's next chunk */
  _Atomic uint64_t dropped; /* since its previous chunk; atomic towards the thread's own signal handlers */
  uint32_t tid;        /* 0: not asked for yet */
  bool claimed;
  bool forked; /* in a child whose fork interrupted the writing of an event: nothing here is of this process */
  char name[16];
};

/* Initial-exec: one addition to the thread pointer, never a call that could allocate. The library is preloaded, so the
 * room is there. */
extern _Thread_local struct cursor thread_cursor __attribute__((tls_model("initial-exec")));

/* What ticks are; set before any thread has a chunk. */
extern enum tacho_clock thread_clock;

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

/* The rest of thread_put: no chunk yet, chunk full, a gap of 48 bits of ticks, not recording. Called with busy set. */
__attribute__((noinline, cold)) void thread_put_slowly(uint32_t kind, const uint64_t *words, uint32_t count);

/* A signal handler fired an event inside the writing of another. */
__attribute__((noinline, cold)) void thread_drop_nested(void);

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

static inline __attribute__((always_inline)) void thread_put(uint32_t kind, const uint64_t *words, uint32_t count)
{
  struct cursor *cursor = &thread_cursor;
  if (__builtin_expect(cursor->busy != 0, 0)) {
    thread_drop_nested();
    return;
  }
  cursor->busy = 1; /* before anything else is looked at: from here on the cursor is ours alone */
  atomic_signal_fence(memory_order_seq_cst);
  if (__builtin_expect(cursor->next + count < cursor->end, 1)) {
    uint64_t ticks = clock_ticks(thread_clock);
    if (__builtin_expect((ticks - cursor->base_ticks) >> 48 == 0, 1)) {
      thread_write(cursor, ticks, kind, words, count);
      atomic_signal_fence(memory_order_seq_cst);
      cursor->busy = 0;
      return;
    }
  }
  thread_put_slowly(kind, words, count);
}

#endif /* TACHO_RECORDER_THREAD_H_ */
