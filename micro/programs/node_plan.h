/* SPDX-License-Identifier: Apache-2.0
 * The plan of a workload's node: a block in memory, little endian, that crates/runner/src/micro/plan.rs writes and QEMU
 * loads before the start. */
#ifndef TACHO_MICRO_NODE_PLAN_H_
#define TACHO_MICRO_NODE_PLAN_H_

#include <stdint.h>

#define NODE_PLAN_MAGIC 0x314e4d54u /* "TMN1" */
#define NODE_ROWS 14u               /* endpoints of the workload; two of tacho's own precede them */
#define NODE_TIMERS 8u
#define NO_TIMER 0xffu

struct node_timer {
  uint64_t rate_mhz; /* activations in 1000 s */
  uint64_t phase_ns; /* of the first activation, from the start */
};

struct node_row {
  char topic[120];  /* its name in DDS */
  uint8_t reads;    /* 1: a subscription */
  uint8_t qos;      /* enum micro_qos */
  uint8_t timer;    /* of a publication: the timer that sends it, or NO_TIMER: it answers an input */
  uint8_t triggers; /* of a subscription: 1: its messages are answered */
  uint16_t depth;
  uint16_t expected;  /* peers that it waits for */
  uint32_t size;      /* bytes of data, without tacho's header */
  uint32_t publisher; /* number of the publisher in the run */
};

struct node_plan {
  uint32_t magic, size; /* size: of this structure */
  char name[64];
  uint32_t rows, timers;
  uint32_t at_once; /* 1: begins without a command, whoever is there */
  uint32_t reserved;
  struct node_timer timer[NODE_TIMERS];
  struct node_row row[NODE_ROWS];
};

/* Events of the node itself (micro_record): the kind, then what its 16 bytes and its number mean. */
enum node_event {
  NODE_NAMED =
      128, /* GUID of a writer; number of its publisher << 32 | RTPS sequence number less that of tacho, of a message just taken */
  NODE_TAKEN = 129,     /* nothing; 0: the callback of that message has ended */
  NODE_TIMER = 130,     /* nothing; 0: the callback of timer `endpoint` begins */
  NODE_TIMER_END = 131, /* nothing; 0 */
  NODE_SENDS = 132,     /* time when it was due, ns (8 bytes), 0; sequence of tacho */
  NODE_SKIPS = 133,     /* nothing; sends that were due and did not happen */
  NODE_READY = 134,     /* nothing; 0: every row has the peers that it expects */
};

#endif /* TACHO_MICRO_NODE_PLAN_H_ */
