/* SPDX-License-Identifier: Apache-2.0
 * The ring of the node's own events, and sending it. A full ring drops and counts; it never overwrites what was not sent. */
#include "rtps.h"

#if MICRO_EVENTS

/* As it goes out, little endian (docs/micro.md): event, then the same of the next. */
#define EVENT_BYTES 34u

static struct micro_event ring[MICRO_EVENTS];
static uint32_t written, sent;
static unsigned publishing = ~0u; /* the endpoint that sends them: its own messages make no events */

void event(uint8_t kind, uint8_t endpoint, const uint8_t *prefix, uint32_t entity, uint64_t sequence) {
  if (kind == MICRO_EVENT_INIT) written = sent = 0;
  if (endpoint == publishing) return;
  if (written - sent == MICRO_EVENTS) {
    self.counters.events_dropped++;
    return;
  }
  struct micro_event *event = &ring[written++ % MICRO_EVENTS];
  event->time_ns = micro_clock_ns();
  event->sequence = sequence;
  event->kind = kind;
  event->endpoint = endpoint;
  memcpy(event->writer_guid, prefix, 12);
  for (int i = 0; i < 4; i++) event->writer_guid[12 + i] = (uint8_t)(entity >> (24 - 8 * i));
}

unsigned micro_publish_events(unsigned endpoint) {
  uint32_t n = written - sent, zero = 0;
  publishing = endpoint;
  if (n == 0 || micro_matched(endpoint) == 0) return 0;
  struct cdr_writer cdr = micro_loan(endpoint);
  /* std_msgs/msg/UInt8MultiArray: layout (no dimensions, data_offset: events dropped so far), then the bytes. */
  cdr_write(&cdr, &zero, 4, 1);
  cdr_write(&cdr, &self.counters.events_dropped, 4, 1);
  while (n > 1 && 12 + n * EVENT_BYTES > cdr.size) n--;
  cdr_write_length(&cdr, n * EVENT_BYTES, UINT32_MAX);
  for (uint32_t i = 0; i < n; i++) {
    const struct micro_event *event = &ring[(sent + i) % MICRO_EVENTS];
    /* Byte by byte: within a sequence of bytes nothing is aligned. */
    for (unsigned k = 0; k < 16; k++) {
      uint64_t value = k < 8 ? event->time_ns : event->sequence;
      uint8_t byte = (uint8_t)(value >> (k % 8 * 8));
      cdr_write(&cdr, &byte, 1, 1);
    }
    cdr_write(&cdr, event->writer_guid, 1, 16);
    cdr_write(&cdr, &event->kind, 1, 1);
    cdr_write(&cdr, &event->endpoint, 1, 1);
  }
  if (micro_publish(endpoint, &cdr) <= 0) return 0;
  sent += n;
  return n;
}

#else
unsigned micro_publish_events(unsigned endpoint) {
  (void)endpoint;
  return 0;
}
#endif
