/* SPDX-License-Identifier: Apache-2.0
 *
 * Defines the functions that programs call. Because the recorder is preloaded, these definitions come before those of
 * libtracetools for every caller: rcl, the rmw implementations, and rclcpp's headers compiled into the program. We call
 * those of tracetools afterwards, so that an LTTng session sees of a recorded process what it would see without us.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "behind.h"
#include "callbacks.h"
#include "functions.h"
#include "rclcpp/executor.h"
#include "rclpy/hook.h"
#include "release.h"
#include "run_delay.h"
#include "service_calls.h"
#include "thread.h"

#define EXPORT __attribute__((visibility("default")))

/* A gid has 16 to 24 bytes, depending on the release. The first 16 identify the endpoint in all releases. */
static inline uint64_t half_gid(const uint8_t *gid, size_t half) {
  uint64_t word = 0;
  if (gid != NULL) memcpy(&word, gid + 8 * half, sizeof word);
  return word;
}

#define P(pointer) (uint64_t)(uintptr_t)(pointer)
#define I(number) (uint64_t)(number)
#define GID(gid) half_gid(gid, 0), half_gid(gid, 1)
#define TEXTS(...) {__VA_ARGS__}
#define FUNCTION(callback, symbol) function_of_callback(callback, symbol, (char[1024]){0}, 1024)

static void behind_seek(void);

/* Each tracepoint has three functions: the plain one, one that returns whether it would record, and one that callers
 * use after asking. The plain function behind ours asks for itself. */
#define DEFINE(name, parameters, arguments, ...)                                         \
  BEHIND(name, parameters, arguments, behind_seek)                                       \
  EXPORT void ros_trace_##name parameters;                                               \
  EXPORT void ros_trace_do_##name parameters __attribute__((alias("ros_trace_" #name))); \
  EXPORT bool ros_trace_enabled_##name(void);                                            \
  EXPORT bool ros_trace_enabled_##name(void) { return thread_recording(); }              \
  EXPORT void ros_trace_##name parameters { __VA_ARGS__ }

#define TRACEPOINT(name, kind, parameters, arguments, ...)                    \
  DEFINE(name, parameters, arguments, const uint64_t words[] = {__VA_ARGS__}; \
         thread_put(kind, words, sizeof words / sizeof(uint64_t)); BEHIND_CALL(name) arguments;)

#define TRACEPOINT_OF_SERVICE(name, kind, parameters, arguments, ...)                               \
  DEFINE(name, parameters, arguments, const uint64_t words[] = {__VA_ARGS__}; service_calls_tell(); \
         thread_put(kind, words, sizeof words / sizeof(uint64_t)); BEHIND_CALL(name) arguments;)

#define TRACEPOINT_TEXT(name, kind, parameters, arguments, text_list, ...)                                           \
  DEFINE(name, parameters, arguments, const uint64_t words[] = {__VA_ARGS__}; const char *const texts[] = text_list; \
         thread_put_texts(kind, words, sizeof words / sizeof *words, texts, sizeof texts / sizeof *texts);           \
         BEHIND_CALL(name) arguments;)

#include "tracepoints.h"

/* rmw_publish is the one tracepoint whose arguments depend on the release. If the release is unknown, we record only
 * the first argument, under a kind of its own, because only the first is certain to be an argument. The other two
 * registers are read but never dereferenced. */
static inline void put_rmw_publish(const void *first, const void *second, int64_t third) {
  uint32_t release = release_known();
  if (__builtin_expect(release == 0, 0)) {
    thread_seek_release();
    release = release_known();
  }
  if (__builtin_expect(release >= RELEASE_OF_PUBLISH_WITH_HANDLE, 1)) {
    const uint64_t words[] = {P(first), P(second), I(third)};
    thread_put(TACHO_RMW_PUBLISH, words, 3);
  } else if (release != 0) {
    const uint64_t words[] = {0, P(first), 0};
    thread_put(TACHO_RMW_PUBLISH, words, 3);
  } else {
    const uint64_t words[] = {P(first)};
    thread_put(TACHO_RMW_PUBLISH_OF_UNKNOWN_RELEASE, words, 1);
  }
}

DEFINE(rmw_publish, (const void *first, const void *second, int64_t third), (first, second, third),
       put_rmw_publish(first, second, third);
       BEHIND_CALL(rmw_publish)(first, second, third);)

/* This is the last thing that rcl_init does, before rclpy can have made a node. */
DEFINE(rcl_init, (const void *context_handle), (context_handle), const uint64_t words[] = {P(context_handle)};
       thread_put(TACHO_RCL_INIT, words, 1); BEHIND_CALL(rcl_init)(context_handle); rclpy_hook();)

/* Longer than a pair of readings takes if nobody takes the CPU meanwhile. */
#define TAKEN_AWAY_NS 20000u
/* Longer than one of them takes. */
#define READING_NS 5000u
#define TRIES 3

