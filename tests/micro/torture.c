/* SPDX-License-Identifier: Apache-2.0
 * Nodes of tacho-micro against a hostile network, in virtual time: every run is the same again, and an hour takes seconds.
 *
 *   torture LIBRARY SCENARIO [SEED]
 *
 * The network between them loses, doubles, delays, cuts and splits datagrams as the scenario says. Ends with 0 when what the scenario
 * expects came true; says what did not. */
#include <string.h>

#include "torture.h"

static void reliable_over(uint32_t loss, uint32_t twice, uint32_t jitter_us, bool split, uint32_t largest) {
  network.loss = loss, network.twice = twice, network.jitter_us = jitter_us, network.split = split;
  struct node *writer = start_writer(MICRO_RELIABLE, 8), *reader = start_reader(MICRO_RELIABLE);
  run_until_matched(writer, reader, 20000);
  exchange_reliably(writer, largest > 2000 ? 150 : 1000, largest);
  EXPECT(reader->counters()->lost == 0, "%u lost", reader->counters()->lost);
  printf("datagrams %llu, virtual ms %llu\n", (unsigned long long)datagrams, (unsigned long long)now_us / 1000);
}

static void best_effort(void) {
  network.loss = 15, network.twice = 10, network.jitter_us = 30000;
  struct node *writer = start_writer(0, 1), *reader = start_reader(0);
  run_until_matched(writer, reader, 20000);
  for (uint32_t i = 1; i <= 2000; i++) {
    publish(writer, i, 8 + randomly(1000));
    run_ms(10);
  }
  /* Some are lost and overtaken ones are dropped; never twice, never backwards. */
  EXPECT(heard > 500 && heard < 2000 && disordered == 0 && corrupt == 0, "heard %u, %u out of order, %u corrupt", heard,
         disordered, corrupt);
}

static void durable(void) {
  network.loss = 15;
  struct node *writer = start_writer(MICRO_RELIABLE | MICRO_TRANSIENT_LOCAL, 5);
  for (uint32_t i = 1; i <= 12; i++) publish(writer, i, 100);
  run_ms(500);
  struct node *reader = start_reader(MICRO_RELIABLE | MICRO_TRANSIENT_LOCAL);
  run_until_matched(writer, reader, 20000);
  run_ms(5000);
  EXPECT(heard == 5 && first_heard == 8 && last_heard == 12, "heard %u from %u to %u, expected the last 5 of 12", heard,
         first_heard, last_heard);
  struct node *late = start_reader(MICRO_RELIABLE); /* volatile: nothing of the past */
  heard = 0;
  for (uint32_t ms = 0; writer->matched(0) < 2 || !late->matched(0); ms++) {
    EXPECT(ms < 20000, "not matched");
    step(1000);
  }
  run_ms(3000);
  EXPECT(heard == 0, "a volatile reader heard %u messages of the past", heard);
}

/* A reader that was away for longer than the writer's history learns what is lost, and continues with the rest. */
static void history_overrun(void) {
  struct node *writer = start_writer(MICRO_RELIABLE, 4), *reader = start_reader(MICRO_RELIABLE);
  run_until_matched(writer, reader, 5000);
  exchange_reliably(writer, 10, 100);
  network.loss = 100;
  for (uint32_t i = 11; i <= 40; i++) publish(writer, i, 100), run_ms(10);
  network.loss = 0;
  heard = 0;
  run_ms(1000);
  EXPECT(heard == 4 && first_heard == 37 && last_heard == 40 && reader->counters()->lost == 26,
         "heard %u from %u to %u, %u told lost", heard, first_heard, last_heard, reader->counters()->lost);
}

static void damage(void) {
  struct node *writer = start_writer(MICRO_RELIABLE, 8), *reader = start_reader(MICRO_RELIABLE);
  run_until_matched(writer, reader, 5000);
  network.loss = 5, network.twice = 5, network.cut = 10, network.flip = 10, network.split = true,
  network.jitter_us = 3000;
  for (uint32_t i = 1; i <= 5000; i++) {
    publish(writer, i, 8 + randomly(4000));
    run_ms(5);
  }
  memset(&network, 0, sizeof network);
  network.delay_us = 200;
  run_ms(45000); /* the leases of peers that never were run out */
  run_until_matched(writer, reader, 10000);
  run_ms(5000);
  exchange_reliably(writer, 200, 3000);
}

