/* SPDX-License-Identifier: Apache-2.0
 * Builds a message (RTPS 9.4) in the port's buffer, in little endian. */
#include "rtps.h"

static uint8_t *message, *cursor, *end;
static bool overflow;

/* Returns room for `size` bytes. If there is none, the bytes go to a harmless place, and the message is not sent. */
static uint8_t *take(uint32_t size) {
  uint8_t *at = cursor;
  if (size > (uint32_t)(end - at)) {
    overflow = true;
    at = message;
    if (size > UDP_PAYLOAD) size = 0;
  }
  cursor = at + size;
  return at;
}

/* Most of a message consists of words. Each is stored into room that was reserved for several at once. */
INLINE void set32(uint8_t *p, uint32_t value) {
  if (__BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__) value = __builtin_bswap32(value);
  memcpy(p, &value, 4);
}

INLINE void set64(uint8_t *p, uint64_t value) {
  set32(p, (uint32_t)(value >> 32));
  set32(p + 4, (uint32_t)value);
}

INLINE void set_entity(uint8_t *p, uint32_t entity) { set32(p, __builtin_bswap32(entity)); }

INLINE void set_prefix(uint8_t *p, const uint8_t *prefix) {
  for (unsigned i = 0; i < 12; i += 4) set32(p + i, get32(prefix + i, true));
}

void put8(uint8_t value) { *take(1) = value; }

void put16(uint16_t value) {
  uint8_t *p = take(2);
  p[0] = (uint8_t)value;
  p[1] = (uint8_t)(value >> 8);
}

void put32(uint32_t value) { set32(take(4), value); }

void put64(uint64_t value) { set64(take(8), value); }

void put_bytes(const void *bytes, uint32_t size) {
  uint8_t *p = take(size);
  if (!overflow) memcpy(p, bytes, size);
}

void put_zeros(uint32_t size) {
  uint8_t *p = take(size);
  if (!overflow) memset(p, 0, size);
}

void put_entity(uint32_t entity) { set_entity(take(4), entity); }

uint32_t composed(void) { return (uint32_t)(cursor - message); }

static void align(void) {
  for (uint32_t n = -composed() & 3u; n; n--) put8(0);
}

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
  return composed();
}

void close_submessage(uint32_t mark) {
  align();
  uint32_t size = composed() - mark;
  message[mark - 2] = (uint8_t)size;
  message[mark - 1] = (uint8_t)(size >> 8);
}

void begin(const uint8_t *to_prefix) {
  uint8_t *p = message = cursor = micro_udp_buffer();
  end = p + UDP_PAYLOAD;
  overflow = false;
  take(to_prefix ? 36 : 20);
  set32(p, 'R' | 'T' << 8 | 'P' << 16 | (uint32_t)'S' << 24);
  set32(p + 4, 2u | 3u << 8 | (MICRO_VENDOR >> 8) << 16 | (MICRO_VENDOR & 0xffu) << 24);
  set_prefix(p + 8, self.prefix);
  if (!to_prefix) return;
  set32(p + 20, 12u << 16 | LITTLE_ENDIAN_FLAG << 8 | INFO_DST);
  set_prefix(p + 24, to_prefix);
}

void put_time(uint32_t seconds, uint32_t fraction) {
  if (!(seconds | fraction)) return;
  uint8_t *p = take(12);
  set32(p, 8u << 16 | LITTLE_ENDIAN_FLAG << 8 | INFO_TS);
  set32(p + 4, seconds);
  set32(p + 8, fraction);
}

void put_nothing(uint32_t size) { take(size); }

uint32_t open_data(uint32_t reader, uint32_t writer, uint64_t sequence, uint8_t flags) {
  uint8_t *p = take(24);
  uint32_t mark = composed() - 20;
  set32(p, (uint32_t)flags << 8 | LITTLE_ENDIAN_FLAG << 8 | DATA);
  set32(p + 4, 16u << 16); /* no extra flags; 16 bytes to the inline QoS or payload */
  set_entity(p + 8, reader);
  set_entity(p + 12, writer);
  set64(p + 16, sequence);
  return mark;
}

void put_heartbeat(uint32_t reader, uint32_t writer, uint64_t first, uint64_t last) {
  uint8_t *p = take(32);
  set32(p, 28u << 16 | LITTLE_ENDIAN_FLAG << 8 | HEARTBEAT);
  set_entity(p + 4, reader);
  set_entity(p + 8, writer);
  set64(p + 12, first);
  set64(p + 20, last);
  set32(p + 28, ++self.count);
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
  else if (!micro_udp_send(address, self.metatraffic, port, composed()))
    self.counters.send_refused++;
}
