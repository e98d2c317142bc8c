/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "thread.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "behind.h"
#include "ended.h"
#include "keeper.h"
#include "release.h"
#include "storage.h"

#define MAX_BYTES (UINT64_C(1) << 30)
/* 8 MiB: over 60,000 events of a start-up, texts included, before a thread of the program has to make storage. */
#define CHUNKS_AT_START 256u

_Thread_local struct cursor thread_cursor __attribute__((tls_model("initial-exec")));
enum tacho_clock thread_clock = TACHO_CLOCK_MONOTONIC;
bool thread_cpu_time;

enum state { UNDECIDED, RECORDING, OFF };
static _Atomic int state = UNDECIDED;
/* Held while the first event makes the file. The other threads' first events wait for that, once: to drop them would
 * lose the start, which is what everything later is understood by. */
static pthread_mutex_t opening = PTHREAD_MUTEX_INITIALIZER;
static _Atomic uint64_t nested_while_opening;

static uint64_t max_bytes(void)
{
  const char *text = getenv("TACHO_EVENTS_MAX_BYTES");
  if (text == NULL || *text == '\0') return MAX_BYTES;
  char *end;
  errno = 0;
  unsigned long long bytes = strtoull(text, &end, 10);
  if (errno == 0 && *end == '\0' && *text >= '0' && *text <= '9') return bytes;
  fprintf(stderr, "tacho: TACHO_EVENTS_MAX_BYTES is '%s', a number of bytes was expected: using %llu\n", text,
          (unsigned long long)MAX_BYTES);
  return MAX_BYTES;
}

static void before_fork(void)
{
  pthread_mutex_lock(&opening);
}

static void after_fork_in_parent(void)
{
  pthread_mutex_unlock(&opening);
}

/* The child is a process of its own: it makes its own file, at its own first event. Where a signal handler forked, the
 * event that it interrupted is finished as it was begun, into memory that nobody reads (see settle). */
static void after_fork_in_child(void)
{
  int saved = errno;
  struct cursor *cursor = &thread_cursor;
  bool writing = cursor->busy != 0;
  pthread_mutex_init(&opening, NULL);
  storage_leave_to_parent(writing);
  keeper_forget();
  ended_forget();
  release_forget_seekers();
  behind_forget_seekers();
  struct cursor fresh = {.busy = writing, .forked = writing};
  if (writing) {
    fresh.next = cursor->next; /* `end` is NULL: no further event fits */
    fresh.base_ticks = cursor->base_ticks;
  }
  *cursor = fresh;
  if (atomic_load_explicit(&state, memory_order_relaxed) == RECORDING) {
    atomic_store_explicit(&state, UNDECIDED, memory_order_relaxed);
  }
  errno = saved;
}

static bool open_file(const char *directory)
{
  static char error[4400]; /* by one thread, which may have little stack */
  uint64_t limit = max_bytes();
  thread_clock = clock_choose();
  if (storage_open(directory, limit, CHUNKS_AT_START, error, sizeof error) != 0) {
    fprintf(stderr, "tacho: this process (%d) is not recorded: %s\n", (int)getpid(), error);
    return false;
  }
  struct tacho_file_header *header = storage_header;
  struct clock_reading now = clock_read_all(thread_clock);
  header->clock = thread_clock;
  header->start_ticks = now.ticks;
  header->start_monotonic_ns = now.monotonic_ns;
  header->start_realtime_ns = now.realtime_ns;
  header->start_bound_ns = now.bound_ns;
  release_describe(header);
  atomic_thread_fence(memory_order_release);
  memcpy(header->magic, TACHO_MAGIC, sizeof header->magic);
  return true;
}

/* Takes over what signal handlers dropped while the state was undecided. Whoever adds to that looks at the state afterwards,
 * whoever decides it looks there afterwards: one of the two sees the other. */
static void count_nested_while_opening(void)
{
  atomic_fetch_add_explicit(storage_live(&storage_header->dropped), atomic_exchange(&nested_while_opening, 0),
                            memory_order_relaxed);
}

/* Without signals: a handler that forks here would leave the child a file half made, and the keeper must get none. */
static void decide(void)
{
  int cancel;
  sigset_t all, signals;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &signals);
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
  pthread_mutex_lock(&opening);
  if (atomic_load_explicit(&state, memory_order_relaxed) == UNDECIDED) {
    const char *directory = getenv("TACHO_EVENTS_DIR");
    bool recording = directory != NULL && *directory != '\0' && open_file(directory);
    if (recording) storage_populate(0, 1);
    atomic_store(&state, recording ? RECORDING : OFF);
    if (recording) {
      count_nested_while_opening();
      keeper_start();
    }
  }
  pthread_mutex_unlock(&opening);
  pthread_setcancelstate(cancel, NULL);
  pthread_sigmask(SIG_SETMASK, &signals, NULL);
}

bool thread_recording(void)
{
  int now = atomic_load_explicit(&state, memory_order_acquire);
  if (__builtin_expect(now != UNDECIDED, 1)) return now == RECORDING;
  const char *directory = getenv("TACHO_EVENTS_DIR");
  return directory != NULL && *directory != '\0';
}

