/* SPDX-License-Identifier: Apache-2.0
 * Nodes of tacho-micro in virtual time, the network between them, and the messages that they exchange. */
#ifndef TORTURE_H_
#define TORTURE_H_

#include <stdio.h>
#include <stdlib.h>

#include "simulated.h"

#define NODES_MAX 72
#define MESSAGE_MAX 20000

#define EXPECT(condition, ...)                                        \
  do {                                                                \
    if (!(condition)) {                                               \
      fprintf(stderr, "%s:%d: %s: ", __FILE__, __LINE__, #condition); \
      fprintf(stderr, __VA_ARGS__);                                   \
      fputc('\n', stderr);                                            \
      exit(1);                                                        \
    }                                                                 \
  } while (0)

/* One node: its copy of the library. */
struct node {
  void (*init)(const struct micro_node *);
  void (*spin)(void);
  void (*close)(void);
  struct cdr_writer (*loan)(unsigned);
  int (*publish)(unsigned, const struct cdr_writer *);
  unsigned (*matched)(unsigned);
  bool (*acknowledged)(unsigned);
  unsigned (*peers)(void);
  const struct micro_counters *(*counters)(void);
  void (*receive)(const struct udp_piece *);
  void (*set)(const struct simulated_hooks *);
  void (*cdr_write)(struct cdr_writer *, const void *, uint32_t, uint32_t);
  bool up;
};

/* torture_network.c: each node is a copy of the library of its own (the library is one participant, all static). */
extern struct node nodes[NODES_MAX];
extern const char *library, *library_scenario;
extern uint64_t now_us, state, datagrams;

struct network {
  uint32_t loss, twice, cut, flip; /* percent */
  uint32_t delay_us, jitter_us;
  bool split; /* some datagrams arrive in pieces, as IP fragments do */
};
extern struct network network;

uint32_t randomly(uint32_t below);
/* Puts a datagram on its way to the node of address `to`. */
void launch(uint32_t from, uint32_t to, uint16_t port, const uint8_t *data, uint32_t size);
/* What has arrived by then is delivered, in the order of arrival, then every node has its turn. */
void step(uint32_t us);
void run_ms(uint32_t ms);
struct node *new_node(void);
void start(struct node *n, const struct micro_node *node);

/* torture_messages.c: a message is its number, its size, then bytes that follow from both. */
extern const struct micro_type blob;
extern struct micro_endpoint endpoints[NODES_MAX][8];
extern struct micro_node micro_nodes[NODES_MAX];
extern uint32_t heard, first_heard, last_heard, disordered, corrupt;
extern uint64_t first_heard_us, last_heard_us;

int publish(struct node *n, uint32_t number, uint32_t size);
/* Counts a message in `heard` and those beside it. */
void on_message(const struct micro_message *message);
struct node *start_writer(uint8_t qos, uint16_t depth);
struct node *start_reader(uint8_t qos);
void run_until_matched(struct node *a, struct node *b, uint32_t within_ms);
/* Sends `count` messages of sizes 8 to `largest`, each when no more than 4 wait for their acknowledgement; all must be heard in order. */
void exchange_reliably(struct node *writer, uint32_t count, uint32_t largest);

#endif
