/* SPDX-License-Identifier: Apache-2.0
 *
 * RTPS messages on their way to a transport and from it, as events: one a sample, or piece of a sample, in them.
 */
#ifndef TACHO_RECORDER_DDS_SAMPLES_H_
#define TACHO_RECORDER_DDS_SAMPLES_H_

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "../thread.h"
#include "tacho/events.h"

enum samples_state { SAMPLES_UNDECIDED, SAMPLES_ON, SAMPLES_OFF };
extern _Atomic int samples_state;

/* Reads the environment, once. */
bool samples_decide(void);

/* Whether this process records what happens below rcl: it records at all, and TACHO_EVENTS_DDS is not `off`. */
static inline bool samples_recording(void)
{
  int state = atomic_load_explicit(&samples_state, memory_order_relaxed);
  return __builtin_expect(state == SAMPLES_UNDECIDED, 0) ? samples_decide() : state == SAMPLES_ON;
}

/* A message of `size` bytes was handed to a transport at that moment. Of a sample that goes to several places in one go, the first is told. */
void samples_sent(const struct iovec *buffers, size_t count, size_t size, enum tacho_transport transport, struct thread_moment at);

/* A transport handed this message over. */
void samples_received(const struct iovec *buffers, size_t count, size_t size, enum tacho_transport transport);

/* Whether the last message that this thread received from a socket stands here: it was told then. */
bool samples_came_by_socket(const void *buffer);

#endif /* TACHO_RECORDER_DDS_SAMPLES_H_ */