void thread_drop_nested(void)
{
  if (atomic_load_explicit(&state, memory_order_acquire) == RECORDING) {
    atomic_fetch_add_explicit(storage_live(&storage_header->dropped), 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&thread_cursor.dropped, 1, memory_order_relaxed);
  } else {
    atomic_fetch_add(&nested_while_opening, 1);
    if (atomic_load(&state) == RECORDING) count_nested_while_opening();
  }
}

/* Forgets what was the parent's, where the event that a fork interrupted is done. */
static void settle(struct cursor *cursor)
{
  if (cursor->forked) *cursor = (struct cursor){.busy = 1};
}

static bool begin(struct cursor *cursor)
{
  if (cursor->busy != 0) {
    thread_drop_nested();
    return false;
  }
  cursor->busy = 1;
  atomic_signal_fence(memory_order_seq_cst);
  settle(cursor);
  return true;
}

static void end(struct cursor *cursor)
{
  settle(cursor);
  atomic_signal_fence(memory_order_seq_cst);
  cursor->busy = 0;
}

/* Tells when a thread that has a chunk ends. Of the first keys, whose values stand in the thread's own descriptor: setting others allocates. */
static pthread_key_t end_of_thread;
static bool end_is_told;
#define FIRST_KEYS 32u /* PTHREAD_KEY_2NDLEVEL_SIZE of glibc */

/* What fires an event behind this, another destructor, has a new chunk, and ends again. */
static void thread_ends(void *of_thread)
{
  struct cursor *cursor = of_thread;
  if (!begin(cursor)) return;
  uint64_t *next = cursor->next, *end_of_chunk = cursor->end;
  cursor->next = cursor->end = NULL;
  if (next != NULL) ended_note(cursor->claim, TACHO_CHUNK_SIZE - (uint64_t)((char *)end_of_chunk - (char *)next));
  end(cursor);
}

/* A fresh chunk for this thread, or false where none is usable yet; what was reserved is kept for the next try. */
static bool next_chunk(struct cursor *cursor, uint64_t ticks)
{
  struct tacho_file_header *header = storage_header;
  cursor->next = cursor->end = NULL;
  if (!cursor->claimed) {
    if (storage_is_used_up()) return false;
    cursor->claim = atomic_fetch_add_explicit(storage_live(&header->chunks_reserved), 1, memory_order_relaxed);
    cursor->claimed = true;
  }
  keeper_note(cursor->claim);
  uint64_t allocated = atomic_load_explicit(storage_live(&header->chunks_allocated), memory_order_acquire);
  if (cursor->claim >= allocated && !storage_make(cursor->claim)) return false;

  if (cursor->tid == 0) {
    cursor->tid = (uint32_t)syscall(SYS_gettid);
    prctl(PR_GET_NAME, cursor->name);
  }
  struct tacho_chunk_header *chunk = (struct tacho_chunk_header *)storage_chunk(cursor->claim);
  uint64_t dropped = atomic_load_explicit(&cursor->dropped, memory_order_relaxed);
  chunk->tid = cursor->tid;
  chunk->sequence = cursor->sequence++;
  chunk->base_ticks = ticks;
  chunk->dropped_before = dropped;
  memcpy(chunk->thread_name, cursor->name, sizeof chunk->thread_name);
  atomic_store_explicit((_Atomic uint32_t *)&chunk->magic, TACHO_CHUNK_MAGIC, memory_order_release);
  atomic_fetch_sub_explicit(&cursor->dropped, dropped, memory_order_relaxed);
  cursor->base_ticks = ticks;
  cursor->next = (uint64_t *)(chunk + 1);
  cursor->end = (uint64_t *)((char *)chunk + TACHO_CHUNK_SIZE);
  cursor->claimed = false;
  if (end_is_told) pthread_setspecific(end_of_thread, cursor);
  return true;
}

/* Makes sure that `needed` words fit; counts a drop where they cannot. */
static bool make_room(struct cursor *cursor, uint64_t ticks, uint64_t needed, bool count_drop)
{
  bool fits = cursor->next != NULL && cursor->next + needed <= cursor->end && (ticks - cursor->base_ticks) >> 48 == 0;
  if (fits || next_chunk(cursor, ticks)) return true;
  if (count_drop) {
    atomic_fetch_add_explicit(storage_live(&storage_header->dropped), 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&cursor->dropped, 1, memory_order_relaxed);
  }
  return false;
}

static bool recording_decided(void)
{
  if (atomic_load_explicit(&state, memory_order_acquire) == UNDECIDED) decide();
  return atomic_load_explicit(&state, memory_order_acquire) == RECORDING;
}

void thread_put_slowly(uint32_t kind, const uint64_t *words, uint32_t count)
{
  struct cursor *cursor = &thread_cursor;
  settle(cursor);
  if (atomic_load_explicit(&state, memory_order_relaxed) != OFF) {
    int saved = errno;
    if (recording_decided()) {
      uint64_t ticks = clock_ticks(thread_clock);
      if (make_room(cursor, ticks, 1 + count, true)) thread_write(cursor, ticks, kind, words, count);
    }
    errno = saved;
  }
  end(cursor);
}

