/* SPDX-License-Identifier: Apache-2.0
 * The small IPv4 stack of boards: udp.c over control.c (ICMP echo, IGMP) over ip.c (IPv4) over arp.c. Addresses are in
 * host byte order. */
#ifndef TACHO_MICRO_IP_H_
#define TACHO_MICRO_IP_H_

#include <string.h>

#include "ethernet.h"
#include "udp.h"

#ifndef MICRO_WITH_ECHO
#define MICRO_WITH_ECHO 1 /* 0: the node does not answer pings */
#endif

/* The board calls this before micro_init. gateway: 0 if there is none. */
void ip_configure(uint32_t address, uint32_t mask, uint32_t gateway);

/* Counts what the stack discarded. */
struct ip_counters {
  uint32_t checksum;  /* wrong checksums of IP, UDP or ICMP */
  uint32_t malformed; /* lengths that contradict each other */
  uint32_t fragments; /* fragments out of order, or of a second datagram at a time */
};
const struct ip_counters *ip_counters(void);

/* The files of the stack share these. */
enum { ETHERNET_HEADER = 14, IP_HEADER = 20, UDP_HEADER = 8, PROTOCOL_ICMP = 1, PROTOCOL_IGMP = 2, PROTOCOL_UDP = 17 };

extern struct ip_state {
  uint8_t mac[6];
  uint32_t address, mask, gateway, group; /* group: the multicast group we are in, or 0 */
  uint16_t identification;
  struct ip_counters counters;
} ip;

static inline uint16_t load16(const uint8_t *p) { return (uint16_t)(p[0] << 8 | p[1]); }
static inline __attribute__((always_inline)) uint32_t load32(const uint8_t *p) {
  return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}
static inline void store16(uint8_t *p, uint32_t v) { p[0] = (uint8_t)(v >> 8), p[1] = (uint8_t)v; }
static inline void store32(uint8_t *p, uint32_t v) { store16(p, v >> 16), store16(p + 2, v); }

static inline bool is_multicast(uint32_t address) { return address >> 28 == 14; }

/* Adds `size` bytes to an Internet checksum (RFC 1071), which is in the byte order of memory. The bytes are aligned
 * like everything in a frame after its Ethernet header; only the last size may be odd. */
uint32_t checksum_add(uint32_t sum, const void *bytes, uint32_t size);
/* Returns the sum of the UDP pseudo header (RFC 768). */
uint32_t checksum_pseudo(uint32_t source, uint32_t destination, uint32_t udp_size);
/* Returns the checksum to store with memcpy. It is 0 over data that includes a correct checksum. */
uint16_t checksum_end(uint32_t sum);

/* Fills the Ethernet and IP headers of the frame, whose IP payload of `size` bytes is in place, and sends it. */
bool ip_send(uint32_t *frame, uint32_t destination, uint8_t protocol, uint32_t options, uint32_t size);

void arp_receive(const uint8_t *frame, uint32_t size);
void arp_learn(uint32_t address, const uint8_t mac[6]);
/* Returns the neighbour's MAC address. False: it is unknown, and a request was sent. */
bool arp_find(uint32_t address, uint8_t mac[6]);
void arp_announce(void);

void icmp_receive(uint32_t *answer, uint32_t source, const uint8_t *icmp, uint32_t size);
void igmp_receive(uint32_t *answer, const uint8_t *igmp, uint32_t size);
void igmp_report(uint32_t *frame);
void igmp_leave(uint32_t *frame);

#endif /* TACHO_MICRO_IP_H_ */
