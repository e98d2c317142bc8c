/* SPDX-License-Identifier: Apache-2.0
 * An STM32F4 board. Our tests compile it and check its size, but never run it, because no emulator has this controller.
 * Address and domain
 * are set when building (-DMICRO_ADDRESS=0x0a4d000a -DMICRO_DOMAIN=0). */
#include "cortex_m.h"
#include "ip.h"

#ifndef MICRO_ADDRESS
#define MICRO_ADDRESS 0x0a4d000au /* 10.77.0.10 */
#endif
#ifndef MICRO_DOMAIN
#define MICRO_DOMAIN 0
#endif

static void clocks(void) {
  REGISTER(RCC) |= 1u << 16; /* external crystal */
  while (!(REGISTER(RCC) & 1u << 17)) {
  }
  REGISTER(FLASH_ACR) = 0x705; /* 5 wait states, caches, prefetch */
  REGISTER(RCC + 4) =
      8u | 336u << 6 | 0u << 16 | 1u << 22 | 7u << 24; /* 8 MHz / 8 * 336 / 2; 48 MHz for the random numbers */
  REGISTER(RCC + 8) = 5u << 10 | 4u << 13;             /* APB1 a quarter, APB2 half */
  REGISTER(RCC) |= 1u << 24;
  while (!(REGISTER(RCC) & 1u << 25)) {
  }
  REGISTER(RCC + 8) |= 2;
  REGISTER(RCC + 0x30) |= 0x7fu | 7u << 25; /* GPIO A to G; Ethernet MAC, transmit, receive */
  REGISTER(RCC + 0x34) |= 1u << 6;          /* random numbers */
  REGISTER(RCC + 0x40) |= 1u << 18;         /* USART3 */
  REGISTER(RCC + 0x44) |= 1u << 14;         /* SYSCFG */
}

static void pin(char letter, unsigned number, uint32_t function) {
  uint32_t port = GPIO((uint32_t)letter), shift = number % 8 * 4;
  volatile uint32_t *alternate = &REGISTER(port + 0x20 + number / 8 * 4);
  *alternate = (*alternate & ~(15u << shift)) | function << shift;
  REGISTER(port + 8) |= 3u << (number * 2); /* fastest */
  REGISTER(port) = (REGISTER(port) & ~(3u << (number * 2))) | 2u << (number * 2);
}

void board_start(struct micro_node *node) {
  static const char rmii[][2] = {{'A', 1}, {'A', 2}, {'A', 7},  {'B', 13}, {'C', 1},
                                 {'C', 4}, {'C', 5}, {'G', 11}, {'G', 13}};
  clocks();
  REGISTER(SYSCFG_PMC) |= 1u << 23; /* RMII, before the MAC's reset ends */
  for (unsigned i = 0; i < sizeof rmii / 2; i++) pin(rmii[i][0], (unsigned)rmii[i][1], 11);
  pin('D', 8, 7);
  REGISTER(USART3 + 8) = CPU_HZ / 4 / 115200;
  REGISTER(USART3 + 12) = 1u << 13 | 1u << 3; /* on, transmitter */
  REGISTER(RNG) = 4;
  ip_configure(MICRO_ADDRESS, 0xffffff00u, 0);
  node->domain = MICRO_DOMAIN;
}

void ethernet_address(uint8_t mac[6]) {
  uint32_t id = REGISTER(UNIQUE_ID) ^ REGISTER(UNIQUE_ID + 4) * 31 ^ REGISTER(UNIQUE_ID + 8) * 961;
  mac[0] = 0x02; /* locally administered */
  mac[1] = 0x54;
  store32(mac + 2, id);
}

void board_print(const char *text) {
  for (; *text; text++) {
    while (!(REGISTER(USART3) & 1u << 7)) {
    }
    REGISTER(USART3 + 4) = (uint8_t)*text;
  }
}

void board_print_number(uint32_t value) {
  char digits[11], *p = digits + sizeof digits - 1;
  *p = 0;
  do *--p = (char)('0' + value % 10);
  while (value /= 10);
  board_print(p);
}

void board_stop(int status) {
  for (;;) __asm__ volatile("wfi");
}

void board_tick(void) {}

/* Combines the milliseconds with how far SysTick has counted down in the current one. It reads again if a millisecond
 * passed meanwhile. */
uint64_t micro_clock_ns(void) {
  uint32_t ms, left;
  do {
    ms = micro_clock_ms();
    left = REGISTER(0xe000e018);
  } while (ms != micro_clock_ms());
  return (uint64_t)ms * 1000000u + (CPU_HZ / 1000 - 1 - left) * 1000u / (CPU_HZ / 1000000u);
}

bool micro_unix_time(uint32_t *seconds, uint32_t *fraction) { return false; }

uint32_t micro_entropy(void) {
  while (!(REGISTER(RNG + 4) & 1)) {
  }
  return REGISTER(RNG + 8);
}
