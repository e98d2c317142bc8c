/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "thread.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "behind.h"
#include "ended.h"
#include "forms.h"
#include "keeper.h"
#include "left.h"
#include "release.h"
#include "run_delay.h"
#include "storage.h"

/* 8 MiB hold over 90,000 events of a start-up, texts included, before a thread of the program has to make storage. */
#define CHUNKS_AT_START 256u

_Thread_local struct cursor thread_cursor __attribute__((tls_model("initial-exec")));
bool thread_cpu_time;

/* `opening` is held while the first event creates the file. The first events of other threads wait for this, once:
 * dropping them would lose the start of the program, and later events cannot be understood without it. A mutex of zeros
 * is unlocked. */
union of_process thread_process __attribute__((aligned(THREAD_PAGE), visibility("hidden")));
enum state { UNDECIDED, RECORDING, OFF };
/* Unlike thread_process, these are not zeroed in a raw child. file_is_open: a file is open in this process or, while
 * the state is undecided, in its parent. is_off: this process does not record. */
static bool file_is_open, is_off;
static struct cursor *of_main; /* the cursor of the first thread; in a child, of the thread that forked */
static _Atomic uint64_t nested_while_opening, muted_while_opening;

static inline int state_now(void) { return atomic_load_explicit(&thread_process.state, memory_order_acquire); }

static void before_fork(void) {
  pthread_mutex_lock(&thread_process.opening);
  int saved = errno;
  keeper_begun();
  errno = saved;
}

static void after_fork_in_parent(void) { pthread_mutex_unlock(&thread_process.opening); }

/* Makes the child a process of its own: it creates its own file at its own first event. `writing`: a signal handler
 * forked. The interrupted event is finished where it was begun, in memory that nobody reads (see settle). */
static void leave_to_parent(bool writing) {
  struct cursor *cursor = &thread_cursor;
  storage_leave_to_parent(writing);
  keeper_forget();
  ended_forget();
  release_forget_seekers();
  behind_forget_seekers();
  run_delay_forget();
  struct cursor fresh = {.busy = cursor->busy, .forked = writing};
  if (writing) {
    fresh.next = cursor->next; /* `end` is NULL, so no further event fits */
    fresh.base_ticks = cursor->base_ticks;
  }
  *cursor = fresh;
  of_main = cursor;
  file_is_open = false;
}

static void after_fork_in_child(void) {
  int saved = errno;
  pthread_mutex_init(&thread_process.opening, NULL);
  leave_to_parent(thread_cursor.busy != 0);
  /* A kernel with MADV_WIPEONFORK has already done so. */
  atomic_store_explicit(&thread_process.state, UNDECIDED, memory_order_relaxed);
  thread_process.clock = 0;
  errno = saved;
}

static bool open_file(const char *directory) {
  static char error[4400]; /* static because the thread may have little stack; only one thread uses it */
  uint64_t limit = storage_max_bytes();
  enum tacho_clock clock = clock_choose();
  if (storage_open(directory, limit, CHUNKS_AT_START, error, sizeof error) != 0) {
    fprintf(stderr, "tacho: this process (%d) is not recorded: %s\n", (int)getpid(), error);
    return false;
  }
  struct tacho_file_header *header = storage_header;
  struct clock_reading now = clock_read_all(clock);
  header->clock = clock;
  if (clock_without_tsc) header->remarks |= TACHO_REMARK_NO_TSC;
  header->start_ticks = now.ticks;
  header->start_monotonic_ns = now.monotonic_ns;
  header->start_realtime_ns = now.realtime_ns;
  header->start_bound_ns = now.bound_ns;
  release_describe(header);
  record_describe(header->sizes);
  atomic_thread_fence(memory_order_release);
  memcpy(header->magic, TACHO_MAGIC, sizeof header->magic);
  thread_process.clock = clock;
  return true;
}

static void remark(enum tacho_remark what) {
  atomic_fetch_or_explicit(storage_live(&storage_header->remarks), what, memory_order_relaxed);
}

/* Adds what was dropped while the state was undecided. A thread that drops an event checks the state afterwards, and
 * the thread that decides the state checks the counts afterwards. So at least one of the two sees the other's change. */
