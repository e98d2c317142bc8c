/* SPDX-License-Identifier: Apache-2.0
 * ARP (RFC 826) finds neighbours' addresses. It learns the sender of every IP packet, so that an answer needs no
 * request. */
#include "ip.h"

#define NEIGHBOURS 8u

static struct neighbour {
  uint32_t address;
  uint8_t mac[6];
  uint8_t age; /* rounds since its last use */
} neighbours[NEIGHBOURS];

static void send(uint16_t operation, const uint8_t *to, uint32_t address) {
  static const uint8_t head[8] = {0x08, 0x06, 0, 1, 0x08, 0, 6, 4};
  uint32_t frame[(2 + 60) / 4 + 1]; /* a frame of its own, because the sender's buffer may hold a message */
  memset(frame, 0, sizeof frame);
  uint8_t *e = (uint8_t *)frame + 2;
  memset(e, 0xff, 6);
  if (to) memcpy(e, to, 6);
  memcpy(e + 6, ip.mac, 6);
  memcpy(e + 12, head, 8);
  store16(e + 20, operation);
  memcpy(e + 22, ip.mac, 6);
  store32(e + 28, ip.address);
  if (to) memcpy(e + 32, to, 6);
  store32(e + 38, address);
  ethernet_send(frame, 60);
}

void arp_announce(void) { send(1, NULL, ip.address); }

/* Returns an unused place, or that of the neighbour that was silent for longest. */
static struct neighbour *replace_oldest(uint32_t address) {
  struct neighbour *oldest = neighbours;
  for (struct neighbour *n = neighbours; n < neighbours + NEIGHBOURS; n++)
    if (oldest->address && (!n->address || n->age > oldest->age)) oldest = n;
  for (struct neighbour *n = neighbours; n < neighbours + NEIGHBOURS; n++)
    if (n->age < 255) n->age++;
  oldest->address = address;
  return oldest;
}

void arp_learn(uint32_t address, const uint8_t mac[6]) {
  struct neighbour *n = neighbours, *end = neighbours + NEIGHBOURS;
  while (n < end && n->address != address) n++;
  if (n == end) n = replace_oldest(address);
  memcpy(n->mac, mac, 6);
  n->age = 0;
}

bool arp_find(uint32_t address, uint8_t mac[6]) {
  for (unsigned i = 0; i < NEIGHBOURS; i++) {
    if (neighbours[i].address != address) continue;
    memcpy(mac, neighbours[i].mac, 6);
    return true;
  }
  send(1, NULL, address);
  return false;
}

void arp_receive(const uint8_t *e, uint32_t size) {
  static const uint8_t expected[6] = {0, 1, 0x08, 0, 6, 4};
  if (size < 42 || memcmp(e + 14, expected, 6) != 0) return;
  uint32_t sender = load32(e + 28);
  if (((sender ^ ip.address) & ip.mask) || !sender || sender == ip.address) return;
  bool asks_us = load32(e + 38) == ip.address;
  if (asks_us) arp_learn(sender, e + 22);
  if (asks_us && load16(e + 20) == 1) send(2, e + 22, sender);
}
