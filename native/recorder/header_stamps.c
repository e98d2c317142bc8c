/* SPDX-License-Identifier: Apache-2.0 */
#include "header_stamps.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "rmw_endpoints.h"
#include "thread.h"

/* A stamp of zero was never set, so it is not recorded. */
static inline __attribute__((always_inline)) void put(uint32_t kind, const struct rmw_endpoint *endpoint,
                                                      int32_t seconds, uint32_t nanoseconds) {
  if (seconds == 0 && nanoseconds == 0) return;
  const uint64_t words[] = {endpoint->handle, (uint64_t)((int64_t)seconds * 1000000000 + nanoseconds)};
  thread_put(kind, words, 2);
}

static inline __attribute__((always_inline)) bool is_stamped(const struct rmw_endpoint *endpoint) {
  return atomic_load_explicit(&endpoint->is_stamped, memory_order_relaxed);
}

static inline __attribute__((always_inline)) void put_of(uint32_t kind, const struct rmw_endpoint *endpoint,
                                                         const void *message) {
  if (!is_stamped(endpoint)) return;
  struct {
    int32_t seconds;
    uint32_t nanoseconds;
  } stamp;
  memcpy(&stamp, message, sizeof stamp);
  put(kind, endpoint, stamp.seconds, stamp.nanoseconds);
}

/* The second of the bytes that name the encoding is odd if it is little endian. */
static inline __attribute__((always_inline)) void put_of_serialized(uint32_t kind, const struct rmw_endpoint *endpoint,
                                                                    const struct rmw_serialized *message) {
  if (message->length < RMW_ENCAPSULATION + 8 || !is_stamped(endpoint)) return;
  uint32_t seconds, nanoseconds;
  memcpy(&seconds, message->buffer + RMW_ENCAPSULATION, sizeof seconds);
  memcpy(&nanoseconds, message->buffer + RMW_ENCAPSULATION + 4, sizeof nanoseconds);
  if (!(message->buffer[1] & 1)) {
    seconds = __builtin_bswap32(seconds);
    nanoseconds = __builtin_bswap32(nanoseconds);
  }
  put(kind, endpoint, (int32_t)seconds, nanoseconds);
}

void header_stamps_sent(const struct rmw_endpoint *publisher, const void *message) {
  put_of(TACHO_HEADER_STAMP_SENT, publisher, message);
}

void header_stamps_taken(const struct rmw_endpoint *subscription, const void *message) {
  put_of(TACHO_HEADER_STAMP_TAKEN, subscription, message);
}

void header_stamps_sent_serialized(const struct rmw_endpoint *publisher, const struct rmw_serialized *message) {
  put_of_serialized(TACHO_HEADER_STAMP_SENT, publisher, message);
}

void header_stamps_taken_serialized(const struct rmw_endpoint *subscription, const struct rmw_serialized *message) {
  put_of_serialized(TACHO_HEADER_STAMP_TAKEN, subscription, message);
}