/* Announcements of invented participants, each with endpoints on our topic, faster than they expire. */
static void send_invented(uint32_t number, uint32_t to) {
  uint8_t message[400] = "RTPS\2\3\1\x0f";
  uint32_t n = 8;
#define BYTES(...)                                                                  \
  (memcpy(message + n, (uint8_t[]){__VA_ARGS__}, sizeof((uint8_t[]){__VA_ARGS__})), \
   n += sizeof((uint8_t[]){__VA_ARGS__}))
  uint8_t prefix[12] = {
      1, 15, 9, 9, (uint8_t)(number >> 24), (uint8_t)(number >> 16), (uint8_t)(number >> 8), (uint8_t)number};
  memcpy(message + n, prefix, 12), n += 12;
  BYTES(0x15, 5, 0, 0, 0, 0, 16, 0, 0, 0, 0, 0, 0, 1, 0, 0xc2, 0, 0, 0, 0, 1, 0, 0, 0, 0, 3, 0, 0);
  BYTES(0x32, 0, 24, 0, 1, 0, 0, 0, 0xf2, 0x1c, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 10, 9, 9, 9);
  BYTES(2, 0, 8, 0, 0xff, 0xff, 0xff, 0x7f, 0, 0, 0, 0, 1, 0, 0, 0);
  message[22] = (uint8_t)(n - 24), message[23] = 0;
  uint32_t at = n;
  BYTES(0x15, 5, 0, 0, 0, 0, 16, 0, 0, 0, 4, 0xc7, 0, 0, 4, 0xc2, 0, 0, 0, 0, 1, 0, 0, 0, 0, 3, 0, 0, 0x5a, 0, 16, 0);
  memcpy(message + n, prefix, 12), n += 12;
  BYTES(0, 0, 1, 4, 5, 0, 12, 0, 8, 0, 0, 0, 'r', 't', '/', 'b', 'l', 'o', 'b', 0);
  BYTES(7, 0, 28, 0, 23, 0, 0, 0);
  memcpy(message + n, "test::msg::dds_::Blob_\0", 24), n += 24;
  BYTES(1, 0, 0, 0);
  message[at + 2] = (uint8_t)(n - at - 4), message[at + 3] = 0;
  launch(0x0a090909u, to, 7400, message, n);
}

static void flood(void) {
  struct node *writer = start_writer(MICRO_RELIABLE, 8), *reader = start_reader(MICRO_RELIABLE);
  run_until_matched(writer, reader, 5000);
  for (uint32_t i = 0; i < 20000; i++) {
    send_invented(i, 0x0a000001u);
    if (i % 10 == 0) step(1000);
  }
  EXPECT(writer->peers() == MICRO_PEERS && writer->counters()->peers_refused > 0,
         "%u peers: the flood did not fill the table", writer->peers());
  /* The peers that already communicated are still there, and a real one gets in while the table is full of invented
     ones. */
  struct node *late = start_reader(MICRO_RELIABLE);
  for (uint32_t i = 0; i < 3000; i++) {
    send_invented(100000 + i, 0x0a000001u);
    step(1000);
  }
  EXPECT(reader->matched(0) && late->matched(0), "reader %u, late reader %u", reader->matched(0), late->matched(0));
  heard = corrupt = 0;
  for (uint32_t i = 1; i <= 20; i++) publish(writer, i, 100), run_ms(20);
  EXPECT(heard == 40 && corrupt == 0, "heard %u of two times 20", heard);
  /* It stops: the invented peers expire. 300 s is the longest lease that is accepted. */
  run_ms(310000);
  EXPECT(writer->peers() == 2, "%u peers left", writer->peers());
  heard = 0;
  for (uint32_t i = 21; i <= 40; i++) publish(writer, i, 100), run_ms(20);
  EXPECT(heard == 40, "heard %u of two times 20", heard);
}

/* 50 nodes with 6 endpoints each; one of their readers uses our topic. */
static void start_crowd(void) {
  static char topics[300][16];
  for (unsigned i = 0; i < 50; i++) {
    struct node *n = new_node();
    for (unsigned e = 0; e < 6; e++) {
      snprintf(topics[i * 6 + e], sizeof topics[0], "rt/t%u", i * 6 + e);
      endpoints[i][e] = (struct micro_endpoint){.topic = topics[i * 6 + e], .type = &blob, .on_message = on_message};
    }
    if (i == 49) endpoints[i][0].topic = "rt/blob";
    micro_nodes[i] = (struct micro_node){.name = "crowd", .ns = "/", .endpoints = endpoints[i], .endpoint_count = 6};
    start(n, &micro_nodes[i]);
    run_ms(20);
  }
  run_ms(3000);
}

/* One more comes, and must be matched as fast as if it were alone with its peer. */
static void crowd(void) {
  start_crowd();
  uint64_t from_us = now_us;
  struct node *writer = start_writer(MICRO_RELIABLE, 8);
  run_until_matched(writer, &nodes[49], 400);
  publish(writer, 1, 100);
  while (!heard) step(1000);
  printf("matched and delivering after %llu us of virtual time among 50 nodes and 300 endpoints\n",
         (unsigned long long)(first_heard_us - from_us));
  EXPECT(writer->peers() == 50 && writer->counters()->peers_refused == 0 && writer->counters()->matches_refused == 0,
         "%u peers", writer->peers());
}

static void initialisation(void) {
  struct node *reader = start_reader(MICRO_RELIABLE);
  run_ms(5000);
  uint64_t from_us = now_us;
  struct node *writer = start_writer(MICRO_RELIABLE, 8);
  run_until_matched(writer, reader, 100);
  publish(writer, 1, 25);
  while (!heard) step(100);
  EXPECT(first_heard_us - from_us < 100000, "%llu us", (unsigned long long)(first_heard_us - from_us));
  printf("matched and delivering after %llu us of virtual time\n", (unsigned long long)(first_heard_us - from_us));
}

