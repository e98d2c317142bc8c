/* SPDX-License-Identifier: Apache-2.0
 * The ring of the node's own events, and how they are sent. A full ring drops and counts; it never overwrites unsent
 * events. */
#include "rtps.h"

#if MICRO_EVENTS

/* The format on the wire, little endian (docs/micro.md): a head, then event after event. */
#define HEAD_BYTES 24u
#define EVENT_BYTES 34u

static MICRO_EVENTS_SECTION struct micro_event ring[MICRO_EVENTS];
static uint32_t written, sent;
static unsigned publishing = ~0u; /* the endpoint that sends them: its own messages make no events */

static struct micro_event *next_event(uint8_t kind, uint8_t endpoint, uint64_t sequence) {
  if (written - sent == MICRO_EVENTS) {
    self.counters.events_dropped++;
    return NULL;
  }
  struct micro_event *event = &ring[written++ % MICRO_EVENTS];
  event->time_ns = micro_clock_ns();
  event->sequence = sequence;
  event->kind = kind;
  event->endpoint = endpoint;
  return event;
}

void event(uint8_t kind, uint8_t endpoint, const uint8_t *prefix, uint32_t entity, uint64_t sequence) {
  if (kind == MICRO_EVENT_INIT) written = sent = 0;
  if (endpoint == publishing) return;
  struct micro_event *event = next_event(kind, endpoint, sequence);
  if (!event) return;
  memcpy(event->writer_guid, prefix, 12);
  for (int i = 0; i < 4; i++) event->writer_guid[12 + i] = (uint8_t)(entity >> (24 - 8 * i));
}

void micro_record(uint8_t kind, uint8_t endpoint, const uint8_t bytes[16], uint64_t number) {
  struct micro_event *event = next_event(kind, endpoint, number);
  if (event) memcpy(event->writer_guid, bytes, 16);
}

static void put_number(struct cdr_writer *cdr, uint64_t value) {
  /* Written byte by byte, because nothing is aligned within a sequence of bytes. */
  for (unsigned k = 0; k < 8; k++) {
    uint8_t byte = (uint8_t)(value >> (k * 8));
    cdr_write(cdr, &byte, 1, 1);
  }
}

unsigned micro_publish_events(unsigned endpoint) {
  uint32_t n = written - sent, zero = 0;
  publishing = endpoint;
  /* Events that have not arrived yet must not be overwritten. */
  if (n == 0 || micro_matched(endpoint) == 0 || !micro_acknowledged(endpoint)) return 0;
  struct cdr_writer cdr = micro_loan(endpoint);
  /* std_msgs/msg/UInt8MultiArray: layout (no dimensions, data_offset: events dropped so far), then the bytes. */
  cdr_write(&cdr, &zero, 4, 1);
  cdr_write(&cdr, &self.counters.events_dropped, 4, 1);
  while (n > 1 && 12 + HEAD_BYTES + n * EVENT_BYTES > cdr.size) n--;
  cdr_write_length(&cdr, HEAD_BYTES + n * EVENT_BYTES, UINT32_MAX);
  put_number(&cdr, self.published[endpoint]);
  put_number(&cdr, micro_clock_ns());
  put_number(&cdr, (uint64_t)self.counters.events_dropped << 32 | MICRO_EVENTS_PUBLISHER);
  for (uint32_t i = 0; i < n; i++) {
    const struct micro_event *event = &ring[(sent + i) % MICRO_EVENTS];
    put_number(&cdr, event->time_ns);
    put_number(&cdr, event->sequence);
    cdr_write(&cdr, event->writer_guid, 1, 16);
    cdr_write(&cdr, &event->kind, 1, 1);
    cdr_write(&cdr, &event->endpoint, 1, 1);
  }
  if (micro_publish(endpoint, &cdr) <= 0) return 0;
  sent += n;
  return n;
}

#else
void micro_record(uint8_t kind, uint8_t endpoint, const uint8_t bytes[16], uint64_t number) {
  (void)kind, (void)endpoint, (void)bytes, (void)number;
}

unsigned micro_publish_events(unsigned endpoint) {
  (void)endpoint;
  return 0;
}
#endif
