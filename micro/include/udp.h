/* SPDX-License-Identifier: Apache-2.0
 *
 * The seam between tacho-micro and the network: what a port gives, and the one call it makes.
 *
 * Ports: ports/ip (own IPv4 on an Ethernet driver: qemu, stm32f4), ports/linux (sockets), ports/lwip (its raw API).
 * Addresses and ports are in host byte order. There is one buffer to send from, and it belongs to the caller between micro_udp_buffer
 * and micro_udp_send.
 */
#ifndef TACHO_MICRO_UDP_H_
#define TACHO_MICRO_UDP_H_

#include <stdbool.h>
#include <stdint.h>

#define UDP_PAYLOAD 1472u /* of an unfragmented datagram on Ethernet */

/* Part of a datagram. A port that does not reassemble hands over IP fragments as they come, in order, each once. */
struct udp_piece {
  uint32_t source;      /* address of the sender */
  uint16_t port;        /* destination port */
  const uint8_t *data;
  uint32_t size;        /* of this piece */
  uint32_t offset;      /* of this piece in the datagram's payload */
  uint32_t total;       /* payload of the datagram; offset + size == total in the last piece */
};

/* Opens the discovery port base (joined to `group`) and the unicast ports base + 10 + 2 i and base + 11 + 2 i (RTPS 9.6.1.1); returns i,
 * the first index whose ports are free, or -1. */
int micro_udp_open(uint16_t base, uint32_t group);
void micro_udp_close(void);

/* Our address. */
uint32_t micro_udp_address(void);

/* At least UDP_PAYLOAD bytes, 4-byte aligned, to be filled and sent. */
uint8_t *micro_udp_buffer(void);
bool micro_udp_send(uint32_t address, uint16_t source_port, uint16_t port, uint32_t size);

/* Takes in at most one frame or datagram, calling micro_receive; false when there was none. */
bool micro_udp_poll(void);

/* Since some moment before micro_init; the first wraps after 49 days and may. */
uint32_t micro_clock_ms(void);
uint64_t micro_clock_ns(void);

/* Unix time in s and 2^-32 s; false when the board does not know it. Goes out as the message's source timestamp. */
bool micro_unix_time(uint32_t *seconds, uint32_t *fraction);

/* Differs from start to start of one device, so that a restarted node is not taken for its former self. */
uint32_t micro_entropy(void);

/* Given by tacho-micro. */
void micro_receive(const struct udp_piece *piece);

#endif /* TACHO_MICRO_UDP_H_ */
