/* SPDX-License-Identifier: Apache-2.0 */
#include "header_stamps.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "rmw_endpoints.h"
#include "thread.h"

/* rcutils_uint8_array_t */
struct bytes {
  const uint8_t *buffer;
  size_t length;
};

static inline bool is_stamped(const void *handle) {
  struct rmw_endpoint *endpoint = rmw_endpoint_of(handle);
  return endpoint != NULL && atomic_load_explicit(&endpoint->is_stamped, memory_order_relaxed);
}

/* A stamp of zero was never set, so it is not recorded. */
static inline __attribute__((always_inline)) void put(uint32_t kind, const void *handle, int32_t seconds,
                                                      uint32_t nanoseconds) {
  if (seconds == 0 && nanoseconds == 0) return;
  const uint64_t words[] = {(uintptr_t)handle, (uint64_t)((int64_t)seconds * 1000000000 + nanoseconds)};
  thread_put(kind, words, 2);
}

static inline __attribute__((always_inline)) void put_of(uint32_t kind, const void *handle, const void *message) {
  if (message == NULL || !is_stamped(handle)) return;
  struct {
    int32_t seconds;
    uint32_t nanoseconds;
  } stamp;
  memcpy(&stamp, message, sizeof stamp);
  put(kind, handle, stamp.seconds, stamp.nanoseconds);
}

/* Four bytes before the message name its encoding. The second of them is odd if it is little endian. */
static inline __attribute__((always_inline)) void put_of_serialized(uint32_t kind, const void *handle,
                                                                    const struct bytes *message) {
  if (message == NULL || message->length < 12 || !is_stamped(handle)) return;
  uint32_t seconds, nanoseconds;
  memcpy(&seconds, message->buffer + 4, sizeof seconds);
  memcpy(&nanoseconds, message->buffer + 8, sizeof nanoseconds);
  if (!(message->buffer[1] & 1)) {
    seconds = __builtin_bswap32(seconds);
    nanoseconds = __builtin_bswap32(nanoseconds);
  }
  put(kind, handle, (int32_t)seconds, nanoseconds);
}

void header_stamps_sent(const void *publisher, const void *message) {
  put_of(TACHO_HEADER_STAMP_SENT, publisher, message);
}

void header_stamps_taken(const void *subscription, const void *message) {
  put_of(TACHO_HEADER_STAMP_TAKEN, subscription, message);
}

void header_stamps_sent_serialized(const void *publisher, const void *message) {
  put_of_serialized(TACHO_HEADER_STAMP_SENT, publisher, message);
}

void header_stamps_taken_serialized(const void *subscription, const void *message) {
  put_of_serialized(TACHO_HEADER_STAMP_TAKEN, subscription, message);
}