/* Nothing grows with time (in study C it did, for unknown reasons): at 10 Hz the last minute costs as many datagrams
 * as the second, and its messages take as long, to the microsecond, between two nodes and beside 50 others. */
static void steady(struct node *writer, struct node *reader, uint32_t minutes, uint32_t step_us) {
  run_until_matched(writer, reader, 5000);
  struct minute {
    uint64_t datagrams, least_us, most_us;
  } second = {0}, last = {0};
  uint32_t sent = 0;
  heard = disordered = 0;
  for (uint32_t minute = 0; minute < minutes; minute++) {
    last = (struct minute){.datagrams = datagrams, .least_us = UINT64_MAX};
    for (uint32_t i = 0; i < 600; i++) {
      uint64_t from_us = now_us;
      publish(writer, ++sent, 25);
      for (uint32_t us = 0; us < 100000; us += step_us) step(step_us);
      uint64_t took_us = last_heard == sent ? last_heard_us - from_us : UINT64_MAX / 2;
      if (took_us < last.least_us) last.least_us = took_us;
      if (took_us > last.most_us) last.most_us = took_us;
    }
    last.datagrams = datagrams - last.datagrams;
    if (minute == 1) second = last;
  }
  printf("minutes %u, latency us in the second %llu to %llu, in the last %llu to %llu, of virtual time\n", minutes,
         (unsigned long long)second.least_us, (unsigned long long)second.most_us, (unsigned long long)last.least_us,
         (unsigned long long)last.most_us);
  EXPECT(heard == sent && disordered == 0, "heard %u of %u", heard, sent);
  EXPECT(last.least_us == second.least_us && last.most_us == second.most_us && last.most_us > 0, "latency changed");
  EXPECT(last.datagrams <= second.datagrams + second.datagrams / 50 &&
             second.datagrams <= last.datagrams + last.datagrams / 50,
         "datagrams a minute: %llu in the second, %llu in the last", (unsigned long long)second.datagrams,
         (unsigned long long)last.datagrams);
}

static void hour(void) {
  struct node *writer = start_writer(MICRO_RELIABLE, 8);
  steady(writer, start_reader(MICRO_RELIABLE), 60, 5000);
}

static void crowded(uint32_t minutes) {
  start_crowd();
  steady(start_writer(MICRO_RELIABLE, 8), &nodes[49], minutes, 10000);
}

static void farewell(void) {
  struct node *writer = start_writer(MICRO_RELIABLE, 8), *reader = start_reader(MICRO_RELIABLE);
  run_until_matched(writer, reader, 5000);
  reader->close();
  reader->up = false;
  run_ms(10);
  EXPECT(writer->peers() == 0 && writer->matched(0) == 0, "%u peers after its farewell", writer->peers());
  /* A peer that vanishes is gone after its lease. */
  struct node *other = start_reader(MICRO_RELIABLE);
  run_until_matched(writer, other, 5000);
  other->up = false;
  run_ms(15000);
  EXPECT(writer->matched(0) == 1, "forgotten before its lease");
  run_ms(10000);
  EXPECT(writer->matched(0) == 0 && writer->peers() == 0, "not forgotten after its lease");
}

int main(int argc, char **argv) {
  if (argc < 3) return 2;
  library = argv[1];
  const char *scenario = library_scenario = argv[2];
  if (argc > 3) state = strtoull(argv[3], NULL, 10) * 2 + 1;
  if (!strcmp(scenario, "clean"))
    reliable_over(0, 0, 0, false, 1300);
  else if (!strcmp(scenario, "loss"))
    reliable_over(15, 0, 0, false, 1300);
  else if (!strcmp(scenario, "disorder"))
    reliable_over(5, 10, 20000, false, 1300);
  else if (!strcmp(scenario, "pieces"))
    reliable_over(5, 5, 1000, true, 1300);
  else if (!strcmp(scenario, "fragments"))
    reliable_over(15, 5, 5000, true, MESSAGE_MAX);
  else if (!strcmp(scenario, "best-effort"))
    best_effort();
  else if (!strcmp(scenario, "durable"))
    durable();
  else if (!strcmp(scenario, "overrun"))
    history_overrun();
  else if (!strcmp(scenario, "damage"))
    damage();
  else if (!strcmp(scenario, "flood"))
    flood();
  else if (!strcmp(scenario, "crowd"))
    crowd();
  else if (!strcmp(scenario, "initialisation"))
    initialisation();
  else if (!strcmp(scenario, "hour"))
    hour();
  else if (!strcmp(scenario, "crowded-minutes"))
    crowded(4);
  else if (!strcmp(scenario, "crowded-hour"))
    crowded(60);
  else if (!strcmp(scenario, "farewell"))
    farewell();
  else
    return 2;
  return 0;
}