static void count_dropped_while_opening(void) {
  struct tacho_file_header *header = storage_header;
  uint64_t nested = atomic_exchange(&nested_while_opening, 0), muted = atomic_exchange(&muted_while_opening, 0);
  atomic_fetch_add_explicit(storage_live(&header->dropped), nested + muted, memory_order_relaxed);
  atomic_fetch_add_explicit(storage_live(&header->dropped_nested), nested, memory_order_relaxed);
  if (muted > 0) remark(TACHO_REMARK_STRICT_SECCOMP);
}

/* Decides whether this process records, with all signals blocked: a handler that forked here would leave the child a
 * half-made file, and the keeper must inherit blocked signals. A child that ran none of fork's handlers comes here,
 * too, with its first event. It records like any other process but creates no thread, because threads that the child
 * does not have may hold locks of the C library. */
static void decide(void) {
  int cancel;
  sigset_t all, signals;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &signals);
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
  pthread_mutex_lock(&thread_process.opening);
  if (state_now() == UNDECIDED) {
    const bool is_raw_child = file_is_open;
    if (is_raw_child) leave_to_parent(false);
    madvise(&thread_process, sizeof thread_process, MADV_WIPEONFORK);
    const char *directory = getenv("TACHO_EVENTS_DIR");
    bool recording = !is_off && directory != NULL && *directory != '\0' && open_file(directory);
    if (recording) storage_populate(0, 1);
    file_is_open = recording;
    is_off = !recording;
    atomic_store(&thread_process.state, recording ? RECORDING : OFF);
    if (recording) count_dropped_while_opening();
    if (recording && !is_raw_child) keeper_start();
  }
  pthread_mutex_unlock(&thread_process.opening);
  pthread_setcancelstate(cancel, NULL);
  pthread_sigmask(SIG_SETMASK, &signals, NULL);
}

bool thread_recording(void) {
  int now = state_now();
  if (__builtin_expect(now != UNDECIDED, 1)) return now == RECORDING;
  const char *directory = getenv("TACHO_EVENTS_DIR");
  return !is_off && directory != NULL && *directory != '\0';
}

static void count_drop(struct cursor *cursor) {
  atomic_fetch_add_explicit(storage_live(&storage_header->dropped), 1, memory_order_relaxed);
  atomic_fetch_add_explicit(&cursor->dropped, 1, memory_order_relaxed);
}

static void drop_nested(void) {
  if (state_now() == RECORDING) {
    count_drop(&thread_cursor);
    atomic_fetch_add_explicit(storage_live(&storage_header->dropped_nested), 1, memory_order_relaxed);
  } else {
    atomic_fetch_add(&nested_while_opening, 1);
    if (state_now() == RECORDING) count_dropped_while_opening();
  }
}

/* Moves the cursor, which a write may have left at any point, to the place of the next event. */
static void put_right(struct cursor *cursor) {
  if (cursor->forked) {
    *cursor = (struct cursor){.busy = cursor->busy};
    /* The write was left while it took a chunk. The thread takes the same chunk again. */
  } else if (cursor->claimed) {
    cursor->next = cursor->end = NULL;
    if (state_now() != RECORDING || cursor->claim >= atomic_load(storage_live(&storage_header->chunks_allocated)))
      return;
    const struct tacho_chunk_header *chunk = (struct tacho_chunk_header *)storage_chunk(cursor->claim);
    if (chunk->magic == TACHO_CHUNK_MAGIC) cursor->sequence = chunk->sequence;
  } else if (cursor->end != NULL && state_now() == RECORDING) {
    /* It is unknown whether the event is complete, so the thread goes on in another chunk. */
    cursor->next = cursor->end = NULL;
  }
}

bool thread_enter_busy(void) {
  struct cursor *cursor = &thread_cursor;
  int saved = errno;
  const bool left = left_for_ever(cursor->busy);
  errno = saved;
  if (left) {
    put_right(cursor);
  } else {
    drop_nested();
  }
  return left;
}

/* Discards the parent's state once the event that the fork interrupted is done. */
static void settle(struct cursor *cursor) {
  if (cursor->forked) *cursor = (struct cursor){.busy = cursor->busy};
}

static bool begin(struct cursor *cursor) {
  if (cursor->busy != 0 && !thread_enter_busy()) return false;
  thread_set_busy(cursor);
  atomic_signal_fence(memory_order_seq_cst);
  settle(cursor);
  return true;
}

static void end(struct cursor *cursor) {
  settle(cursor);
  atomic_signal_fence(memory_order_seq_cst);
  cursor->busy = 0;
}

