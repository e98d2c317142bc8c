/* SPDX-License-Identifier: Apache-2.0
 * Runs the programs as Linux processes. ROS_DOMAIN_ID is the domain; Linux provides clock and console. */
#include "board.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>

#include "linux_udp.h"

void board_start(struct micro_node *node) {
  const char *domain = getenv("ROS_DOMAIN_ID"), *interface = getenv("MICRO_INTERFACE");
  if (domain) node->domain = (uint8_t)atoi(domain);
  if (interface) linux_udp_interface(ntohl(inet_addr(interface)));
  setvbuf(stdout, NULL, _IOLBF, 0);
}

void board_wait(void) { linux_udp_wait(1); }

void board_print(const char *text) { fputs(text, stdout); }

void board_print_number(uint32_t value) { printf("%u", (unsigned)value); }
