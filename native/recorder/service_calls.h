/* SPDX-License-Identifier: Apache-2.0
 *
 * Who tells of service calls: rmw by trace points of its own (from Kilted on), or the recorder in its place.
 */
#ifndef TACHO_RECORDER_SERVICE_CALLS_H_
#define TACHO_RECORDER_SERVICE_CALLS_H_

#include <stdatomic.h>
#include <stdbool.h>

/* Set as soon as rmw told anything of a service. */
extern _Atomic bool service_calls_told;

static inline void service_calls_tell(void)
{
  if (!atomic_load_explicit(&service_calls_told, memory_order_relaxed)) {
    atomic_store_explicit(&service_calls_told, true, memory_order_relaxed);
  }
}

#endif /* TACHO_RECORDER_SERVICE_CALLS_H_ */
