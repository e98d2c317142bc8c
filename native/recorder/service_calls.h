/* SPDX-License-Identifier: Apache-2.0
 *
 * Decides who reports service calls: rmw by its own trace points (from Kilted on), or the recorder.
 */
#ifndef TACHO_RECORDER_SERVICE_CALLS_H_
#define TACHO_RECORDER_SERVICE_CALLS_H_

#include <stdatomic.h>
#include <stdbool.h>

/* True as soon as rmw has reported anything about a service. */
extern _Atomic bool service_calls_told;

static inline void service_calls_tell(void) {
  if (!atomic_load_explicit(&service_calls_told, memory_order_relaxed)) {
    atomic_store_explicit(&service_calls_told, true, memory_order_relaxed);
  }
}

#endif /* TACHO_RECORDER_SERVICE_CALLS_H_ */
