/* SPDX-License-Identifier: Apache-2.0 */
#include "message_sizes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rmw_endpoints.h"
#include "thread.h"

#define ONE_IN 8

/* The first has its turn. Multiples of the golden ratio are spread evenly whatever their stride, so sizes that alternate
 * are seen in their true proportion. */
static inline bool is_its_turn(uint32_t number) { return number * UINT32_C(0x9e3779b9) < UINT32_MAX / ONE_IN; }

static void put(const struct rmw_endpoint *publisher, uint64_t bytes) {
  const uint64_t words[] = {publisher->handle, bytes};
  thread_put(TACHO_MESSAGE_SIZE, words, 2);
}

/* Returns how to find out the size of the next message; NULL if it is not its turn. */
static inline type_support_size *turn_of(struct rmw_endpoint *publisher) {
  type_support_size *size_of = atomic_load_explicit(&publisher->size_of, memory_order_relaxed);
  if (size_of == NULL) return NULL;
  return is_its_turn(atomic_fetch_add_explicit(&publisher->published, 1, memory_order_relaxed)) ? size_of : NULL;
}

void message_sizes_sent(struct rmw_endpoint *publisher, const void *message) {
  type_support_size *size_of = turn_of(publisher);
  if (size_of != NULL) put(publisher, size_of(message));
}

void message_sizes_sent_serialized(struct rmw_endpoint *publisher, const struct rmw_serialized *message) {
  if (turn_of(publisher) != NULL && message->length >= RMW_ENCAPSULATION)
    put(publisher, message->length - RMW_ENCAPSULATION);
}