/* One stretch of bytes as TACHO_TEXT records, handed over piece by piece. */
struct text_writer {
  struct cursor *cursor;
  uint64_t ticks;
  uint64_t words[TACHO_MAX_WORDS];
  size_t bytes;
};

static void text_flush(struct text_writer *writer)
{
  size_t padded = (writer->bytes + 7) / 8 * 8;
  memset((char *)writer->words + writer->bytes, 0, padded - writer->bytes);
  thread_write(writer->cursor, writer->ticks, TACHO_TEXT, writer->words, (uint32_t)(padded / 8));
  writer->bytes = 0;
}

static void text_add(struct text_writer *writer, const char *bytes, size_t size)
{
  while (size > 0) {
    size_t room = sizeof writer->words - writer->bytes;
    size_t part = size < room ? size : room;
    memcpy((char *)writer->words + writer->bytes, bytes, part);
    writer->bytes += part;
    bytes += part;
    size -= part;
    if (writer->bytes == sizeof writer->words) text_flush(writer);
  }
}

static void put_texts(struct cursor *cursor, uint32_t kind, const uint64_t *words, uint32_t count,
                      const char *const *texts, uint32_t text_count)
{
  size_t bytes = 0;
  for (uint32_t i = 0; i < text_count; i++) bytes += texts[i] != NULL ? strnlen(texts[i], TACHO_TEXT_MAX) + 1 : 1;
  size_t text_words = (bytes + 7) / 8;
  size_t heads = (text_words + TACHO_MAX_WORDS - 1) / TACHO_MAX_WORDS + 1;
  uint64_t ticks = clock_ticks(thread_clock);
  if (!make_room(cursor, ticks, text_words + heads + count, true)) return;

  struct text_writer writer = {.cursor = cursor, .ticks = ticks};
  for (uint32_t i = 0; i < text_count; i++) {
    const char *text = texts[i] != NULL ? texts[i] : "";
    size_t length = strnlen(text, TACHO_TEXT_MAX + 1);
    if (length > TACHO_TEXT_MAX) {
      text_add(&writer, text, TACHO_TEXT_MAX - 3);
      text_add(&writer, "...", 4);
    } else {
      text_add(&writer, text, length + 1);
    }
  }
  if (writer.bytes > 0) text_flush(&writer);
  thread_write(cursor, ticks, kind, words, count);
}

void thread_put_texts(uint32_t kind, const uint64_t *words, uint32_t count, const char *const *texts,
                      uint32_t text_count)
{
  struct cursor *cursor = &thread_cursor;
  if (atomic_load_explicit(&state, memory_order_relaxed) == OFF || !begin(cursor)) return;
  int saved = errno;
  if (recording_decided()) {
    release_seek();
    put_texts(cursor, kind, words, count, texts, text_count);
  }
  errno = saved;
  end(cursor);
}

void thread_seek_release(void)
{
  struct cursor *cursor = &thread_cursor;
  /* Busy: a signal handler's event, which is going to be dropped, and counted then. */
  if (atomic_load_explicit(&state, memory_order_relaxed) == OFF || cursor->busy != 0 || !begin(cursor)) return;
  int saved = errno;
  if (recording_decided()) release_seek();
  errno = saved;
  end(cursor);
}

void thread_put_clock(void)
{
  struct cursor *cursor = &thread_cursor;
  if (atomic_load_explicit(&state, memory_order_acquire) != RECORDING || !begin(cursor)) return;
  int saved = errno;
  struct clock_reading now = clock_read_all(thread_clock);
  const uint64_t words[] = {now.monotonic_ns, now.realtime_ns, now.bound_ns};
  if (make_room(cursor, now.ticks, 4, false)) thread_write(cursor, now.ticks, TACHO_CLOCK_SYNC, words, 3);
  errno = saved;
  end(cursor);
}

/* Before the first event, not with it: a thread may fork while another one opens the file. */
__attribute__((constructor)) static void prepare(void)
{
  const char *directory = getenv("TACHO_EVENTS_DIR");
  if (directory == NULL || *directory == '\0') return;
  const char *cpu_time = getenv("TACHO_EVENTS_CPU_TIME");
  thread_cpu_time = cpu_time != NULL && strcmp(cpu_time, "1") == 0;
  end_is_told = pthread_key_create(&end_of_thread, thread_ends) == 0;
  if (end_is_told && end_of_thread >= FIRST_KEYS) end_is_told = pthread_key_delete(end_of_thread) != 0;
  pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
  keeper_note_cpus();
}

/* The program ends in order. Other threads, and destructors after this one, may still write: nothing is taken away. */
__attribute__((destructor)) static void close_file(void)
{
  if (atomic_load_explicit(&state, memory_order_acquire) != RECORDING) return;
  thread_put_clock();
  atomic_store_explicit(storage_live(&storage_header->closed), 1, memory_order_release);
}
