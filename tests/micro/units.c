/* SPDX-License-Identifier: Apache-2.0
 * Units: CDR in both byte orders and at its bounds, and the IP stack frame by frame. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ip.h"
#include "sensor_msgs_msg_JointState.h"
#include "std_msgs_msg_String.h"

#define EXPECT(condition)                                             \
  do {                                                                \
    if (!(condition)) {                                               \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
      exit(1);                                                        \
    }                                                                 \
  } while (0)

/* ---- CDR ---- */

static void values_are_aligned_to_their_width_and_little_endian(void) {
  uint8_t body[32] = {0};
  struct cdr_writer w = {.body = body, .size = sizeof body};
  uint8_t a = 1;
  uint64_t b = 0x1122334455667788u;
  uint16_t c = 0x99aa;
  cdr_write(&w, &a, 1, 1), cdr_write(&w, &b, 8, 1), cdr_write(&w, &c, 2, 1);
  static const uint8_t expected[] = {1,    0,    0,    0,    0,    0,    0,    0,    0x88,
                                     0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11, 0xaa, 0x99};
  EXPECT(!w.overflow && w.at == sizeof expected && memcmp(body, expected, sizeof expected) == 0);
}

static void both_byte_orders_are_read(void) {
  static const uint8_t big[] = {0, 0, 0, 3, 0, 1, 0, 2, 0, 3}, little[] = {3, 0, 0, 0, 1, 0, 2, 0, 3, 0};
  for (int is_little = 0; is_little < 2; is_little++) {
    struct cdr_reader r = {.body = is_little ? little : big, .size = 10, .little_endian = is_little};
    uint16_t values[3];
    EXPECT(cdr_read_length(&r, 3) == 3);
    cdr_read(&r, values, 2, 3);
    EXPECT(!r.bad && values[0] == 1 && values[1] == 2 && values[2] == 3);
  }
}

static void a_write_that_does_not_fit_makes_all_that_follow_do_nothing(void) {
  uint8_t body[6] = {0};
  struct cdr_writer w = {.body = body, .size = 6};
  uint32_t v = ~0u;
  uint8_t byte = 1;
  cdr_write(&w, &v, 4, 1), cdr_write(&w, &v, 4, 1), cdr_write(&w, &byte, 1, 1);
  EXPECT(w.overflow && w.at == 4 && body[4] == 0);
}

static void strings_must_end_in_their_bounds_and_in_nul(void) {
  static const struct {
    uint8_t bytes[12];
    uint32_t size, bound;
    bool bad;
    uint32_t length;
  } cases[] = {
      {{3, 0, 0, 0, 'a', 'b', 0}, 7, 0, false, 2},
      {{3, 0, 0, 0, 'a', 'b', 'c'}, 7, 0, true, 0},
      {{4, 0, 0, 0, 'a', 'b', 0}, 7, 0, true, 0},
      {{0, 0, 0, 0}, 4, 0, false, 0},
      {{0xff, 0xff, 0xff, 0xff, 0, 0, 0}, 7, 0, true, 0},
      {{3, 0, 0, 0, 'a', 'b', 0}, 7, 1, true, 0},
      {{3, 0, 0}, 3, 0, true, 0},
  };
  for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct cdr_reader r = {.body = cases[i].bytes, .size = cases[i].size, .little_endian = true};
    struct micro_string text;
    cdr_read_string(&r, &text, cases[i].bound);
    EXPECT(r.bad == cases[i].bad && text.size == cases[i].length && text.data[text.size] == 0);
  }
}

