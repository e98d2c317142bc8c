/* SPDX-License-Identifier: Apache-2.0
 *
 * Records when a program enters rmw. The trace points of tracetools lie at the far side of rmw, just before it calls
 * the middleware and just after the middleware answers. We interpose rmw's functions, so that the time in between is
 * recorded.
 *
 * Neither rmw nor rcl has a trace point for taking a loaned message, so we record rmw_take for it here.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dds/original.h"
#include "dds/samples.h"
#include "header_stamps.h"
#include "message_sizes.h"
#include "thread.h"

#define EXPORT __attribute__((visibility("default")))

/* The fields of rmw_message_info_t that we read; they are the same from Foxy on. */
struct message_info {
  int64_t source_timestamp;
};

typedef int32_t rmw_ret;

static inline void put_publish(const void *publisher, const void *message) {
  if (!samples_recording()) return;
  const uint64_t words[] = {(uintptr_t)publisher, (uintptr_t)message};
  thread_put(TACHO_RMW_PUBLISH_CALLED, words, 2);
}

static inline void put_take(const void *subscription) {
  if (!samples_recording()) return;
  const uint64_t words[] = {(uintptr_t)subscription};
  thread_put(TACHO_RMW_TAKE_CALLED, words, 1);
}

/* Interposes a function of rmw: records `before`, calls the original, and then records `after`. Of each pair of
 * functions, we interpose the one that rcl calls. librmw_implementation has them all and calls those of the chosen
 * implementation; a program may also be linked with that implementation alone. */
#define RMW(name, parameters, arguments, before, after)                                           \
  EXPORT rmw_ret name parameters;                                                                 \
  static struct original original_##name = {#name, "librmw_implementation.", (void *)name, NULL}; \
  EXPORT rmw_ret name parameters {                                                                \
    before;                                                                                       \
    const rmw_ret result = ((rmw_ret(*) parameters)original_of(&original_##name))arguments;       \
    after;                                                                                        \
    return result;                                                                                \
  }

/* What is recorded of a message that goes through a publisher or subscription. */
#define OF_ENDPOINT(handle, message, ...)                                               \
  do {                                                                                  \
    struct rmw_endpoint *endpoint = (message) != NULL ? rmw_endpoint_of(handle) : NULL; \
    if (endpoint != NULL) {                                                             \
      __VA_ARGS__;                                                                      \
    }                                                                                   \
  } while (0)

#define PUBLISH(name, message_type, form)                                                                      \
  RMW(name, (const void *publisher, message_type message, void *allocation), (publisher, message, allocation), \
      OF_ENDPOINT(publisher, message, header_stamps_##form(endpoint, message);                                 \
                  message_sizes_##form(endpoint, message));                                                    \
      put_publish(publisher, message), (void)0)

PUBLISH(rmw_publish, const void *, sent)
PUBLISH(rmw_publish_serialized_message, const void *, sent_serialized)
PUBLISH(rmw_publish_loaned_message, void *, sent)

#define TAKE(name, stamp_taken)                                                                   \
  RMW(name, (const void *subscription, void *message, bool *taken, void *info, void *allocation), \
      (subscription, message, taken, info, allocation), put_take(subscription),                   \
      if (result == 0 && *taken) OF_ENDPOINT(subscription, message, stamp_taken(endpoint, message)))

TAKE(rmw_take_with_info, header_stamps_taken)
TAKE(rmw_take_serialized_message_with_info, header_stamps_taken_serialized)

typedef rmw_ret take_loaned(const void *, void **, bool *, struct message_info *, void *);
EXPORT take_loaned rmw_take_loaned_message_with_info;
static struct original original_take_loaned = {"rmw_take_loaned_message_with_info", "librmw_implementation.",
                                               (void *)rmw_take_loaned_message_with_info, NULL};

EXPORT rmw_ret rmw_take_loaned_message_with_info(const void *subscription, void **message, bool *taken,
                                                 struct message_info *info, void *allocation) {
  put_take(subscription);
  const char *before = thread_cursor.next;
  rmw_ret result = ((take_loaned *)original_of(&original_take_loaned))(subscription, message, taken, info, allocation);
  /* If this thread recorded something in between, the implementation has the trace point after all. */
  if (result == 0 && thread_cursor.next == before) {
    const uint64_t words[] = {(uintptr_t)subscription, (uintptr_t)*message, (uint64_t)info->source_timestamp, *taken};
    thread_put(TACHO_RMW_TAKE, words, 4);
  }
  if (result == 0 && *taken) OF_ENDPOINT(subscription, *message, header_stamps_taken(endpoint, *message));
  return result;
}
