/* SPDX-License-Identifier: Apache-2.0
 * A node of tacho-micro as a Linux process. Its arguments select its role; it prints one line for each event.
 *
 *   node DOMAIN NAME (pub|sub|both) [reliable] [durable] [held] [size BYTES] [count N] [period MS] [depth N] [interface A.B.C.D]
 *
 * pub sends strings "N text..." on /chatter, N from 1, held: once a line is on standard input; sub prints "got SEQUENCE N BYTES SOURCE_NS";
 * both sends on /chatter and hears /to_micro. Prints "matched N" of the first, and both "heard from N" of the second.
 * Ends when N messages are sent and acknowledged (heard, for sub), or when standard input ends. */
#include <arpa/inet.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "linux_udp.h"
#include "std_msgs_msg_String.h"
#include "std_msgs_msg_UInt8MultiArray.h"
#include "udp.h"

#define LARGEST 300000u
#define DEPTH 64u

static uint32_t sent_storage[MICRO_WRITER_WORDS(DEPTH, LARGEST)], heard_storage[MICRO_READER_WORDS(LARGEST)];
static uint32_t heard;

static void on_message(const struct micro_message *message) {
  struct cdr_reader cdr = message->cdr;
  struct std_msgs_msg_String text;
  std_msgs_msg_String_read(&cdr, &text);
  heard++;
  printf(cdr.bad ? "bad %" PRIu64 "\n" : "got %" PRIu64 " %lu %u %" PRIu64 "\n", message->sequence,
         strtoul(text.data.data, NULL, 10), (unsigned)text.data.size, message->source_ns);
}

static bool held;

static bool input_ended(void) {
  struct pollfd fd = {.fd = 0, .events = POLLIN};
  char c;
  if (poll(&fd, 1, 0) <= 0) return false;
  bool ended = read(0, &c, 1) <= 0;
  if (!ended && c == '\n') held = false;
  return ended;
}

int main(int argc, char **argv) {
  uint32_t size = 25, count = 0, period = 20, depth = 8;
  uint8_t qos = 0;
  if (argc < 4) return 2;
  for (int i = 4; i < argc; i++) {
    const char *value = i + 1 < argc ? argv[i + 1] : "";
    if (!strcmp(argv[i], "reliable"))
      qos |= MICRO_RELIABLE;
    else if (!strcmp(argv[i], "durable"))
      qos |= MICRO_RELIABLE | MICRO_TRANSIENT_LOCAL;
    else if (!strcmp(argv[i], "held"))
      held = true;
    else if (i++, !strcmp(argv[i - 1], "size"))
      size = (uint32_t)atoi(value);
    else if (!strcmp(argv[i - 1], "count"))
      count = (uint32_t)atoi(value);
    else if (!strcmp(argv[i - 1], "period"))
      period = (uint32_t)atoi(value);
    else if (!strcmp(argv[i - 1], "depth"))
      depth = (uint32_t)atoi(value);
    else if (!strcmp(argv[i - 1], "interface"))
      linux_udp_interface(ntohl(inet_addr(value)));
    else
      return 2;
  }
  if (size > LARGEST - 5 || depth > DEPTH) return 2;
  bool publishes = strcmp(argv[3], "sub") != 0, hears = strcmp(argv[3], "pub") != 0;
  struct micro_endpoint writer = {.topic = MICRO_TOPIC("/chatter"),
                                  .type = &std_msgs_msg_String_type,
                                  .qos = qos,
                                  .depth = (uint16_t)depth,
                                  .size = LARGEST,
                                  .storage = sent_storage};
  struct micro_endpoint reader = {.topic = publishes ? MICRO_TOPIC("/to_micro") : MICRO_TOPIC("/chatter"),
                                  .type = &std_msgs_msg_String_type,
                                  .on_message = on_message,
                                  .qos = qos,
                                  .size = LARGEST,
                                  .storage = heard_storage};
  static uint32_t events_storage[MICRO_WRITER_WORDS(4, 700)];
  struct micro_endpoint events = {.topic = MICRO_TOPIC("/tacho/micro_events"),
                                  .type = &std_msgs_msg_UInt8MultiArray_type,
                                  .qos = MICRO_RELIABLE,
                                  .depth = 4,
                                  .size = 700,
                                  .storage = events_storage};
  struct micro_endpoint endpoints[3] = {publishes ? writer : reader, events, reader};
  struct micro_node node = {.name = argv[2],
                            .ns = "/micro",
                            .endpoints = endpoints,
                            .endpoint_count = publishes && hears ? 3 : 2,
                            .domain = (uint8_t)atoi(argv[1])};
  setvbuf(stdout, NULL, _IOLBF, 0);
  if (!micro_init(&node)) return 3;
  printf("up\n");
  static char text[LARGEST];
  uint32_t sent = 0, last = 0, was_matched = ~0u, heard_from = ~0u, events_at = 0, incompatible = 0;
  while (!input_ended()) {
    linux_udp_wait(2);
    micro_spin();
    if (micro_matched(0) != was_matched) printf("matched %u\n", was_matched = micro_matched(0));
    if (publishes && hears && micro_matched(2) != heard_from) printf("heard from %u\n", heard_from = micro_matched(2));
    if (micro_counters()->incompatible != incompatible)
      printf("incompatible %u\n", incompatible = micro_counters()->incompatible);
    if (micro_clock_ms() - events_at > 100) events_at = micro_clock_ms(), micro_publish_events(1);
    if (!publishes) {
      if (count && heard >= count) break;
      continue;
    }
    if (count && sent == count) {
      if (!hears && micro_matched(0) && micro_acknowledged(0)) break;
      continue;
    }
    if (held || (!was_matched && !(qos & MICRO_TRANSIENT_LOCAL)) || micro_clock_ms() - last < period) continue;
    last = micro_clock_ms();
    memset(text, '.', size);
    int digits = snprintf(text, sizeof text, "%u", sent + 1);
    text[digits] = ' ';
    struct std_msgs_msg_String message = {{text, size}};
    struct cdr_writer cdr = micro_loan(0);
    std_msgs_msg_String_write(&cdr, &message);
    printf("sent %u to %d\n", ++sent, micro_publish(0, &cdr));
  }
  const struct micro_counters *c = micro_counters();
  printf(
      "counters malformed %u unsupported %u oversized %u lost %u peers_refused %u matches_refused %u incompatible %u "
      "send_refused %u\n",
      c->malformed, c->unsupported, c->oversized, c->lost, c->peers_refused, c->matches_refused, c->incompatible,
      c->send_refused);
  micro_close();
  return 0;
}
