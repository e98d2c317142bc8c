/* SPDX-License-Identifier: Apache-2.0
 * libFuzzer: datagrams to a node that knows a participant with a matching reader and writer.
 *
 * Input: datagrams, each after a byte that says how it arrives: bit 0: patched to come from the known participant; bit 1: in pieces; bits 2 to 7:
 * milliseconds that pass. Input is divided at the text RTPS. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simulated.h"

static uint64_t now_us;
static uint32_t writer_storage[MICRO_WRITER_WORDS(4, 6000)], reader_storage[MICRO_READER_WORDS(6000)];
static volatile uint8_t seen;

static void on_send(uint32_t from, uint32_t to, uint16_t port, const uint8_t *data, uint32_t size) {
  (void)from, (void)to, (void)port;
  for (uint32_t i = 0; i < size; i++) seen ^= data[i];
}

static void on_message(const struct micro_message *message) {
  struct cdr_reader cdr = message->cdr;
  struct micro_string text;
  cdr_read_string(&cdr, &text, 0);
  for (uint32_t i = 0; i <= text.size; i++) seen ^= (uint8_t)text.data[i];
  for (uint32_t i = 0; i < message->cdr.size; i++) seen ^= message->cdr.body[i];
}

static const struct micro_type type = {"test::msg::dds_::Blob_", "RIHS01_00"};
static const struct micro_endpoint endpoints[] = {
    {.topic = "rt/blob",
     .type = &type,
     .qos = MICRO_RELIABLE | MICRO_TRANSIENT_LOCAL,
     .depth = 4,
     .size = 6000,
     .storage = writer_storage},
    {.topic = "rt/blob",
     .type = &type,
     .qos = MICRO_RELIABLE,
     .on_message = on_message,
     .size = 6000,
     .storage = reader_storage},
    {.topic = "rt/blob", .type = &type, .on_message = on_message},
};
static const struct micro_node node = {.name = "fuzzed", .ns = "/", .endpoints = endpoints, .endpoint_count = 3};

static const uint8_t prefix[12] = {1, 15, 9, 9, 1, 2, 3, 4, 5, 6, 7, 8};

/* SPDP, then a reader (entity 0x104) and a writer (0x203) of the topic, and their acknowledgements of ours. */
static void introduce(void) {
  uint8_t message[600] = "RTPS\2\3\1\x0f";
  uint32_t n = 20, at;
  memcpy(message + 8, prefix, 12);
#define BYTES(...)                                                                  \
  (memcpy(message + n, (uint8_t[]){__VA_ARGS__}, sizeof((uint8_t[]){__VA_ARGS__})), \
   n += sizeof((uint8_t[]){__VA_ARGS__}))
  at = n;
  BYTES(0x15, 5, 0, 0, 0, 0, 16, 0, 0, 0, 0, 0, 0, 1, 0, 0xc2, 0, 0, 0, 0, 1, 0, 0, 0, 0, 3, 0, 0);
  BYTES(0x32, 0, 24, 0, 1, 0, 0, 0, 0xf2, 0x1c, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 10, 9, 9, 9, 1, 0, 0, 0);
  message[at + 2] = (uint8_t)(n - at - 4);
  for (uint8_t k = 3; k <= 4; k++) {
    at = n;
    BYTES(0x15, 5, 0, 0, 0, 0, 16, 0, 0, 0, k, 0xc7, 0, 0, k, 0xc2, 0, 0, 0, 0, 1, 0, 0, 0, 0, 3, 0, 0, 0x5a, 0, 16, 0);
    memcpy(message + n, prefix, 12), n += 12;
    BYTES(0, 0, (uint8_t)(5 - k), k, 5, 0, 12, 0, 8, 0, 0, 0, 'r', 't', '/', 'b', 'l', 'o', 'b', 0, 7, 0, 28, 0, 23, 0,
          0, 0);
    memcpy(message + n, "test::msg::dds_::Blob_\0", 24), n += 24;
    BYTES(0x1a, 0, 12, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0);
    message[at + 2] = (uint8_t)(n - at - 4);
    /* It has acknowledged both of our endpoints of the other kind: the graph's writer and another, or two readers. */
    BYTES(6, 3, 24, 0, 0, 0, k, 0xc7, 0, 0, k, 0xc2, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0);
  }
  struct udp_piece piece = {.source = 0x0a090909, .port = 7400, .data = message, .size = n, .total = n};
  micro_receive(&piece);
  if (micro_matched(0) != 1 || micro_matched(1) != 1 || micro_matched(2) != 1) abort(); /* fuzzing would not get far */
}

/* Each piece has memory of exactly its size. */
static void receive(const uint8_t *data, uint32_t offset, uint32_t size, uint32_t total) {
  uint8_t *exact = malloc(size ? size : 1);
  memcpy(exact, data + offset, size);
  struct udp_piece piece = {
      .source = 0x0a090909, .port = 7410, .data = exact, .size = size, .offset = offset, .total = total};
  micro_receive(&piece);
  free(exact);
}

static void datagram(uint8_t how, const uint8_t *data, uint32_t size) {
  uint8_t *copy = malloc(size ? size : 1);
  memcpy(copy, data, size);
  if (how & 1 && size >= 20) memcpy(copy + 8, prefix, 12);
  uint32_t part = how & 2 ? 64 + (how & 0x38u) * 8u : size;
  if (part >= size) part = size;
  if (size == 0) receive(copy, 0, 0, 0);
  for (uint32_t offset = 0; offset < size; offset += part)
    receive(copy, offset, size - offset < part ? size - offset : part, size);
  free(copy);
  now_us += (how >> 2) * 1000u;
  micro_spin();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct simulated_hooks hooks = {.address = 0x0a000001, .entropy = 1, .now_us = &now_us, .send = on_send};
  now_us = 0;
  simulated_set(&hooks);
  memset(writer_storage, 0, sizeof writer_storage);
  memset(reader_storage, 0, sizeof reader_storage);
  if (!micro_init(&node)) abort();
  introduce();
  for (uint32_t i = 0; i < 3; i++) {
    static const uint8_t body[5000];
    struct cdr_writer cdr = micro_loan(0);
    cdr_write(&cdr, body, 1, i * 2000);
    micro_publish(0, &cdr);
  }
  size_t from = 0;
  for (size_t i = 1; i <= size; i++) {
    if (i < size && (i + 5 > size || memcmp(data + i + 1, "RTPS", 4) != 0)) continue;
    datagram(data[from], data + from + 1, (uint32_t)(i - from - 1));
    from = i;
    if (i == size) break;
  }
  for (int i = 0; i < 70; i++) {
    now_us += 5000;
    micro_spin();
  }
  return 0;
}