static void a_generated_message_comes_back(void) {
  static struct sensor_msgs_msg_JointState out, in;
  static uint8_t body[500];
  out.header.stamp.sec = -5;
  out.header.frame_id = MICRO_STRING("base");
  out.name.size = out.position.size = 2;
  out.name.data[0] = MICRO_STRING("left"), out.name.data[1] = MICRO_STRING("r");
  out.position.data[0] = 1.5, out.position.data[1] = -2.25;
  struct cdr_writer w = {.body = body, .size = sizeof body};
  sensor_msgs_msg_JointState_write(&w, &out);
  EXPECT(!w.overflow);
  struct cdr_reader r = {.body = body, .size = w.at, .little_endian = true};
  sensor_msgs_msg_JointState_read(&r, &in);
  EXPECT(!r.bad && r.at == w.at && in.header.stamp.sec == -5 && in.name.size == 2 && in.velocity.size == 0 &&
         in.position.data[1] == -2.25);
  EXPECT(in.name.data[1].size == 1 && in.name.data[1].data[0] == 'r');
  for (uint32_t size = 0; size < w.at;
       size++) { /* cut anywhere: an error, and nothing read beyond (the sanitizer looks) */
    uint8_t *cut = malloc(size + 1);
    memcpy(cut, body, size);
    r = (struct cdr_reader){.body = cut, .size = size, .little_endian = true};
    sensor_msgs_msg_JointState_read(&r, &in);
    EXPECT(r.bad);
    free(cut);
  }
  out.name.size = sensor_msgs_msg_JointState_name_MAX + 1;
  w = (struct cdr_writer){.body = body, .size = sizeof body};
  sensor_msgs_msg_JointState_write(&w, &out);
  EXPECT(w.overflow);
}

/* ---- IP ---- */

static uint8_t sent[8][FRAME_MAX], arriving[FRAME_MAX];
static uint32_t sent_size[8], sent_count, arriving_size, pieces, piece_bytes, piece_total;
static uint32_t now_ms = 1000;

void ethernet_address(uint8_t mac[6]) { memcpy(mac, "\2\0\12\0\0\1", 6); }
void ethernet_open(uint8_t mac[6]) { ethernet_address(mac); }
bool ethernet_send(const uint32_t *buffer, uint32_t size) {
  EXPECT(size <= FRAME_MAX && sent_count < 8);
  memcpy(sent[sent_count], (const uint8_t *)buffer + 2, size);
  sent_size[sent_count++] = size;
  return true;
}
uint32_t ethernet_receive(uint32_t buffer[FRAME_WORDS]) {
  uint32_t size = arriving_size;
  memcpy((uint8_t *)buffer + 2, arriving, size);
  arriving_size = 0;
  return size;
}
uint32_t micro_clock_ms(void) { return now_ms; }
void micro_receive(const struct udp_piece *piece) {
  EXPECT(piece->source == 0x0a000002 && piece->port == 7410 && piece->offset == piece_bytes % piece->total);
  for (uint32_t i = 0; i < piece->size; i++) EXPECT(piece->data[i] == (uint8_t)(piece->offset + i));
  pieces++;
  piece_bytes += piece->size;
  piece_total = piece->total;
}

static void stack_is_up(void) {
  ip_configure(0x0a000001, 0xffffff00, 0);
  EXPECT(micro_udp_open(7400, 0xefff0001) == 0);
  EXPECT(sent_count == 2 &&
         load16(sent[0] + 12) == 0x0806); /* says who it is, and joins the group: IGMPv2 report with router alert */
  static const uint8_t group_mac[6] = {1, 0, 0x5e, 0x7f, 0, 1};
  EXPECT(memcmp(sent[1], group_mac, 6) == 0 && sent[1][14] == 0x46 && sent[1][23] == 2 &&
         load32(sent[1] + 38) >> 24 == 0x16);
  EXPECT(checksum_end(checksum_add(0, sent[1] + 14, 24)) == 0 && checksum_end(checksum_add(0, sent[1] + 38, 8)) == 0);
}

/* An IP packet from 10.0.0.2 in `arriving`, its payload in place. */
static void packet(uint8_t protocol, uint32_t size, uint16_t fragment) {
  memcpy(arriving, "\2\0\12\0\0\1\2\0\12\0\0\2\x08\0\x45\0", 16);
  store16(arriving + 16, 20 + size), store16(arriving + 18, 42), store16(arriving + 20, fragment);
  arriving[22] = 64, arriving[23] = protocol;
  store16(arriving + 24, 0), store32(arriving + 26, 0x0a000002), store32(arriving + 30, 0x0a000001);
  uint16_t sum = checksum_end(checksum_add(0, arriving + 14, 20));
  memcpy(arriving + 24, &sum, 2);
  arriving_size = 34 + size;
}

static uint32_t datagram(uint8_t *to, uint32_t size) {
  store16(to, 9), store16(to + 2, 7410), store16(to + 4, size + 8), store16(to + 6, 0);
  for (uint32_t i = 0; i < size; i++) to[8 + i] = (uint8_t)i;
  uint16_t sum = checksum_end(checksum_add(checksum_pseudo(0x0a000002, 0x0a000001, size + 8), to, size + 8));
  memcpy(to + 6, &sum, 2);
  return size + 8;
}

