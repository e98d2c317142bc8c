/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes an event: the hot path. A thread owns a chunk and a cursor into it. Threads share nothing, so there is no
 * lock, no atomic read-modify-write, no allocation and no system call until the chunk is full.
 */
#ifndef TACHO_RECORDER_THREAD_H_
#define TACHO_RECORDER_THREAD_H_

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "clock.h"
#include "record.h"
#include "tacho/events.h"

/* The state that a child must not inherit if it runs none of fork's handlers (raw clone and fork, _Fork). It lies in
 * pages of its own, which the kernel gives to every child as zeros (MADV_WIPEONFORK, Linux 4.14). Zeros are the state
 * of a process before its first event. The check is free, because every event reads the kind of clock anyway. */
#if defined(__x86_64__)
#define THREAD_PAGE 4096
#else
#define THREAD_PAGE 65536 /* the largest page size there is */
#endif
union of_process {
  struct {
    enum tacho_clock clock;  /* what ticks are; 0: still unknown, and no thread has a chunk */
    _Atomic int state;       /* undecided, recording, off */
    pthread_mutex_t opening; /* held while the first event creates the file */
  };
  char pages[THREAD_PAGE];
};
extern union of_process thread_process __attribute__((visibility("hidden")));

struct cursor {
  char *next;          /* where the next head goes; NULL if the thread has no chunk */
  char *end;           /* where its chunk has no more room for records */
  uint64_t base_ticks; /* from which heads count: those of the chunk, or of its last TACHO_TIME */
  /* The position of the stack while writing (or 1), otherwise 0. An event that a signal handler fires meanwhile is
   * dropped and counted. */
  uint64_t busy;
  /* The number of its chunk. If `claimed`, the chunk is reserved for the thread and not usable yet. */
  uint64_t claim;
  uint64_t chunk_ticks; /* base_ticks of the chunk */
  uint64_t sequence;    /* the number of the thread's next chunk */
  /* Events dropped since the previous chunk. It is atomic because of the thread's own signal handlers. */
  _Atomic uint64_t dropped;
  uint32_t tid; /* 0: still unknown */
  bool claimed;
  bool muted;  /* in seccomp's strict mode, in which the thread may only touch memory */
  bool forked; /* in a child whose fork interrupted the writing of an event: nothing here belongs to this process */
  char name[16];
  /* By the numbers of gids: where the chunk's last TACHO_GID record of this number has its gid, in units of 4 bytes from
   * the beginning of the chunk; 0: there is none. */
  uint16_t gids[TACHO_GIDS];
};

/* With initial-exec, access is one addition to the thread pointer and never a call that could allocate. There is room
 * for it because the library is preloaded. */
extern _Thread_local struct cursor thread_cursor __attribute__((tls_model("initial-exec")));

/* Whether the user asked for CPU time (TACHO_EVENTS_CPU_TIME=1); set before main. */
extern bool thread_cpu_time;

/* Returns whether this process records events. It is true even before the first event. */
bool thread_recording(void);

/* Writes an event with texts. The record of the texts precedes it in the same chunk. */
void thread_put_texts(uint32_t kind, const uint64_t *words, uint32_t count, const char *const *texts,
                      uint32_t text_count);

/* Searches for the release of tracetools once the file is open, for an event whose words depend on it. */
void thread_seek_release(void);

/* Writes a TACHO_CLOCK_SYNC record with a reading taken now. */
void thread_put_clock(void);

/* A moment for which events may be written later, unless this thread has written other events in between. */
struct thread_moment {
  const char *next; /* the thread's next place for an event; NULL: it had no chunk */
  uint64_t ticks;   /* 0: unknown, so events get the time of their writing */
  uint64_t ns;      /* the same moment in ns, in case CLOCK_MONOTONIC is chosen later */
};

/* Does the rest of thread_put: there is no chunk yet, the chunk is full, ticks do not fit a head, a word does not fit its
 * width, or the process does not record. Call it with busy set. `at` is NULL if the event happens now. */
__attribute__((noinline, cold)) void thread_put_slowly(uint32_t kind, const uint64_t *words, uint32_t count,
                                                       const struct thread_moment *at);

/* Decides what to do if an event finds its thread busy. True: a signal handler left the writing of the interrupted
 * event and will never return (siglongjmp), so this event may be written. False: this event was fired inside the
 * writing of another; it is dropped and counted. */
__attribute__((noinline, cold)) bool thread_enter_busy(void);

/* The calling thread is about to enter seccomp's strict mode (true), or failed to enter it (false). While muted, its
 * events are dropped without a system call. */
void thread_mute(bool muted);

/* The calling thread may no longer read the TSC. The recorder checks this before the thread's next event. */
void thread_leave_chunk(void);

/* Marks the thread as writing, by its stack position. This costs no more than storing a constant. */
static inline __attribute__((always_inline)) void thread_set_busy(struct cursor *cursor) {
#if defined(__x86_64__)
  __asm__ volatile("mov %%rsp, %0" : "=m"(cursor->busy));
#elif defined(__aarch64__)
  __asm__ volatile("mov %0, sp" : "=r"(cursor->busy));
#else
  cursor->busy = 1;
#endif
}

