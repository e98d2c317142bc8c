/* SPDX-License-Identifier: Apache-2.0
 * Sends IPv4 (RFC 791, 1112), and has what the files of the stack share: addresses, counters, checksums. */
#include "ip.h"

struct ip_state ip;

const struct ip_counters *ip_counters(void) { return &ip.counters; }

void ip_configure(uint32_t address, uint32_t mask, uint32_t gateway) {
  ip.address = address;
  ip.mask = mask;
  ip.gateway = gateway;
}

static uint32_t fold(uint64_t sum) {
  sum = (sum >> 32) + (uint32_t)sum;
  sum = (sum >> 32) + (uint32_t)sum;
  return (uint32_t)sum;
}

/* Adds whole words with end-around carry. */
#ifdef __thumb2__
/* C has no carry flag: without it, this loop would be a quarter of all instructions of a message. teq does not change
 * the carry, so it survives the loops. */
static uint32_t add_words(uint32_t sum, const uint8_t *p, uint32_t size) {
  const uint8_t *fours = p + (size & ~15u), *end = p + size;
  __asm__ volatile(
      "adds %0, #0\n\t" /* no carry yet */
      "b 2f\n"
      "1: ldmia %1!, {r4-r6, r8}\n\tadcs %0, r4\n\tadcs %0, r5\n\tadcs %0, r6\n\tadcs %0, r8\n"
      "2: teq %1, %2\n\tbne 1b\n\tb 4f\n"
      "3: ldr r4, [%1], #4\n\tadcs %0, r4\n"
      "4: teq %1, %3\n\tbne 3b\n\tadc %0, #0"
      : "+&r"(sum), "+&r"(p)
      : "r"(fours), "r"(end)
      : "r4", "r5", "r6", "r8", "cc", "memory");
  return sum;
}
#else
static uint32_t add_words(uint32_t sum, const uint8_t *p, uint32_t size) {
  uint64_t wide = sum;
  for (; size; size -= 4, p += 4) {
    uint32_t word;
    memcpy(&word, p, 4);
    wide += word;
  }
  return fold(wide);
}
#endif

uint32_t checksum_add(uint32_t sum, const void *bytes, uint32_t size) {
  const uint8_t *p = bytes;
  uint32_t odd = size % 4, last = 0;
  sum = add_words(sum, p, size - odd);
  if (!odd) return sum;
  memcpy(&last, p + size - odd, odd);
  return fold((uint64_t)sum + last);
}

uint16_t checksum_end(uint32_t sum) {
  sum = (sum >> 16) + (sum & 0xffff);
  sum = (sum >> 16) + (sum & 0xffff);
  return (uint16_t)~sum;
}

/* Converts a number to the byte order of the wire, as a word of memory. */
static uint32_t wire(uint32_t value) {
  return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? __builtin_bswap32(value) : value;
}

uint32_t checksum_pseudo(uint32_t source, uint32_t destination, uint32_t udp_size) {
  return fold((uint64_t)wire(source) + wire(destination) + wire((uint32_t)PROTOCOL_UDP << 16 | udp_size));
}

bool ip_send(uint32_t *frame, uint32_t destination, uint8_t protocol, uint32_t options, uint32_t size) {
  uint8_t *e = (uint8_t *)frame + 2, *h = e + ETHERNET_HEADER;
  uint32_t header = IP_HEADER + (options ? 4u : 0u);
  if (is_multicast(destination)) { /* RFC 1112, 6.4 */
    store16(e, 0x0100);
    store32(e + 2, 0x5e000000u | (destination & 0x7fffffu));
  } else {
    bool local = ((destination ^ ip.address) & ip.mask) == 0;
    if (!local && !ip.gateway) return false;
    if (!arp_find(local ? destination : ip.gateway, e)) return false;
  }
  memcpy(e + 6, ip.mac, 6);
  store16(e + 12, 0x0800);
  store16(h, 0x4000 | header / 4 << 8);
  store16(h + 2, header + size);
  store16(h + 4, ip.identification++);
  store16(h + 6, 0x4000); /* do not fragment: we never send more than a frame */
  store16(h + 8, (uint32_t)(is_multicast(destination) ? 1 : 64) << 8 | protocol);
  store16(h + 10, 0);
  store32(h + 12, ip.address);
  store32(h + 16, destination);
  if (options) store32(h + 20, options);
  uint16_t sum = checksum_end(checksum_add(0, h, header));
  memcpy(h + 10, &sum, 2);
  return ethernet_send(frame, ETHERNET_HEADER + header + size);
}
