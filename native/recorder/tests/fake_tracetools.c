/* SPDX-License-Identifier: Apache-2.0
 *
 * Stands in for the libtracetools of a release: it has the functions that this release has. If FAKE_TRACETOOLS_SAYS is
 * set, they append their arguments to that file, one line for each call in the format of rclcpp_order.c. They do
 * nothing else. FAKE_RELEASE is major * 100 + minor.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

/* The recorder cuts longer texts. */
#define TEXT_MAX_BYTES 4095

static void say(const char *name, const uint64_t *words, size_t count, const char *const *texts, size_t text_count) {
  const char *path = getenv("FAKE_TRACETOOLS_SAYS");
  FILE *file = path != NULL ? fopen(path, "a") : NULL;
  if (file == NULL) return;
  fputs(name, file);
  for (size_t i = 0; i < count; i++) fprintf(file, " %" PRIu64, words[i]);
  if (text_count > 0) fputs(" |", file);
  for (size_t i = 0; i < text_count; i++) {
    bool whole = strlen(texts[i]) <= TEXT_MAX_BYTES;
    fprintf(file, " %.*s%s", whole ? TEXT_MAX_BYTES : TEXT_MAX_BYTES - 3, texts[i], whole ? "" : "...");
  }
  fputc('\n', file);
  fclose(file);
}

static uint64_t half_gid(const uint8_t *gid, size_t half) {
  uint64_t word;
  memcpy(&word, gid + 8 * half, sizeof word);
  return word;
}

#define P(pointer) (uint64_t)(uintptr_t)(pointer)
#define I(number) (uint64_t)(number)
#define GID(gid) half_gid(gid, 0), half_gid(gid, 1)
#define TEXTS(...) {__VA_ARGS__}
#define FUNCTION(callback, symbol) symbol

#define FAKE(name, parameters, arguments, ...)                                                                      \
  EXPORT void ros_trace_##name parameters;                                                                          \
  EXPORT bool ros_trace_enabled_##name(void);                                                                       \
  EXPORT void ros_trace_do_##name parameters;                                                                       \
  EXPORT void ros_trace_##name parameters{__VA_ARGS__} EXPORT bool ros_trace_enabled_##name(void) { return false; } \
  EXPORT void ros_trace_do_##name parameters { ros_trace_##name arguments; }

#define TRACEPOINT(name, kind, parameters, arguments, ...)                  \
  FAKE(name, parameters, arguments, const uint64_t words[] = {__VA_ARGS__}; \
       say(#name, words, sizeof words / sizeof(uint64_t), NULL, 0);)

#define TRACEPOINT_TEXT(name, kind, parameters, arguments, text_list, ...)                                         \
  FAKE(name, parameters, arguments, const uint64_t words[] = {__VA_ARGS__}; const char *const texts[] = text_list; \
       say(#name, words, sizeof words / sizeof *words, texts, sizeof texts / sizeof *texts);)

#include "../tracepoints.h"
TRACEPOINT(rcl_init, , (const void *context), (context), P(context))
TRACEPOINT(callback_start, , (const void *callback, bool is_intra_process), (callback, is_intra_process), P(callback),
           I(is_intra_process))
TRACEPOINT(callback_end, , (const void *callback), (callback), P(callback))
#if FAKE_RELEASE >= 800
TRACEPOINT(rmw_publish, , (const void *publisher, const void *message, int64_t timestamp),
           (publisher, message, timestamp), P(publisher), P(message), I(timestamp))
#else
TRACEPOINT(rmw_publish, , (const void *message), (message), 0, P(message), 0)
#endif
