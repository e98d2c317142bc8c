/* SPDX-License-Identifier: Apache-2.0
 * Implements ICMP echo (RFC 792) and IGMPv2 membership (RFC 2236). */
#include "ip.h"

#define ROUTER_ALERT 0x94040000u

/* Returns the payload of an IP packet in `frame`, after `header` bytes of IP header. */
static uint8_t *payload(uint32_t *frame, uint32_t header) { return (uint8_t *)frame + 2 + ETHERNET_HEADER + header; }

void icmp_receive(uint32_t *answer, uint32_t source, const uint8_t *icmp, uint32_t size) {
  if (size < 8 || icmp[0] != 8 || icmp[1] != 0 || size > FRAME_MAX - ETHERNET_HEADER - IP_HEADER) return;
  if (checksum_end(checksum_add(0, icmp, size))) {
    ip.counters.checksum++;
    return;
  }
  uint8_t *p = payload(answer, IP_HEADER);
  memcpy(p, icmp, size);
  store32(p, 0); /* echo reply, no checksum yet */
  uint16_t sum = checksum_end(checksum_add(0, p, size));
  memcpy(p + 2, &sum, 2);
  ip_send(answer, source, PROTOCOL_ICMP, 0, size);
}

static void igmp_send(uint32_t *frame, uint8_t type, uint32_t destination) {
  uint8_t *p = payload(frame, IP_HEADER + 4);
  store32(p, (uint32_t)type << 24);
  store32(p + 4, ip.group);
  uint16_t sum = checksum_end(checksum_add(0, p, 8));
  memcpy(p + 2, &sum, 2);
  ip_send(frame, destination, PROTOCOL_IGMP, ROUTER_ALERT, 8);
}

void igmp_report(uint32_t *frame) { igmp_send(frame, 0x16, ip.group); }

void igmp_leave(uint32_t *frame) { igmp_send(frame, 0x17, 0xe0000002u); }

void igmp_receive(uint32_t *answer, const uint8_t *igmp, uint32_t size) {
  if (size < 8 || igmp[0] != 0x11 || !ip.group) return;
  if (checksum_end(checksum_add(0, igmp, size))) {
    ip.counters.checksum++;
    return;
  }
  uint32_t group = load32(igmp + 4);
  if (group == 0 || group == ip.group) igmp_report(answer);
}
