/* SPDX-License-Identifier: Apache-2.0
 *
 * The interface between tacho-micro and the network: the functions of a port, and the one function that a port calls.
 *
 * Ports: ports/ip (own IPv4 on an Ethernet driver: qemu, stm32f4), ports/linux (sockets), ports/lwip (its raw API).
 * Addresses and ports are in host byte order. There is one send buffer. It belongs to the caller from micro_udp_buffer
 * until micro_udp_send.
 */
#ifndef TACHO_MICRO_UDP_H_
#define TACHO_MICRO_UDP_H_

#include <stdbool.h>
#include <stdint.h>

#define UDP_PAYLOAD 1472u /* of an unfragmented datagram on Ethernet */

/* A part of a datagram. A port that does not reassemble delivers IP fragments as they come, in order, each once. */
struct udp_piece {
  uint32_t source; /* address of the sender */
  uint16_t port;   /* destination port */
  const uint8_t *data;
  uint32_t size;   /* bytes of this piece */
  uint32_t offset; /* position of this piece in the datagram's payload */
  uint32_t total;  /* bytes of the datagram's payload; offset + size == total in the last piece */
};

/* Opens the discovery port base (joined to `group`) and the unicast ports base + 10 + 2 i and base + 11 + 2 i (RTPS
 * 9.6.1.1). Returns i, the first index whose ports are free, or -1. */
int micro_udp_open(uint16_t base, uint32_t group);
void micro_udp_close(void);

/* Returns our address. */
uint32_t micro_udp_address(void);

/* Returns the send buffer: at least UDP_PAYLOAD bytes, 4-byte aligned. */
uint8_t *micro_udp_buffer(void);
bool micro_udp_send(uint32_t address, uint16_t source_port, uint16_t port, uint32_t size);

/* Reads at most one frame or datagram and calls micro_receive. Returns false if there was none. */
bool micro_udp_poll(void);

/* Returns ms since some moment before micro_init. It may wrap; the first time is after 49 days. */
uint32_t micro_clock_ms(void);
uint64_t micro_clock_ns(void);

/* Returns the Unix time in s and 2^-32 s, or false if the board does not know it. It becomes the message's source
 * timestamp. */
bool micro_unix_time(uint32_t *seconds, uint32_t *fraction);

/* Returns a number that differs between starts of one device, so that a restarted node is not taken for its earlier
 * self. */
uint32_t micro_entropy(void);

/* tacho-micro defines this function; ports call it. */
void micro_receive(const struct udp_piece *piece);

#endif /* TACHO_MICRO_UDP_H_ */
