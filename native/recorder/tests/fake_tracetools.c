/* SPDX-License-Identifier: Apache-2.0
 *
 * A libtracetools of a given release, as far as the recorder can tell: the functions that this release has, doing nothing.
 * FAKE_RELEASE is major * 100 + minor.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EXPORT __attribute__((visibility("default")))

#define TRACEPOINT(name, ...)                             \
  EXPORT void ros_trace_##name(void);                     \
  EXPORT bool ros_trace_enabled_##name(void);             \
  EXPORT void ros_trace_do_##name(void);                  \
  EXPORT void ros_trace_##name(void) {}                   \
  EXPORT bool ros_trace_enabled_##name(void) { return false; } \
  EXPORT void ros_trace_do_##name(void) {}
#define TRACEPOINT_TEXT(name, ...) TRACEPOINT(name)

#include "../tracepoints.h"
TRACEPOINT(rcl_init)
TRACEPOINT(callback_start)
TRACEPOINT(callback_end)
TRACEPOINT(rmw_publish)
