/* SPDX-License-Identifier: Apache-2.0
 * The MPS2 AN386 board in QEMU. The MAC address carries what a real board would have in its flash, so that one image
 * serves any
 * number of boards: 02:DD:a:b:c:d is domain 0xDD and address a.b.c.d, in a network with 8 host bits.
 *
 * The address 10.0.2.15 means QEMU's user networking. There the node announces itself to the host at 10.0.2.2, and the
 * host reaches it on its loopback at ports that are 10000 higher (-nic user,hostfwd=udp:127.0.0.1:17410-:7410,...). */
#include "cortex_m.h"
#include "ip.h"

static uint32_t semihost(uint32_t operation, const void *argument) {
  register uint32_t r0 __asm__("r0") = operation;
  register const void *r1 __asm__("r1") = argument;
  __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
  return r0;
}

void board_stop(int status) {
  uint32_t reason[2] = {0x20026, (uint32_t)status}; /* ADP_Stopped_ApplicationExit */
  semihost(0x20, reason);
  for (;;) {
  }
}

void board_start(struct micro_node *node) {
  static const uint32_t gateway[2] = {0x0a000202u, 0};
  uint8_t mac[6];
  REGISTER(UART0 + 8) = 3; /* transmitter and receiver */
  REGISTER(UART0 + 16) = 16;
  ethernet_address(mac);
  uint32_t address = load32(mac + 2);
  ip_configure(address, 0xffffff00u, 0);
  node->domain = mac[1];
  if (address == 0x0a00020fu) {
    node->peers = gateway;
    node->public_address = 0x7f000001u;
    node->public_port_offset = 10000;
  }
}

void board_print(const char *text) {
  for (; *text; text++) {
    while (REGISTER(UART0 + 4) & 1) {
    }
    REGISTER(UART0) = (uint8_t)*text;
  }
}

void board_print_number(uint32_t value) {
  char digits[11], *p = digits + sizeof digits - 1;
  *p = 0;
  do *--p = (char)('0' + value % 10);
  while (value /= 10);
  board_print(p);
}

int board_read(void) { return REGISTER(UART0 + 4) & 2 ? (int)(REGISTER(UART0) & 0xff) : -1; }

static volatile uint32_t counter_high, counter_last;

/* The 32-bit counter wraps every 172 s. Reading it every millisecond misses no wrap. */
void board_tick(void) {
  uint32_t now = REGISTER(FPGAIO_COUNTER);
  if (now < counter_last) counter_high++;
  counter_last = now;
}

uint64_t micro_clock_ns(void) {
  __asm__ volatile("cpsid i" ::: "memory");
  board_tick();
  uint64_t ticks = (uint64_t)counter_high << 32 | counter_last;
  __asm__ volatile("cpsie i" ::: "memory");
  return ticks * (1000000000u / CPU_HZ);
}

bool micro_unix_time(uint32_t *seconds, uint32_t *fraction) {
  (void)seconds;
  (void)fraction;
  return false;
}

/* The board has no random numbers. The host's time of day distinguishes one start from another. */
uint32_t micro_entropy(void) { return semihost(0x11, NULL) * 2654435761u ^ REGISTER(FPGAIO_COUNTER); }
