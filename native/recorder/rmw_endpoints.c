/* SPDX-License-Identifier: Apache-2.0 */
#include "rmw_endpoints.h"

#include "dds/original.h"
#include "thread.h"

#define EXPORT __attribute__((visibility("default")))
#define LIBRARY "librmw_implementation."

struct rmw_endpoint rmw_endpoints[RMW_ENDPOINTS];

static void learn(const void *handle, const struct type_support *type, bool is_publisher) {
  const bool is_stamped = type_support_begins_with_stamp(type);
  type_support_size *size_of = is_publisher ? type_support_size_of(type) : NULL;
  for (size_t look = 0; look < RMW_ENDPOINT_LOOKS; look++) {
    struct rmw_endpoint *endpoint = rmw_endpoint_at((uintptr_t)handle, look);
    uintptr_t there = atomic_load_explicit(&endpoint->handle, memory_order_relaxed);
    if (there == 0 && !is_stamped && size_of == NULL) return;
    if (there == (uintptr_t)handle ||
        (there == 0 && atomic_compare_exchange_strong(&endpoint->handle, &there, (uintptr_t)handle))) {
      atomic_store_explicit(&endpoint->is_stamped, is_stamped, memory_order_relaxed);
      atomic_store_explicit(&endpoint->size_of, size_of, memory_order_relaxed);
      atomic_store_explicit(&endpoint->published, 0, memory_order_relaxed);
      return;
    }
  }
}

/* The fields of rmw_qos_profile_t that we read, and room for all of them. */
struct qos {
  uint32_t history;
  size_t depth;
  uint32_t reliability, durability;
  char others[256];
};

/* What rmw made, which may differ from what the program asked for. */
static void record(uint32_t kind, struct original *actual_qos, const void *handle, const struct type_support *type) {
  typedef int32_t function(const void *, struct qos *);
  struct qos qos = {0};
  if (((function *)original_of(actual_qos))(handle, &qos) != 0) return;
  char name[256];
  type_support_name(type, name, sizeof name);
  const uint64_t words[] = {(uintptr_t)handle, qos.reliability, qos.durability, qos.history, qos.depth};
  const char *const texts[] = {name};
  thread_put_texts(kind, words, sizeof words / sizeof *words, texts, 1);
}

/* Interposes a function of rmw that makes an endpoint. */
#define RMW_CREATE(name, kind, actual)                                                                                \
  typedef void *name##_function(const void *, const struct type_support *, const char *, const void *, const void *); \
  EXPORT name##_function name;                                                                                        \
  static struct original original_##name = {#name, LIBRARY, (void *)name, NULL};                                      \
  static struct original original_##actual = {#actual, LIBRARY, NULL, NULL};                                          \
  EXPORT void *name(const void *node, const struct type_support *type, const char *topic, const void *qos,            \
                    const void *options) {                                                                            \
    void *made = ((name##_function *)original_of(&original_##name))(node, type, topic, qos, options);                 \
    if (made != NULL && thread_recording()) {                                                                         \
      learn(made, type, kind == TACHO_RMW_PUBLISHER_QOS);                                                             \
      record(kind, &original_##actual, made, type);                                                                   \
    }                                                                                                                 \
    return made;                                                                                                      \
  }

RMW_CREATE(rmw_create_publisher, TACHO_RMW_PUBLISHER_QOS, rmw_publisher_get_actual_qos)
RMW_CREATE(rmw_create_subscription, TACHO_RMW_SUBSCRIPTION_QOS, rmw_subscription_get_actual_qos)
