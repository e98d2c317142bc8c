/* SPDX-License-Identifier: Apache-2.0
 *
 * A libtracetools with three functions. With PEER they fire LTTng tracepoints like the real one; otherwise they do
 * nothing.
 */
#include <stdbool.h>
#ifdef PEER
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "lttng_events.h"
#define FIRE(...) lttng_ust_tracepoint(ros2, __VA_ARGS__)
#else
#define FIRE(...)
#endif

void ros_trace_callback_start(const void *callback, bool is_intra_process) {
  (void)callback;
  (void)is_intra_process;
  FIRE(callback_start, callback, is_intra_process);
}

void ros_trace_callback_end(const void *callback) {
  (void)callback;
  FIRE(callback_end, callback);
}

void ros_trace_rcl_publish(const void *publisher_handle, const void *message) {
  (void)publisher_handle;
  (void)message;
  FIRE(rcl_publish, publisher_handle, message);
}