/* Gives a gid a number in this chunk by a TACHO_GID record, for which there must be room: this number or the one that
 * differs in its lowest bit, but not `kept`. */
__attribute__((noinline)) uint8_t thread_number_gid(struct cursor *cursor, uint64_t delta, const uint64_t *gid,
                                                    uint32_t number, uint32_t kept);

/* Returns the number of a gid in the cursor's chunk. The number `kept` stays as it is. */
static inline uint8_t thread_gid(struct cursor *cursor, uint64_t delta, const uint64_t *gid, uint32_t kept) {
  /* Read first of all: if a signal handler forks after this, its child has no chunk, but zeros where this one was. */
  const char *const end = *(char *volatile *)&cursor->end;
  if (end == NULL) return 0;
  const char *const chunk = end + RECORD_SLACK - TACHO_CHUNK_SIZE;
  /* A gid ends in the number of its entity, and begins with those of its host and its process. */
  const uint32_t number = (gid[0] ^ gid[1] ^ gid[1] >> 32) * UINT64_C(0x9e3779b97f4a7c15) >> 56;
  for (uint32_t other = 0; other < 2; other++) {
    const uint32_t at = cursor->gids[number ^ other];
    if (at != 0 && memcmp(chunk + 4 * at, gid, 2 * sizeof *gid) == 0) return (uint8_t)(number ^ other);
  }
  return thread_number_gid(cursor, delta, gid, number, kept);
}

/* Gids that one event may have. */
#define THREAD_GIDS_MAX 2u

static inline
    __attribute__((always_inline)) void thread_number_gids(struct cursor *cursor, uint64_t delta, uint64_t widths,
                                                           const uint64_t *words, uint32_t count, uint8_t *numbers) {
  uint32_t kept = TACHO_GIDS; /* none */
#pragma GCC unroll 8
  for (uint32_t i = 0; i < count; i++) {
    if (record_digit(widths, count, i) == RECORD_NUMBERED) {
      kept = thread_gid(cursor, delta, &words[i], kept);
      *numbers++ = (uint8_t)kept;
    }
  }
}

/* Writes an event as a record of this kind, which may be a short form of `whole`. */
static inline __attribute__((always_inline)) void thread_put_as(uint32_t kind, uint32_t whole, const uint64_t *words,
                                                                uint32_t count) {
  struct cursor *cursor = &thread_cursor;
  if (__builtin_expect(cursor->busy != 0, 0) && !thread_enter_busy()) return;
  /* First of all: from here on, this code alone uses the cursor. */
  thread_set_busy(cursor);
  atomic_signal_fence(memory_order_seq_cst);
  const uint64_t widths = record_widths(kind);
  const uint32_t size = record_size(widths), gids = record_gids(widths);
  if (__builtin_expect(cursor->next + size + gids * RECORD_GID > cursor->end, 0)) {
    thread_put_slowly(whole, words, count, NULL);
    return;
  }
  const uint64_t ticks = clock_ticks(thread_process.clock), delta = ticks - cursor->base_ticks;
  if (__builtin_expect((delta >> TACHO_TICKS_BITS | record_misfit(kind, words, count)) != 0, 0)) {
    thread_put_slowly(whole, words, count, &(struct thread_moment){NULL, ticks, ticks});
    return;
  }
  uint8_t numbers[THREAD_GIDS_MAX];
  if (gids > 0) thread_number_gids(cursor, delta, widths, words, count, numbers);
  record_put(cursor->next, delta, kind, words, count, numbers);
  cursor->next += size;
  atomic_signal_fence(memory_order_seq_cst);
  cursor->busy = 0;
}

/* Does the same for a kind that the compiler does not know. */
void thread_put_any(uint32_t kind, const uint64_t *words, uint32_t count);

static inline __attribute__((always_inline)) void thread_put(uint32_t kind, const uint64_t *words, uint32_t count) {
  if (!__builtin_constant_p(kind)) {
    thread_put_any(kind, words, count);
    return;
  }
  const uint32_t less = record_short(kind);
  if (less != 0 && record_leaves_out(record_widths(less), words, count)) {
    thread_put_as(less, kind, words, count);
  } else {
    thread_put_as(kind, kind, words, count);
  }
}

/* Does the same for a thread without a chunk, and perhaps for a process without a file. */
__attribute__((noinline, cold)) struct thread_moment thread_first_moment(void);

static inline struct thread_moment thread_moment(void) {
  const char *next = thread_cursor.next;
  if (__builtin_expect(next == NULL, 0)) return thread_first_moment();
  const uint64_t ticks = clock_ticks(thread_process.clock);
  return (struct thread_moment){next, ticks, ticks};
}

/* Writes an event with the time of that moment. Further events with the same moment may follow. */
void thread_put_at(struct thread_moment *moment, uint32_t kind, const uint64_t *words, uint32_t count);

#endif /* TACHO_RECORDER_THREAD_H_ */
