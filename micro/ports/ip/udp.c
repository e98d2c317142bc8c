/* SPDX-License-Identifier: Apache-2.0
 * Implements UDP (RFC 768) with one receive and one send frame, and passes on what arrives.
 *
 * Passes fragments up as they come, in order, without a buffer for the whole datagram. So the UDP checksum of such a
 * datagram is known only at its last piece, when the earlier pieces were already used. A wrong one is counted; the
 * frame check sequence protects each piece. */
#include "ip.h"

static uint32_t incoming[FRAME_WORDS], outgoing[FRAME_WORDS];
static uint16_t open_base;

/* The datagram that is arriving in fragments. */
static struct {
  uint32_t source, offset, total, started_ms, sum;
  uint16_t identification, port;
  bool active, summed;
} fragments;

#define FRAGMENTS_MS 20u /* if a datagram has not ended by then, the next one replaces it */

int micro_udp_open(uint16_t base, uint32_t group) {
  open_base = base;
  ethernet_open(ip.mac);
  arp_announce();
  ip.group = group;
  igmp_report(outgoing);
  return 0; /* a board has only one participant */
}

void micro_udp_close(void) {
  igmp_leave(outgoing);
  ip.group = 0;
}

uint32_t micro_udp_address(void) { return ip.address; }

uint8_t *micro_udp_buffer(void) { return (uint8_t *)outgoing + 2 + ETHERNET_HEADER + IP_HEADER + UDP_HEADER; }

bool micro_udp_send(uint32_t address, uint16_t source_port, uint16_t port, uint32_t size) {
  uint8_t *u = micro_udp_buffer() - UDP_HEADER;
  uint32_t length = size + UDP_HEADER;
  store16(u, source_port);
  store16(u + 2, port);
  store16(u + 4, length);
  store16(u + 6, 0);
  uint16_t sum = checksum_end(checksum_add(checksum_pseudo(ip.address, address, length), u, length));
  if (!sum) sum = 0xffff; /* RFC 768: 0 means that there is no checksum */
  memcpy(u + 6, &sum, 2);
  return ip_send(outgoing, address, PROTOCOL_UDP, 0, length);
}

static void fragment(uint32_t source, uint32_t destination, const uint8_t *h, const uint8_t *p, uint32_t size) {
  uint16_t flags = load16(h + 6), identification = load16(h + 4);
  uint32_t offset = (flags & 0x1fffu) * 8;
  bool more = flags & 0x2000;
  bool ours = fragments.active && fragments.source == source && fragments.identification == identification;
  if (more && size % 8) {
    ip.counters.malformed++;
    return;
  }
  if (offset == 0) {
    if (size < UDP_HEADER || load16(p + 4) < UDP_HEADER) {
      ip.counters.malformed++;
      return;
    }
    if (fragments.active && !ours && micro_clock_ms() - fragments.started_ms < FRAGMENTS_MS) {
      ip.counters.fragments++;
      return;
    }
    fragments.active = true;
    fragments.source = source;
    fragments.identification = identification;
    fragments.port = load16(p + 2);
    fragments.total = load16(p + 4);
    fragments.offset = 0;
    fragments.started_ms = micro_clock_ms();
    fragments.summed = load16(p + 6) != 0;
    fragments.sum = checksum_pseudo(source, destination, fragments.total);
  } else if (!ours || offset != fragments.offset) {
    ip.counters.fragments++;
    return;
  }
  if (size > fragments.total - fragments.offset || (!more && size != fragments.total - fragments.offset)) {
    ip.counters.malformed++;
    fragments.active = false;
    return;
  }
  fragments.sum = checksum_add(fragments.sum, p, size);
  fragments.offset += size;
  if (!more) {
    fragments.active = false;
    if (fragments.summed && checksum_end(fragments.sum)) ip.counters.checksum++;
  }
  uint32_t skip = offset == 0 ? UDP_HEADER : 0;
  struct udp_piece piece = {.source = source,
                            .port = fragments.port,
                            .data = p + skip,
                            .size = size - skip,
                            .offset = offset + skip - UDP_HEADER,
                            .total = fragments.total - UDP_HEADER};
  micro_receive(&piece);
}

static void udp_receive(uint32_t source, uint32_t destination, const uint8_t *u, uint32_t size) {
  uint32_t length = size >= UDP_HEADER ? load16(u + 4) : 0;
  if (length < UDP_HEADER || length > size) {
    ip.counters.malformed++;
    return;
  }
  uint32_t port = load16(u + 2) - (uint32_t)open_base;
  if (port != 0 && port != 10 && port != 11) return; /* not one of our ports */
  if (load16(u + 6) && checksum_end(checksum_add(checksum_pseudo(source, destination, length), u, length))) {
    ip.counters.checksum++;
    return;
  }
  struct udp_piece piece = {.source = source,
                            .port = load16(u + 2),
                            .data = u + UDP_HEADER,
                            .size = length - UDP_HEADER,
                            .offset = 0,
                            .total = length - UDP_HEADER};
  micro_receive(&piece);
}

static void ip_receive(const uint8_t *e, uint32_t size) {
  const uint8_t *h = e + ETHERNET_HEADER;
  size -= ETHERNET_HEADER;
  uint32_t header = (h[0] & 15u) * 4, length = load16(h + 2), source = load32(h + 12), destination = load32(h + 16);
  if (h[0] >> 4 != 4 || header < IP_HEADER || length < header || length > size) {
    ip.counters.malformed++;
    return;
  }
  if (destination != ip.address && destination != ip.group && destination != 0xe0000001u) return;
  if (checksum_end(checksum_add(0, h, header))) {
    ip.counters.checksum++;
    return;
  }
  if (is_multicast(source) || source == ip.address || source == 0 || source == 0xffffffffu) return;
  if (((source ^ ip.address) & ip.mask) == 0) arp_learn(source, e + 6);
  const uint8_t *p = h + header;
  size = length - header;
  if (load16(h + 6) & 0x3fff) {
    if (h[9] == PROTOCOL_UDP) fragment(source, destination, h, p, size);
  } else if (h[9] == PROTOCOL_UDP) {
    udp_receive(source, destination, p, size);
  } else if (MICRO_WITH_ECHO && h[9] == PROTOCOL_ICMP) {
    if (destination == ip.address) icmp_receive(outgoing, source, p, size);
  } else if (h[9] == PROTOCOL_IGMP) {
    igmp_receive(outgoing, p, size);
  }
}

bool micro_udp_poll(void) {
  uint32_t size = ethernet_receive(incoming);
  const uint8_t *e = (const uint8_t *)incoming + 2;
  if (size == 0) return false;
  if (size < ETHERNET_HEADER + IP_HEADER) return true;
  if (load16(e + 12) == 0x0806)
    arp_receive(e, size);
  else if (load16(e + 12) == 0x0800)
    ip_receive(e, size);
  return true;
}