static void checksums_are_verified(void) {
  uint32_t before = ip_counters()->checksum;
  packet(PROTOCOL_UDP, datagram(arriving + 34, 99), 0);
  micro_udp_poll();
  EXPECT(pieces == 1 && piece_bytes == 99 && ip_counters()->checksum == before);
  packet(PROTOCOL_UDP, datagram(arriving + 34, 99), 0);
  arriving[60] ^= 1;
  micro_udp_poll();
  EXPECT(pieces == 1 && ip_counters()->checksum == before + 1);
  packet(PROTOCOL_UDP, datagram(arriving + 34, 99), 0);
  arriving[24] ^= 1;
  micro_udp_poll();
  EXPECT(pieces == 1 && ip_counters()->checksum == before + 2);
  pieces = piece_bytes = 0;
}

static void fragments_go_up_as_they_come_and_only_in_order(void) {
  static uint8_t whole[4000];
  uint32_t size = datagram(whole, 3000), order[] = {0, 1, 2}, wrong[] = {0, 2, 1}, checksums = ip_counters()->checksum;
  for (int round = 0; round < 2; round++) {
    for (int i = 0; i < 3; i++) {
      uint32_t k = round ? wrong[i] : order[i], offset = k * 1480, n = k < 2 ? 1480 : size - offset;
      memcpy(arriving + 34, whole + offset, n);
      packet(PROTOCOL_UDP, n, (uint16_t)(offset / 8 | (k < 2 ? 0x2000 : 0)));
      if (round) store16(arriving + 18, 43);
      uint16_t sum = 0;
      memcpy(arriving + 24, &sum, 2);
      sum = checksum_end(checksum_add(0, arriving + 14, 20));
      memcpy(arriving + 24, &sum, 2);
      micro_udp_poll();
    }
    if (!round)
      EXPECT(pieces == 3 && piece_bytes == 3000 && piece_total == 3000 && ip_counters()->checksum == checksums);
    if (!round) pieces = piece_bytes = 0;
  }
  EXPECT(pieces == 2 && ip_counters()->fragments == 1); /* 0, then 1; 2 came too early */
}

static void echo_and_arp_are_answered(void) {
  sent_count = 0;
  memset(arriving + 34, 0x5a, 64);
  store32(arriving + 34, 0x08000000);
  uint16_t sum = checksum_end(checksum_add(0, arriving + 34, 64));
  memcpy(arriving + 36, &sum, 2);
  packet(PROTOCOL_ICMP, 64, 0);
  micro_udp_poll();
  EXPECT(sent_count == 1 && sent[0][34] == 0 && sent[0][40] == 0x5a &&
         checksum_end(checksum_add(0, sent[0] + 34, 64)) == 0);
  static const uint8_t request[42] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 0, 10, 0, 0,  3, 8, 6,
                                      0,    1,    8,    0,    6,    4,    0, 1, 2,  0, 10, 0, 0, 3,
                                      10,   0,    0,    3,    0,    0,    0, 0, 0,  0, 10, 0, 0, 1};
  memcpy(arriving, request, 42);
  arriving_size = 42;
  micro_udp_poll();
  EXPECT(sent_count == 2 && load16(sent[1] + 20) == 2 && load32(sent[1] + 38) == 0x0a000003);
  EXPECT(micro_udp_send(0x0a000003, 7410, 7410, 4) && sent_count == 3 &&
         memcmp(sent[2], request + 6, 6) == 0); /* it was learned */
  EXPECT(!micro_udp_send(0x0a000004, 7410, 7410, 4) && sent_count == 4 &&
         load16(sent[3] + 12) == 0x0806);                                /* unknown: asked for */
  EXPECT(!micro_udp_send(0x0b000004, 7410, 7410, 4) && sent_count == 4); /* no way there */
}

int main(void) {
  values_are_aligned_to_their_width_and_little_endian();
  both_byte_orders_are_read();
  a_write_that_does_not_fit_makes_all_that_follow_do_nothing();
  strings_must_end_in_their_bounds_and_in_nul();
  a_generated_message_comes_back();
  stack_is_up();
  checksums_are_verified();
  fragments_go_up_as_they_come_and_only_in_order();
  echo_and_arp_are_answered();
  puts("units: all right");
  return 0;
}