/* This key's destructor runs when a thread that has a chunk ends. We use only glibc's first 32 keys: their values lie
 * in the thread's own descriptor, and setting a later one allocates. */
static pthread_key_t end_of_thread;
static bool end_is_told;
#define FIRST_KEYS 32u /* PTHREAD_KEY_2NDLEVEL_SIZE of glibc */

static void leave_chunk(struct cursor *cursor) {
  const char *next = cursor->next, *end_of_chunk = cursor->end;
  cursor->next = cursor->end = NULL;
  if (next != NULL) ended_note(cursor->claim, TACHO_CHUNK_SIZE - RECORD_SLACK - (uint64_t)(end_of_chunk - next));
}

/* If another destructor fires an event after this one, the thread gets a new chunk, and this one runs again. */
static void thread_ends(void *of_thread) {
  struct cursor *cursor = of_thread;
  /* The first thread has left by pthread_exit: the last thread ends the program. */
  if (cursor == of_main) keeper_stay_not_alone();
  run_delay_thread_ends();
  if (state_now() != RECORDING || !begin(cursor)) return;
  leave_chunk(cursor);
  end(cursor);
}

void thread_leave_chunk(void) {
  struct cursor *cursor = &thread_cursor;
  if (state_now() != RECORDING || !begin(cursor)) return;
  leave_chunk(cursor);
  cursor->tid = 0;
  end(cursor);
}

void thread_mute(bool muted) {
  /* The child of a vfork has its parent's memory, but a strict mode of its own. */
  if (thread_cursor.tid != 0 && thread_cursor.tid != (uint32_t)syscall(SYS_gettid)) return;
  thread_leave_chunk();
  thread_cursor.muted = muted;
  if (muted && state_now() == RECORDING) keeper_leave_to();
}

