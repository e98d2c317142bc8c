/* SPDX-License-Identifier: Apache-2.0
 *
 * Records RTPS messages on their way to and from a transport: one event for each sample, or piece of a sample, in them.
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

/* Reads the environment. Call it once. */
bool samples_decide(void);

/* Returns whether this process records what happens below rcl: it records at all, and TACHO_EVENTS_DDS is not `off`. */
static inline bool samples_recording(void) {
  int state = atomic_load_explicit(&samples_state, memory_order_relaxed);
  return __builtin_expect(state == SAMPLES_UNDECIDED, 0) ? samples_decide() : state == SAMPLES_ON;
}

/* Records that a message of `size` bytes was handed to a transport at that moment. If a sample goes to several places
 * in a row, only the first is recorded. */
void samples_sent(const struct iovec *buffers, size_t count, size_t size, enum tacho_transport transport,
                  struct thread_moment at);

/* Records that a transport delivered this message. */
void samples_received(const struct iovec *buffers, size_t count, size_t size, enum tacho_transport transport);

/* Returns whether this buffer holds the last message that this thread received from a socket. Such a message was
 * already recorded. */
bool samples_came_by_socket(const void *buffer);

#endif /* TACHO_RECORDER_DDS_SAMPLES_H_ */
