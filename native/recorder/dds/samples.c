/* SPDX-License-Identifier: Apache-2.0 */
#include "samples.h"

#include <stdlib.h>
#include <string.h>

#include "rtps.h"

_Atomic int samples_state = SAMPLES_UNDECIDED;

/* The initial-exec model works because the library is preloaded, as in thread.h. */
#define LOCAL static _Thread_local __attribute__((tls_model("initial-exec")))
/* Writer, sequence and fragment of the last sample sent. If the same comes again, the same sample goes to another
 * reader. */
LOCAL uint64_t last_sent[4];
LOCAL const void *last_received; /* buffer of the last message from a socket */

bool samples_decide(void) {
  const char *directory = getenv("TACHO_EVENTS_DIR"), *wanted = getenv("TACHO_EVENTS_DDS");
  bool on = directory != NULL && *directory != '\0' && (wanted == NULL || strcmp(wanted, "off") != 0);
  atomic_store_explicit(&samples_state, on ? SAMPLES_ON : SAMPLES_OFF, memory_order_relaxed);
  return on;
}

#define WORDS(sample, transport)                                                                                     \
  {(sample).writer[0],      (sample).writer[1], (uint64_t)(sample).sequence, (uint64_t)(sample).source_timestamp_ns, \
   (sample).first_fragment, (sample).fragments, (sample).of_fragments,       (uint64_t)(transport)}

void samples_sent(const struct iovec *buffers, size_t count, size_t size, enum tacho_transport transport,
                  struct thread_moment at) {
  struct rtps_reader reader;
  struct rtps_sample sample;
  if (!rtps_open(&reader, buffers, count, size)) return;
  while (rtps_next(&reader, &sample)) {
    const uint64_t sent[] = {sample.writer[0], sample.writer[1], (uint64_t)sample.sequence, sample.first_fragment};
    if (memcmp(sent, last_sent, sizeof sent) == 0) continue;
    memcpy(last_sent, sent, sizeof sent);
    const uint64_t words[] = WORDS(sample, transport);
    thread_put_at(&at, TACHO_DDS_SEND, words, sizeof words / sizeof *words);
  }
}

void samples_received(const struct iovec *buffers, size_t count, size_t size, enum tacho_transport transport) {
  struct rtps_reader reader;
  struct rtps_sample sample;
  if (!rtps_open(&reader, buffers, count, size)) return;
  if (transport == TACHO_TRANSPORT_SOCKET) last_received = buffers[0].iov_base;
  while (rtps_next(&reader, &sample)) {
    const uint64_t words[] = WORDS(sample, transport);
    thread_put(TACHO_DDS_RECEIVE, words, sizeof words / sizeof *words);
  }
}

bool samples_came_by_socket(const void *buffer) { return last_received == buffer; }
