/* SPDX-License-Identifier: Apache-2.0
 *
 * Decides whether the messages of an endpoint have a stamp when the endpoint is created, from the description of its
 * type. Type supports have descriptions from Iron on; in Humble nothing is recorded. A type has a stamp if its first
 * field is std_msgs/Header or a time called `stamp`. Both begin with seconds and nanoseconds, in C, in C++ and on the
 * wire, so we need not understand the rest of the message.
 */
#include "header_stamps.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "dds/original.h"
#include "release.h"
#include "thread.h"

#define EXPORT __attribute__((visibility("default")))
#define LIBRARY "librmw_implementation."

/* Type supports describe their types from this release on (Iron). */
#define RELEASE_OF_TYPE_DESCRIPTIONS RELEASE(5, 0, 0)

/* rosidl_runtime_c__String */
struct string {
  const char *data;
  size_t size, capacity;
};

/* rosidl_runtime_c__type_description__Field */
struct field {
  struct string name;
  uint8_t type_id;
  uint64_t capacity, string_capacity;
  struct string nested_type_name;
  struct string default_value;
};
enum { TYPE_NESTED = 1 };

/* The fields of rosidl_runtime_c__type_description__TypeDescription that we read. */
struct type_description {
  struct string type_name;
  struct {
    const struct field *data;
    size_t size, capacity;
  } fields;
};

/* rosidl_message_type_support_t */
struct type_support {
  const char *identifier;
  const void *data;
  const void *handle_function, *type_hash_function;
  const struct type_description *(*description)(const struct type_support *);
};

/* rcutils_uint8_array_t */
struct bytes {
  const uint8_t *buffer;
  size_t length;
};

static bool is(const struct string *text, const char *wanted) {
  return text->data != NULL && strcmp(text->data, wanted) == 0;
}

static bool begins_with_stamp(const struct type_support *type) {
  if (release_known() == 0) thread_seek_release();
  if (release_known() < RELEASE_OF_TYPE_DESCRIPTIONS || type == NULL || type->description == NULL) return false;
  const struct type_description *described = type->description(type);
  if (described == NULL || described->fields.size == 0) return false;
  const struct field *first = &described->fields.data[0];
  if (first->type_id != TYPE_NESTED) return false;
  return is(&first->nested_type_name, "std_msgs/msg/Header") ||
         (is(&first->nested_type_name, "builtin_interfaces/msg/Time") && is(&first->name, "stamp"));
}

/* Endpoints by address, with open addressing. The lowest bit is set if their messages have a stamp. The entry of a
 * destroyed endpoint stays; a later endpoint at the same address overwrites the bit. If an endpoint finds no place, its
 * stamps are not recorded. */
enum { PLACES = 8192, LOOKS = 64 };
static _Atomic uintptr_t endpoints[PLACES];

static inline size_t place_of(uintptr_t endpoint, size_t look) {
  return (((uint64_t)endpoint * UINT64_C(0x9e3779b97f4a7c15) >> 51) + look) % PLACES;
}

static void learn(const void *handle, bool stamped) {
  const uintptr_t endpoint = (uintptr_t)handle;
  for (size_t look = 0; look < LOOKS; look++) {
    _Atomic uintptr_t *place = &endpoints[place_of(endpoint, look)];
    uintptr_t there = atomic_load_explicit(place, memory_order_relaxed);
    if (there == 0 && !stamped) return;
    if (there == 0 && atomic_compare_exchange_strong(place, &there, endpoint | 1)) return;
    if ((there & ~(uintptr_t)1) == endpoint) {
      atomic_store_explicit(place, endpoint | stamped, memory_order_relaxed);
      return;
    }
  }
}

static inline bool is_stamped(const void *handle) {
  const uintptr_t endpoint = (uintptr_t)handle;
  for (size_t look = 0; look < LOOKS; look++) {
    const uintptr_t there = atomic_load_explicit(&endpoints[place_of(endpoint, look)], memory_order_relaxed);
    if ((there & ~(uintptr_t)1) == endpoint) return there & 1;
    if (there == 0) return false;
  }
  return false;
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

/* Interposes a function of rmw that creates an endpoint. */
#define RMW_CREATE(name)                                                                                              \
  typedef void *name##_function(const void *, const struct type_support *, const char *, const void *, const void *); \
  EXPORT name##_function name;                                                                                        \
  static struct original original_##name = {#name, LIBRARY, (void *)name, NULL};                                      \
  EXPORT void *name(const void *node, const struct type_support *type, const char *topic, const void *qos,            \
                    const void *options) {                                                                            \
    void *made = ((name##_function *)original_of(&original_##name))(node, type, topic, qos, options);                 \
    if (made != NULL && thread_recording()) learn(made, begins_with_stamp(type));                                     \
    return made;                                                                                                      \
  }

RMW_CREATE(rmw_create_publisher)
RMW_CREATE(rmw_create_subscription)
