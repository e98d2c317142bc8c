/* SPDX-License-Identifier: Apache-2.0
 * The messages that nodes of tacho-micro exchange, and what became of them. */
#include <string.h>

#include "torture.h"

const struct micro_type blob = {"test::msg::dds_::Blob_", NULL};

int publish(struct node *n, uint32_t number, uint32_t size) {
  struct cdr_writer cdr = n->loan(0);
  n->cdr_write(&cdr, &number, 4, 1);
  n->cdr_write(&cdr, &size, 4, 1);
  for (uint32_t i = 8; i < size; i++) {
    uint8_t byte = (uint8_t)(number * 31 + i * 7);
    n->cdr_write(&cdr, &byte, 1, 1);
  }
  return n->publish(0, &cdr);
}

uint32_t heard, first_heard, last_heard, disordered, corrupt;
uint64_t first_heard_us, last_heard_us;

void on_message(const struct micro_message *message) {
  const uint8_t *body = message->cdr.body;
  uint32_t number, size;
  EXPECT(message->cdr.little_endian, "byte order");
  if (message->cdr.size < 8) {
    corrupt++;
    return;
  }
  memcpy(&number, body, 4);
  memcpy(&size, body + 4, 4);
  bool right = size >= 8 && message->cdr.size >= size && message->cdr.size < size + 4; /* the message ends on a word */
  for (uint32_t i = 8; right && i < size; i++) right = body[i] == (uint8_t)(number * 31 + i * 7);
  if (!right) {
    corrupt++;
    return;
  }
  if (heard++ == 0) {
    first_heard = number;
    first_heard_us = now_us;
  } else if (number <= last_heard) {
    disordered++;
  }
  last_heard = number;
  last_heard_us = now_us;
}

static uint32_t writer_storage[NODES_MAX][MICRO_WRITER_WORDS(8, MESSAGE_MAX)],
    reader_storage[NODES_MAX][MICRO_READER_WORDS(MESSAGE_MAX)];
struct micro_endpoint endpoints[NODES_MAX][8];
struct micro_node micro_nodes[NODES_MAX];

struct node *start_writer(uint8_t qos, uint16_t depth) {
  struct node *n = new_node();
  long i = n - nodes;
  endpoints[i][0] = (struct micro_endpoint){
      .topic = "rt/blob", .type = &blob, .qos = qos, .depth = depth, .size = MESSAGE_MAX, .storage = writer_storage[i]};
  micro_nodes[i] = (struct micro_node){.name = "writer", .ns = "/", .endpoints = endpoints[i], .endpoint_count = 1};
  start(n, &micro_nodes[i]);
  return n;
}

struct node *start_reader(uint8_t qos) {
  struct node *n = new_node();
  long i = n - nodes;
  endpoints[i][0] = (struct micro_endpoint){.topic = "rt/blob",
                                            .type = &blob,
                                            .qos = qos,
                                            .on_message = on_message,
                                            .size = MESSAGE_MAX,
                                            .storage = reader_storage[i]};
  micro_nodes[i] = (struct micro_node){.name = "reader", .ns = "/", .endpoints = endpoints[i], .endpoint_count = 1};
  start(n, &micro_nodes[i]);
  return n;
}

void run_until_matched(struct node *a, struct node *b, uint32_t within_ms) {
  for (uint32_t ms = 0; !(a->matched(0) && b->matched(0)); ms++) {
    EXPECT(ms < within_ms, "not matched within %u ms of virtual time", within_ms);
    step(1000);
  }
}

void exchange_reliably(struct node *writer, uint32_t count, uint32_t largest) {
  uint32_t sent = 0;
  heard = disordered = corrupt = 0;
  for (uint64_t ms = 0; heard < count; ms++) {
    EXPECT(ms < 400000, "stuck: %u of %u heard, %u sent", heard, count, sent);
    if (sent < count && (writer->acknowledged(0) || (sent % 4 && ms % 10 == 0))) {
      sent++;
      EXPECT(publish(writer, sent, 8 + randomly(largest - 7)) == 1, "message %u", sent);
    }
    step(1000);
  }
  EXPECT(heard == count && first_heard == 1 && last_heard == count && disordered == 0 && corrupt == 0,
         "heard %u of %u, first %u, last %u, %u out of order, %u corrupt", heard, count, first_heard, last_heard,
         disordered, corrupt);
}
