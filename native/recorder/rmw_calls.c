/* SPDX-License-Identifier: Apache-2.0
 *
 * Entering rmw: the trace points of tracetools lie at its far side, just before the middleware is called and just after it
 * answered. Here its functions themselves are stood before, so that the time between is told.
 *
 * Taking a loaned message has no trace point at all, neither in rmw nor in rcl: rmw_take is recorded here for it.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dds/original.h"
#include "dds/samples.h"
#include "thread.h"

#define EXPORT __attribute__((visibility("default")))

/* rmw_message_info_t, as far as it is read: the same from Foxy on. */
struct message_info {
  int64_t source_timestamp;
};

typedef int32_t rmw_ret;

static inline void put_publish(const void *publisher, const void *message)
{
  if (!samples_recording()) return;
  const uint64_t words[] = {(uintptr_t)publisher, (uintptr_t)message};
  thread_put(TACHO_RMW_PUBLISH_CALLED, words, 2);
}

static inline void put_take(const void *subscription)
{
  if (!samples_recording()) return;
  const uint64_t words[] = {(uintptr_t)subscription};
  thread_put(TACHO_RMW_TAKE_CALLED, words, 1);
}

/* A function of rmw that records `put` and goes on; of each pair, the one that rcl calls.
 * librmw_implementation has them all and calls those of the implementation
 * that was chosen; a program may also be linked with that one alone. */
#define RMW(name, parameters, put, ...)                                                                \
  EXPORT rmw_ret name parameters;                                                                      \
  static struct original original_##name = {#name, "librmw_implementation.", (void *)name, NULL};      \
  EXPORT rmw_ret name parameters                                                                       \
  {                                                                                                    \
    put;                                                                                               \
    return ((rmw_ret(*) parameters)original_of(&original_##name))(__VA_ARGS__);                        \
  }

RMW(rmw_publish, (const void *publisher, const void *message, void *allocation), put_publish(publisher, message),
    publisher, message, allocation)
RMW(rmw_publish_serialized_message, (const void *publisher, const void *message, void *allocation),
    put_publish(publisher, message), publisher, message, allocation)
RMW(rmw_publish_loaned_message, (const void *publisher, void *message, void *allocation), put_publish(publisher, message),
    publisher, message, allocation)

RMW(rmw_take_with_info, (const void *subscription, void *message, bool *taken, void *info, void *allocation),
    put_take(subscription), subscription, message, taken, info, allocation)
RMW(rmw_take_serialized_message_with_info,
    (const void *subscription, void *message, bool *taken, void *info, void *allocation), put_take(subscription),
    subscription, message, taken, info, allocation)

typedef rmw_ret take_loaned(const void *, void **, bool *, struct message_info *, void *);
EXPORT take_loaned rmw_take_loaned_message_with_info;
static struct original original_take_loaned = {"rmw_take_loaned_message_with_info", "librmw_implementation.",
                                               (void *)rmw_take_loaned_message_with_info, NULL};

EXPORT rmw_ret rmw_take_loaned_message_with_info(const void *subscription, void **message, bool *taken,
                                                 struct message_info *info, void *allocation)
{
  put_take(subscription);
  const uint64_t *before = thread_cursor.next;
  rmw_ret result =
    ((take_loaned *)original_of(&original_take_loaned))(subscription, message, taken, info, allocation);
  /* An implementation that has the trace point after all has told it: this thread recorded something in between. */
  if (result == 0 && thread_cursor.next == before) {
    const uint64_t words[] = {(uintptr_t)subscription, (uintptr_t)*message, (uint64_t)info->source_timestamp, *taken};
    thread_put(TACHO_RMW_TAKE, words, 4);
  }
  return result;
}
