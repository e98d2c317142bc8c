/* SPDX-License-Identifier: Apache-2.0
 * Building a message (RTPS 9.4) in the port's buffer. We write little endian. */
#include "rtps.h"

static uint8_t *message;
static uint32_t used;
static bool overflow;

static uint8_t *take(uint32_t size) {
  if (size > UDP_PAYLOAD - used) {
    overflow = true;
    used = 24; /* what follows goes nowhere: the message is not sent */
    if (size > UDP_PAYLOAD - used) return NULL;
  }
  uint8_t *at = message + used;
  used += size;
  return at;
}

void put8(uint8_t value) {
  uint8_t *p = take(1);
  *p = value;
}

void put16(uint16_t value) {
  uint8_t *p = take(2);
  p[0] = (uint8_t)value;
  p[1] = (uint8_t)(value >> 8);
}

void put32(uint32_t value) {
  uint8_t *p = take(4);
  p[0] = (uint8_t)value;
  p[1] = (uint8_t)(value >> 8);
  p[2] = (uint8_t)(value >> 16);
  p[3] = (uint8_t)(value >> 24);
}

void put64(uint64_t value) {
  put32((uint32_t)(value >> 32));
  put32((uint32_t)value);
}

void put_bytes(const void *bytes, uint32_t size) {
  uint8_t *p = take(size);
  if (p) memcpy(p, bytes, size);
}

void put_zeros(uint32_t size) {
  uint8_t *p = take(size);
  if (p) memset(p, 0, size);
}

void put_entity(uint32_t entity) {
  put32(entity >> 24 | (entity >> 8 & 0xff00u) | (entity & 0xff00u) << 8 | entity << 24);
}

static void align(void) { put_zeros(-used & 3u); }

void put_parameter(uint16_t id, uint16_t size) { put32((uint32_t)size << 16 | id); }

void put_string(uint16_t id, const char *a, const char *b) {
  uint32_t first = (uint32_t)strlen(a), second = (uint32_t)strlen(b), size = first + second + 1;
  put_parameter(id, (uint16_t)(4 + ((size + 3) & ~3u)));
  put32(size);
  put_bytes(a, first);
  put_bytes(b, second + 1);
  align();
}

uint32_t open_submessage(uint8_t id, uint8_t flags) {
  put32((uint32_t)flags << 8 | LITTLE_ENDIAN_FLAG << 8 | id);
  return used;
}

void close_submessage(uint32_t mark) {
  align();
  uint32_t size = used - mark;
  message[mark - 2] = (uint8_t)size;
  message[mark - 1] = (uint8_t)(size >> 8);
}

void begin(const uint8_t *to_prefix) {
  static const uint8_t head[8] = {'R', 'T', 'P', 'S', 2, 3, MICRO_VENDOR >> 8, MICRO_VENDOR & 0xff};
  message = udp_buffer();
  used = 0;
  overflow = false;
  put_bytes(head, 8);
  put_bytes(self.prefix, 12);
  if (to_prefix) {
    put32(12u << 16 | LITTLE_ENDIAN_FLAG << 8 | INFO_DST);
    put_bytes(to_prefix, 12);
  }
}

uint32_t composed(void) { return used; }

void put_time(uint32_t seconds, uint32_t fraction) {
  if (!(seconds | fraction)) return;
  put32(8u << 16 | LITTLE_ENDIAN_FLAG << 8 | INFO_TS);
  put32(seconds);
  put32(fraction);
}

void put_nothing(uint32_t size) { take(size); }

uint32_t open_data(uint32_t reader, uint32_t writer, uint64_t sequence, uint8_t flags) {
  uint32_t mark = open_submessage(DATA, flags);
  put32(16u << 16); /* no extra flags; 16 bytes to the inline QoS or payload */
  put_entity(reader);
  put_entity(writer);
  put64(sequence);
  return mark;
}

void put_heartbeat(uint32_t reader, uint32_t writer, uint64_t first, uint64_t last) {
  uint32_t mark = open_submessage(HEARTBEAT, 0);
  put_entity(reader);
  put_entity(writer);
  put64(first);
  put64(last);
  put32(++self.count);
  close_submessage(mark);
}

void put_gap(uint32_t reader, uint32_t writer, uint64_t first, uint64_t next) {
  uint32_t mark = open_submessage(GAP, 0);
  put_entity(reader);
  put_entity(writer);
  put64(first);
  put64(next);
  put32(0);
  close_submessage(mark);
}

void send_to(uint32_t address, uint16_t port) {
  if (overflow)
    self.counters.oversized++;
  else if (!udp_send(address, self.metatraffic, port, used))
    self.counters.send_refused++;
}