/* Takes a fresh chunk for this thread. Returns false if none is usable yet; a reserved chunk is kept for the next try. */
static bool next_chunk(struct cursor *cursor, uint64_t ticks) {
  struct tacho_file_header *header = storage_header;
  cursor->next = cursor->end = NULL;
  if (!cursor->claimed) {
    if (storage_is_used_up()) return false;
    cursor->claim = atomic_fetch_add_explicit(storage_live(&header->chunks_reserved), 1, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
    cursor->claimed = true;
  }
  keeper_note(cursor->claim);
  uint64_t allocated = atomic_load_explicit(storage_live(&header->chunks_allocated), memory_order_acquire);
  if (cursor->claim >= allocated && !storage_make(cursor->claim)) return false;

  uint32_t tid = (uint32_t)syscall(SYS_gettid);
  if (cursor->tid == 0) {
    cursor->tid = tid;
    prctl(PR_GET_NAME, cursor->name);
  } else if (cursor->tid != tid) {
    remark(TACHO_REMARK_SHARED_THREAD);
  }
  struct tacho_chunk_header *chunk = (struct tacho_chunk_header *)storage_chunk(cursor->claim);
  uint64_t dropped = atomic_load_explicit(&cursor->dropped, memory_order_relaxed);
  chunk->tid = cursor->tid;
  chunk->sequence = cursor->sequence;
  chunk->base_ticks = ticks;
  chunk->dropped_before = dropped;
  memcpy(chunk->thread_name, cursor->name, sizeof chunk->thread_name);
  atomic_store_explicit((_Atomic uint32_t *)&chunk->magic, TACHO_CHUNK_MAGIC, memory_order_release);
  atomic_fetch_sub_explicit(&cursor->dropped, dropped, memory_order_relaxed);
  cursor->base_ticks = cursor->chunk_ticks = ticks;
  memset(cursor->gids, 0, sizeof cursor->gids);
  cursor->next = (char *)(chunk + 1);
  cursor->end = (char *)chunk + TACHO_CHUNK_SIZE - RECORD_SLACK;
  cursor->sequence++;
  /* A signal handler may leave at any point and never return: see put_right. */
  atomic_signal_fence(memory_order_seq_cst);
  cursor->claimed = false;
  if (end_is_told) pthread_setspecific(end_of_thread, cursor);
  return true;
}

/* Makes sure that `needed` bytes and these ticks fit. Counts a drop if they do not. */
static bool make_room(struct cursor *cursor, uint64_t ticks, uint64_t needed, bool counts) {
  if (thread_process.clock == 0) return false; /* a signal handler inside this code made a raw fork */
  const bool is_near = (ticks - cursor->base_ticks) >> TACHO_TICKS_BITS == 0;
  const uint64_t since_chunk = ticks - cursor->chunk_ticks;
  if (cursor->next != NULL && cursor->next + needed + (is_near ? 0 : RECORD_TIME) <= cursor->end &&
      since_chunk >> TACHO_TIME_BITS == 0) {
    if (is_near) return true;
    record_put_time(cursor->next, since_chunk);
    cursor->next += RECORD_TIME;
    cursor->base_ticks = cursor->chunk_ticks + (since_chunk >> TACHO_TICKS_BITS << TACHO_TICKS_BITS);
    return true;
  }
  if (next_chunk(cursor, ticks)) return true;
  if (counts) count_drop(cursor);
  return false;
}

/* Writes one event into the thread's chunk, or the next one. Counts it as dropped if there is no room. */
static void put(struct cursor *cursor, uint64_t ticks, uint32_t kind, const uint64_t *words, uint32_t count,
                bool counts) {
  const uint32_t form = forms_of(kind, words, count);
  const uint32_t size = form == TACHO_WIDE ? record_wide_size(count) : forms_size(form);
  if (!make_room(cursor, ticks, size, counts)) return;
  const uint64_t delta = ticks - cursor->base_ticks;
  if (form == TACHO_WIDE) {
    record_put_wide(cursor->next, delta, kind, words, count);
    cursor->next += size;
  } else {
    forms_put(cursor, delta, form, words, count);
  }
}

/* Returns whether to write this thread's event, and counts the event if not. For a thread in strict mode it makes no
 * system call, because that would end the thread. */
static bool is_recorded(struct cursor *cursor) {
  if (__builtin_expect(cursor->muted, 0)) {
    atomic_fetch_add(&muted_while_opening, 1);
    if (state_now() == RECORDING) count_dropped_while_opening();
    return false;
  }
  if (state_now() == UNDECIDED) decide();
  if (state_now() != RECORDING) return false;
  if (cursor->tid != 0 || clock_without_tsc || !clock_tsc_is_forbidden()) return true;
  remark(TACHO_REMARK_NO_TSC);
  count_drop(cursor);
  return false;
}

void thread_put_slowly(uint32_t kind, const uint64_t *words, uint32_t count, const struct thread_moment *at) {
  struct cursor *cursor = &thread_cursor;
  settle(cursor);
  if (state_now() != OFF) {
    int saved = errno;
    if (is_recorded(cursor)) {
      uint64_t ticks = at == NULL ? 0 : thread_process.clock == TACHO_CLOCK_MONOTONIC ? at->ns : at->ticks;
      if (ticks == 0) ticks = clock_ticks(thread_process.clock);
      put(cursor, ticks, kind, words, count, true);
    }
    errno = saved;
  }
  end(cursor);
}

void thread_put_any(uint32_t kind, const uint64_t *words, uint32_t count) {
  struct cursor *cursor = &thread_cursor;
  if (cursor->busy != 0 && !thread_enter_busy()) return;
  thread_set_busy(cursor);
  atomic_signal_fence(memory_order_seq_cst);
  const uint32_t form = forms_of(kind, words, count);
  if (cursor->next + forms_size(form) <= cursor->end && form != TACHO_WIDE) {
    const uint64_t ticks = clock_ticks(thread_process.clock), delta = ticks - cursor->base_ticks;
    if (delta >> TACHO_TICKS_BITS == 0) {
      forms_put(cursor, delta, form, words, count);
      atomic_signal_fence(memory_order_seq_cst);
      cursor->busy = 0;
      return;
    }
  }
  thread_put_slowly(kind, words, count, NULL);
}

struct thread_moment thread_first_moment(void) {
  if (clock_tsc_may_be_forbidden || thread_cursor.muted) return (struct thread_moment){0};
  const enum tacho_clock clock = thread_process.clock;
  const uint64_t ticks = clock_ticks(clock != 0 ? clock : CLOCK_COUNTER);
  return (struct thread_moment){NULL, ticks, clock != 0 ? ticks : clock_ns(CLOCK_MONOTONIC)};
}

void thread_put_at(struct thread_moment *moment, uint32_t kind, const uint64_t *words, uint32_t count) {
  struct cursor *cursor = &thread_cursor;
  if (!begin(cursor)) return;
  const bool holds = moment->ticks != 0 && moment->next == cursor->next;
  const uint32_t form = forms_of(kind, words, count);
  const uint64_t delta = moment->ticks - cursor->base_ticks;
  if (holds && thread_process.clock != 0 && form != TACHO_WIDE && delta >> TACHO_TICKS_BITS == 0 &&
      cursor->next + forms_size(form) <= cursor->end) {
    forms_put(cursor, delta, form, words, count);
    end(cursor);
  } else {
    thread_put_slowly(kind, words, count, holds ? moment : NULL);
    /* After an event with the current time, no event may have an earlier one. */
    if (!holds) moment->ticks = 0;
  }
  moment->next = cursor->next;
}

/* Texts that one event may have. */
#define TEXTS_MAX 4u

static void put_texts(struct cursor *cursor, uint32_t kind, const uint64_t *words, uint32_t count,
                      const char *const *texts, uint32_t text_count) {
  size_t sizes[TEXTS_MAX], bytes = 8;
  if (text_count > TEXTS_MAX) text_count = TEXTS_MAX;
  for (uint32_t i = 0; i < text_count; i++) {
    sizes[i] = texts[i] != NULL ? strnlen(texts[i], TACHO_TEXT_MAX + 1) : 0;
    bytes += (sizes[i] > TACHO_TEXT_MAX ? TACHO_TEXT_MAX : sizes[i]) + 1;
  }
  bytes = (bytes + 3) / 4 * 4;
  uint64_t ticks = clock_ticks(thread_process.clock);
  if (!make_room(cursor, ticks, bytes + record_wide_size(count), true)) return;
  forms_put_text(cursor->next, ticks - cursor->base_ticks, texts, sizes, text_count, bytes);
  cursor->next += bytes;
  put(cursor, ticks, kind, words, count, true);
}

void thread_put_texts(uint32_t kind, const uint64_t *words, uint32_t count, const char *const *texts,
                      uint32_t text_count) {
  struct cursor *cursor = &thread_cursor;
  if (state_now() == OFF || !begin(cursor)) return;
  int saved = errno;
  if (is_recorded(cursor)) {
    release_seek();
    put_texts(cursor, kind, words, count, texts, text_count);
  }
  errno = saved;
  end(cursor);
}

void thread_seek_release(void) {
  struct cursor *cursor = &thread_cursor;
  /* If busy, this is a signal handler's event. It will be dropped, and counted then. */
  if (state_now() == OFF || cursor->busy != 0 || cursor->muted || !begin(cursor)) return;
  int saved = errno;
  if (state_now() == UNDECIDED) decide();
  if (state_now() == RECORDING) release_seek();
  errno = saved;
  end(cursor);
}

void thread_put_clock(void) {
  struct cursor *cursor = &thread_cursor;
  if (state_now() != RECORDING || !begin(cursor)) return;
  int saved = errno;
  struct clock_reading now = clock_read_all(thread_process.clock);
  const uint64_t words[] = {now.monotonic_ns, now.realtime_ns, now.bound_ns};
  put(cursor, now.ticks, TACHO_CLOCK_SYNC, words, 3, false);
  errno = saved;
  end(cursor);
}

/* This runs before the first event, not with it, because a thread may fork while another one opens the file. */
__attribute__((constructor)) static void prepare(void) {
  const char *directory = getenv("TACHO_EVENTS_DIR");
  if (directory == NULL || *directory == '\0') return;
  const char *cpu_time = getenv("TACHO_EVENTS_CPU_TIME");
  thread_cpu_time = cpu_time != NULL && strcmp(cpu_time, "1") == 0;
  end_is_told = pthread_key_create(&end_of_thread, thread_ends) == 0;
  if (end_is_told && end_of_thread >= FIRST_KEYS) end_is_told = pthread_key_delete(end_of_thread) != 0;
  of_main = &thread_cursor;
  if (end_is_told) pthread_setspecific(end_of_thread, of_main); /* whether it has events or not */
  pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
  keeper_note_cpus();
  clock_tsc_may_be_forbidden = clock_tsc_is_forbidden();
}

/* The program ends in order. Other threads and later destructors may still write, so nothing is released. */
__attribute__((destructor)) static void close_file(void) {
  if (state_now() != RECORDING) return;
  if (!thread_cursor.muted && (clock_without_tsc || !clock_tsc_is_forbidden())) thread_put_clock();
  atomic_store_explicit(storage_live(&storage_header->closed), 1, memory_order_release);
}