/* Records CPU time beside a callback's wall time, and the time without a CPU around it. We read both outside the
 * callback, so that they do not change the wall time. But the kernel likes to give the CPU to another thread at the end
 * of a system call. Such a wait is outside of the callback, too: before one we read again, after one we subtract it. */
__attribute__((noinline)) static void put_times(bool is_end) {
  uint64_t cpu_ns, delay_ns = 0;
  bool has_delay;
  if (is_end) {
    const uint64_t ended_ns = clock_ns(CLOCK_MONOTONIC);
    cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    const uint64_t outside_ns = clock_ns(CLOCK_MONOTONIC) - ended_ns;
    has_delay = run_delay_read(&delay_ns);
    if (outside_ns > TAKEN_AWAY_NS) delay_ns -= outside_ns - READING_NS;
  } else {
    uint64_t read_ns;
    int tries = 0;
    do {
      read_ns = clock_ns(CLOCK_MONOTONIC);
      has_delay = run_delay_read(&delay_ns);
      cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    } while (has_delay && clock_ns(CLOCK_MONOTONIC) - read_ns > TAKEN_AWAY_NS && ++tries < TRIES);
  }
  if (has_delay) {
    const uint64_t words[] = {cpu_ns, delay_ns, is_end};
    thread_put(TACHO_CALLBACK_CPU_AND_DELAY, words, 3);
  } else {
    const uint64_t words[] = {cpu_ns, is_end};
    thread_put(TACHO_CALLBACK_CPU, words, 2);
  }
}

static inline void put_cpu_time(bool is_end) {
  /* If muted, a system call would end the thread. */
  if (__builtin_expect(thread_cpu_time, 0) && !thread_cursor.muted) put_times(is_end);
}

static inline void put_callback_start(const void *callback, bool is_intra_process) {
  put_cpu_time(false);
  const uint64_t words[] = {P(callback), I(is_intra_process)};
  thread_put(TACHO_CALLBACK_START, words, 2);
}

static inline void put_callback_end(const void *callback) {
  const uint64_t words[] = {P(callback)};
  thread_put(TACHO_CALLBACK_END, words, 1);
  put_cpu_time(true);
}

/* The time that LTTng takes does not count as the callback's. */
DEFINE(callback_start, (const void *callback, bool is_intra_process), (callback, is_intra_process),
       service_callback_starts(callback);
       BEHIND_CALL(callback_start)(callback, is_intra_process); put_callback_start(callback, is_intra_process);)
DEFINE(callback_end, (const void *callback), (callback), put_callback_end(callback); service_callback_ends(callback);
       BEHIND_CALL(callback_end)(callback);)

void tracepoints_callback_start(const void *callback) { put_callback_start(callback, false); }

void tracepoints_callback_end(const void *callback) { put_callback_end(callback); }

#undef TRACEPOINT
#undef TRACEPOINT_OF_SERVICE
#undef TRACEPOINT_TEXT
#define TRACEPOINT(name, ...) BEHIND_ENTRY(name),
#define TRACEPOINT_TEXT TRACEPOINT

static const struct behind_entry behind_entries[] = {
#include "tracepoints.h"
    BEHIND_ENTRY(rmw_publish), BEHIND_ENTRY(rcl_init), BEHIND_ENTRY(callback_start), BEHIND_ENTRY(callback_end)};

static void behind_seek(void) { behind_find(behind_entries, sizeof behind_entries / sizeof *behind_entries); }

EXPORT void tacho_record(uint32_t kind, const uint64_t *words, uint32_t count);
EXPORT void tacho_record_texts(uint32_t kind, const uint64_t *words, uint32_t count, const char *const *texts,
                               uint32_t text_count);
EXPORT int tacho_recording(void);

/* Our own programs call this: it writes one event of a kind of events.h with `count` words (at most TACHO_MAX_WORDS). */
EXPORT void tacho_record(uint32_t kind, const uint64_t *words, uint32_t count) {
  if (kind == 0 || kind > 1023 || count > TACHO_MAX_WORDS) return;
  /* Of these the compiler knows the sizes. */
  if (kind == TACHO_NODE_TAKE && count == 4) {
    thread_put(TACHO_NODE_TAKE, words, 4);
  } else if (kind == TACHO_NODE_PUBLISH && count == 4) {
    thread_put(TACHO_NODE_PUBLISH, words, 4);
  } else if (kind == TACHO_NODE_DATA_AVAILABLE && count == 1) {
    thread_put(TACHO_NODE_DATA_AVAILABLE, words, 1);
  } else {
    thread_put(kind, words, count);
  }
}

/* Writes one event with texts. */
EXPORT void tacho_record_texts(uint32_t kind, const uint64_t *words, uint32_t count, const char *const *texts,
                               uint32_t text_count) {
  if (kind == 0 || kind > 1023 || count > TACHO_MAX_WORDS) return;
  thread_put_texts(kind, words, count, texts, text_count);
}

EXPORT int tacho_recording(void) { return thread_recording(); }
