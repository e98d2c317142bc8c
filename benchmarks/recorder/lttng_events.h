/* SPDX-License-Identifier: Apache-2.0
 *
 * Defines the peer: the same three events as LTTng-UST tracepoints, with the payload that tracetools gives them.
 */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER ros2
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./lttng_events.h"

#if !defined(LTTNG_EVENTS_H_) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define LTTNG_EVENTS_H_
#include <lttng/tracepoint.h>
#include <stdbool.h>

LTTNG_UST_TRACEPOINT_EVENT(ros2, callback_start, LTTNG_UST_TP_ARGS(const void *, callback, bool, is_intra_process),
                           LTTNG_UST_TP_FIELDS(lttng_ust_field_integer_hex(const void *, callback, callback)
                                                   lttng_ust_field_integer(int, is_intra_process, is_intra_process)))
LTTNG_UST_TRACEPOINT_EVENT(ros2, callback_end, LTTNG_UST_TP_ARGS(const void *, callback),
                           LTTNG_UST_TP_FIELDS(lttng_ust_field_integer_hex(const void *, callback, callback)))
LTTNG_UST_TRACEPOINT_EVENT(ros2, rcl_publish, LTTNG_UST_TP_ARGS(const void *, publisher_handle, const void *, message),
                           LTTNG_UST_TP_FIELDS(lttng_ust_field_integer_hex(const void *, publisher_handle,
                                                                           publisher_handle)
                                                   lttng_ust_field_integer_hex(const void *, message, message)))
#endif
#include <lttng/tracepoint-event.h>
