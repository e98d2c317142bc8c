/* SPDX-License-Identifier: Apache-2.0
 *
 * Records QoS and type of publishers and subscriptions when rmw makes them, and keeps what recording their messages
 * needs to know.
 */
#ifndef TACHO_RECORDER_RMW_ENDPOINTS_H_
#define TACHO_RECORDER_RMW_ENDPOINTS_H_

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "type_support.h"

/* rcutils_uint8_array_t. Its first four bytes name the encoding of the message. */
struct rmw_serialized {
  const uint8_t *buffer;
  size_t length;
};
enum { RMW_ENCAPSULATION = 4 };

struct rmw_endpoint {
  _Atomic uintptr_t handle; /* rmw_publisher_t or rmw_subscription_t; 0: none */
  _Atomic(type_support_size *) size_of;
  _Atomic uint32_t published;
  _Atomic bool is_stamped;
};

/* Endpoints by address, with open addressing. The entry of a destroyed endpoint stays; a later one at the same address
 * overwrites it. Of an endpoint that finds no place, neither stamps nor sizes are recorded. */
enum { RMW_ENDPOINTS = 8192, RMW_ENDPOINT_LOOKS = 64 };
extern struct rmw_endpoint rmw_endpoints[RMW_ENDPOINTS];

static inline struct rmw_endpoint *rmw_endpoint_at(uintptr_t handle, size_t look) {
  return &rmw_endpoints[(((uint64_t)handle * UINT64_C(0x9e3779b97f4a7c15) >> 51) + look) % RMW_ENDPOINTS];
}

/* Returns what is known of an endpoint; NULL if nothing is. */
static inline struct rmw_endpoint *rmw_endpoint_of(const void *handle) {
  for (size_t look = 0; look < RMW_ENDPOINT_LOOKS; look++) {
    struct rmw_endpoint *endpoint = rmw_endpoint_at((uintptr_t)handle, look);
    const uintptr_t there = atomic_load_explicit(&endpoint->handle, memory_order_acquire);
    if (there == (uintptr_t)handle) return endpoint;
    if (there == 0) return NULL;
  }
  return NULL;
}

#endif /* TACHO_RECORDER_RMW_ENDPOINTS_H_ */
