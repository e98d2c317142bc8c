/* SPDX-License-Identifier: Apache-2.0
 * The three programs of study C: a publisher, a subscriber, and both in one node. PUBLISHER and SUBSCRIBER select one.
 *
 * The publisher sends a string of 25 characters on /chatter ten times a second. The subscriber prints what it receives
 * there. The node with both sends on /chatter and receives /to_micro. Each sends its events on /tacho/micro_events. */
#include "board.h"
#include "measure.h"
#include "std_msgs_msg_String.h"
#include "std_msgs_msg_UInt8MultiArray.h"
#include "udp.h"

#ifndef QOS
#define QOS MICRO_RELIABLE
#endif
#ifndef PERIOD_MS
#define PERIOD_MS 100u
#endif

#if SUBSCRIBER
static uint32_t heard;

static void on_message(const struct micro_message *message) {
  struct cdr_reader cdr = message->cdr;
  struct std_msgs_msg_String text;
  std_msgs_msg_String_read(&cdr, &text);
  MEASURED_TAKE
  if (cdr.bad) return;
  board_print("heard ");
  board_print_number(++heard);
  board_print(": ");
  board_print(text.data.data);
  board_print("\n");
}
#endif

enum {
#if PUBLISHER
  CHATTER,
#endif
#if SUBSCRIBER
  HEARD,
#endif
  EVENTS,
  ENDPOINTS
};

#if PUBLISHER
static uint32_t chatter_storage[MICRO_WRITER_WORDS(4, 64)];
#endif
static uint32_t events_storage[MICRO_WRITER_WORDS(2, 300)];

static const struct micro_endpoint endpoints[ENDPOINTS] = {
#if PUBLISHER
    [CHATTER] = {.topic = MICRO_TOPIC("/chatter"),
                 .type = &std_msgs_msg_String_type,
                 .qos = QOS,
                 .depth = 4,
                 .size = 64,
                 .storage = chatter_storage},
#endif
#if SUBSCRIBER
    [HEARD] = {.topic = PUBLISHER ? MICRO_TOPIC("/to_micro") : MICRO_TOPIC("/chatter"),
               .type = &std_msgs_msg_String_type,
               .on_message = on_message,
               .qos = QOS},
#endif
    [EVENTS] = {.topic = MICRO_TOPIC("/tacho/micro_events"),
                .type = &std_msgs_msg_UInt8MultiArray_type,
                .qos = MICRO_RELIABLE,
                .depth = 2,
                .size = 300,
                .storage = events_storage},
};

#if PUBLISHER
static void publish(uint32_t number) {
  static char text[] = "hello from cortex-m4 0000";
  for (char *digit = text + 24; digit > text + 20; digit--, number /= 10) *digit = (char)('0' + number % 10);
  struct std_msgs_msg_String message = {MICRO_STRING(text)};
  MEASURED_PUBLISH(struct cdr_writer cdr = micro_loan(CHATTER); std_msgs_msg_String_write(&cdr, &message);
                   micro_publish(CHATTER, &cdr);)
}
#endif

int main(void) {
  static struct micro_node node = {.name = PUBLISHER ? (SUBSCRIBER ? "both" : "publisher") : "subscriber",
                                   .ns = "/micro",
                                   .endpoints = endpoints,
                                   .endpoint_count = ENDPOINTS};
  board_start(&node);
  if (!micro_init(&node)) {
    board_print("no ports\n");
    return 1;
  }
  board_print("up\n");
  unsigned matched = 0;
  uint32_t number = 0, published_ms = 0, events_ms = 0;
  for (;;) {
    micro_spin();
    uint32_t now = micro_clock_ms();
    if (micro_matched(0) != matched) {
      matched = micro_matched(0);
      board_print("matched ");
      board_print_number(matched);
      board_print(" at ms ");
      board_print_number(now);
      board_print("\n");
    }
#if PUBLISHER
    if (matched && now - published_ms >= PERIOD_MS) {
      published_ms = now;
      publish(++number);
    }
#else
    (void)number;
    (void)published_ms;
#endif
    if (now - events_ms >= 250) {
      events_ms = now;
      micro_publish_events(EVENTS);
    }
    board_wait();
  }
}
