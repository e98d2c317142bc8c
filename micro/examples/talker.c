/* SPDX-License-Identifier: Apache-2.0
 * A ROS 2 node that publishes hello on /chatter and prints what it receives on /command. On Linux:
 *
 *   cc -Imicro/include -Imicro/messages -Imicro/ports/linux micro/src/?*.c micro/ports/linux/{udp,clock}.c micro/examples/talker.c -o talker */
#include <stdio.h>

#include "linux_udp.h"
#include "std_msgs_msg_String.h"
#include "udp.h"

static void on_command(const struct micro_message *message) {
  struct cdr_reader cdr = message->cdr;
  struct std_msgs_msg_String command;
  std_msgs_msg_String_read(&cdr, &command);
  if (!cdr.bad) printf("command: %s\n", command.data.data);
}

enum { CHATTER, COMMAND };
static uint32_t chatter[MICRO_WRITER_WORDS(4, 64)]; /* keeps the last 4 messages of up to 64 bytes */
static const struct micro_endpoint endpoints[] = {
    [CHATTER] = {.topic = MICRO_TOPIC("/chatter"), .type = &std_msgs_msg_String_type, .qos = MICRO_RELIABLE, .depth = 4, .size = 64, .storage = chatter},
    [COMMAND] = {.topic = MICRO_TOPIC("/command"), .type = &std_msgs_msg_String_type, .qos = MICRO_RELIABLE, .on_message = on_command},
};
static const struct micro_node node = {.name = "talker", .ns = "/", .endpoints = endpoints, .endpoint_count = 2};

int main(void) {
  if (!micro_init(&node)) return 1;
  for (uint32_t last = micro_clock_ms();;) {
    linux_udp_wait(10);
    micro_spin();
    if (micro_clock_ms() - last < 1000) continue;
    last += 1000;
    struct std_msgs_msg_String hello = {MICRO_STRING("hello")};
    struct cdr_writer cdr = micro_loan(CHATTER);
    std_msgs_msg_String_write(&cdr, &hello);
    micro_publish(CHATTER, &cdr);
  }
}
