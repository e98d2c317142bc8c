/* SPDX-License-Identifier: Apache-2.0
 * libFuzzer: Ethernet frames to the boards' IP stack with the node on it.
 *
 * Input: the first byte says what it is. 0: a UDP payload, which is put in a right frame to discovery; 1: the same, in IP fragments of 8 times the
 * second byte; otherwise: frames, each after a byte of its size in words, their IP header checksums made right unless bit 7 is set. */
#include <stdlib.h>
#include <string.h>

#include "ip.h"
#include "tacho_micro.h"

static uint32_t now_ms;
static uint8_t next[FRAME_MAX];
static uint32_t next_size;
static volatile uint8_t seen;

void ethernet_address(uint8_t mac[6]) { memcpy(mac, "\2\0\12\0\0\1", 6); }
void ethernet_open(uint8_t mac[6]) { ethernet_address(mac); }
bool ethernet_send(const uint32_t *buffer, uint32_t size) {
  if (size > FRAME_MAX) __builtin_trap();
  for (uint32_t i = 0; i < size; i++) seen ^= ((const uint8_t *)buffer)[2 + i];
  return true;
}
uint32_t ethernet_receive(uint32_t buffer[FRAME_WORDS]) {
  uint32_t size = next_size;
  memcpy((uint8_t *)buffer + 2, next, size);
  next_size = 0;
  return size;
}
uint32_t micro_clock_ms(void) { return now_ms; }
uint64_t micro_clock_ns(void) { return (uint64_t)now_ms * 1000000u; }
bool micro_unix_time(uint32_t *seconds, uint32_t *fraction) {
  (void)seconds, (void)fraction;
  return false;
}
uint32_t micro_entropy(void) { return 7; }

static void on_message(const struct micro_message *message) { seen ^= (uint8_t)message->sequence; }
static const struct micro_type type = {"test::msg::dds_::Blob_", NULL};
static uint32_t storage[MICRO_WRITER_WORDS(2, 100)];
static const struct micro_endpoint endpoints[] = {
    {.topic = "rt/blob", .type = &type, .qos = MICRO_RELIABLE, .depth = 2, .size = 100, .storage = storage},
    {.topic = "rt/blob", .type = &type, .on_message = on_message},
};
static const struct micro_node node = {.name = "fuzzed", .ns = "/", .endpoints = endpoints, .endpoint_count = 2};

static void header(uint32_t size, uint16_t fragment) {
  memcpy(next, "\1\0\x5e\x7f\0\1\2\0\12\0\0\2\x08\0\x45\0", 16);
  store16(next + 16, 20 + size);
  store16(next + 18, 77);
  store16(next + 20, fragment);
  memcpy(next + 22, "\1\21\0\0\12\0\0\2\xef\xff\0\1", 12);
  uint16_t sum = checksum_end(checksum_add(0, next + 14, 20));
  memcpy(next + 24, &sum, 2);
  next_size = 34 + size;
  now_ms++;
  micro_spin();
}

static void udp(const uint8_t *data, uint32_t size, uint32_t part) {
  uint8_t datagram[3000];
  if (size > sizeof datagram - 8) size = sizeof datagram - 8;
  store16(datagram, 9999), store16(datagram + 2, 7400), store16(datagram + 4, size + 8), store16(datagram + 6, 0);
  memcpy(datagram + 8, data, size);
  size += 8;
  if (part == 0 || part > 1480) part = 1480;
  for (uint32_t offset = 0; offset < size; offset += part) {
    uint32_t n = size - offset < part ? size - offset : part;
    memcpy(next + 34, datagram + offset, n);
    header(n, (uint16_t)(offset / 8 | (offset + n < size ? 0x2000u : 0u)));
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 2) return 0;
  now_ms = 0;
  memset(&ip, 0, sizeof ip);
  ip_configure(0x0a000001, 0xffffff00, 0x0a0000fe);
  if (!micro_init(&node)) abort();
  if (data[0] == 0) {
    udp(data + 1, (uint32_t)size - 1, 1480);
  } else if (data[0] == 1) {
    udp(data + 2, (uint32_t)size - 2, data[1] * 8u);
  } else {
    for (size_t at = 0; at + 1 < size;) {
      uint32_t n = (data[at] & 0x7fu) * 8u, left = (uint32_t)(size - at - 1);
      if (n > left) n = left;
      if (n > FRAME_MAX) n = FRAME_MAX;
      memcpy(next, data + at + 1, n);
      if (!(data[at] & 0x80) && n >= 34) {
        uint32_t length = (next[14] & 15u) * 4;
        memset(next + 24, 0, 2);
        if (14 + length <= n) {
          uint16_t sum = checksum_end(checksum_add(0, next + 14, length));
          memcpy(next + 24, &sum, 2);
        }
      }
      next_size = n;
      now_ms += 3;
      micro_spin();
      at += 1 + n;
    }
  }
  for (int i = 0; i < 20; i++) {
    now_ms += 13;
    micro_spin();
  }
  return 0;
}
