/* SPDX-License-Identifier: Apache-2.0
 * Drives the SMSC LAN9118 Ethernet controller with programmed input and output (data sheet DS00002266). */
#include "cortex_m.h"
#include "ethernet.h"

#define REG(offset) REGISTER(LAN9118 + (offset))
enum {
  RX_DATA = 0x00,
  TX_DATA = 0x20,
  RX_STATUS = 0x40,
  TX_STATUS = 0x48,
  IRQ_CFG = 0x54,
  INT_STS = 0x58,
  INT_EN = 0x5c,
  FIFO_INT = 0x68,
  RX_CFG = 0x6c,
  TX_CFG = 0x70,
  HW_CFG = 0x74,
  RX_FIFO_INF = 0x7c,
  TX_FIFO_INF = 0x80,
  MAC_CSR_CMD = 0xa4,
  MAC_CSR_DATA = 0xa8,
};
enum { MAC_CR = 1, ADDRH = 2, ADDRL = 3 };
#define RX_LEVEL_INTERRUPT (1u << 3)

static uint32_t mac_read(uint32_t index) {
  REG(MAC_CSR_CMD) = 0xc0000000u | index;
  while (REG(MAC_CSR_CMD) >> 31) {
  }
  return REG(MAC_CSR_DATA);
}

static void mac_write(uint32_t index, uint32_t value) {
  REG(MAC_CSR_DATA) = value;
  REG(MAC_CSR_CMD) = 0x80000000u | index;
  while (REG(MAC_CSR_CMD) >> 31) {
  }
}

void ethernet_open(uint8_t mac[6]) {
  ethernet_address(mac);
  REG(RX_CFG) = 2u << 8;                 /* two bytes before the frame */
  REG(TX_CFG) = 2;                       /* on */
  mac_write(MAC_CR, 0x00180000u | 0xcu); /* full duplex, all multicast, transmitter and receiver on */
  REG(FIFO_INT) = 0;
  REG(INT_STS) = ~0u;
  REG(INT_EN) = RX_LEVEL_INTERRUPT;
  REG(IRQ_CFG) = 0x111; /* on, push-pull, active high */
}

void ethernet_address(uint8_t mac[6]) {
  REG(HW_CFG) = 1; /* reset */
  while (REG(HW_CFG) & 1) {
  }
  /* 2 KiB of 16 KiB are for sending, the rest for receiving, because bursts of discovery arrive faster than we read
   * them. */
  REG(HW_CFG) = 0x00020000u;
  uint32_t high = mac_read(ADDRH), low = mac_read(ADDRL);
  for (int i = 0; i < 4; i++) mac[i] = (uint8_t)(low >> (8 * i));
  mac[4] = (uint8_t)high;
  mac[5] = (uint8_t)(high >> 8);
}

#ifdef MEASURE
uint32_t frame_ticks; /* programs/measure.h */
#define MEASURED_FRAME frame_ticks = REGISTER(FPGAIO_COUNTER);
#else
#define MEASURED_FRAME
#endif

/* Copies words up to `end`, a multiple of four, through a FIFO with two instructions for four words. For bursts, the
 * FIFO's port answers at eight consecutive addresses (data sheet, RX and TX FIFO ports). An interrupt in between is
 * harmless: such a load or store continues where it was (ARMv7-M, ICI). */
static uint32_t *receive_fours(uint32_t *to, const uint32_t *end) {
  __asm__ volatile("b 2f\n1: ldmia %2, {r4-r6, r8}\n\tstmia %0!, {r4-r6, r8}\n2: cmp %0, %1\n\tbne 1b"
                   : "+&r"(to)
                   : "r"(end), "r"(LAN9118 + RX_DATA)
                   : "r4", "r5", "r6", "r8", "cc", "memory");
  return to;
}
static const uint32_t *send_fours(const uint32_t *from, const uint32_t *end) {
  __asm__ volatile("b 2f\n1: ldmia %0!, {r4-r6, r8}\n\tstmia %2, {r4-r6, r8}\n2: cmp %0, %1\n\tbne 1b"
                   : "+&r"(from)
                   : "r"(end), "r"(LAN9118 + TX_DATA)
                   : "r4", "r5", "r6", "r8", "cc", "memory");
  return from;
}

uint32_t ethernet_receive(uint32_t buffer[FRAME_WORDS]) {
  MEASURED_FRAME
  while (REG(RX_FIFO_INF) >> 16 & 0xff) {
    uint32_t status = REG(RX_STATUS), size = status >> 16 & 0x3fff, words = (size + 2 + 3) / 4;
    if (status & 0x8000 || words > FRAME_WORDS || size < 4) {
      while (words--) (void)REG(RX_DATA);
      continue;
    }
    const uint32_t *end = buffer + words;
    buffer = receive_fours(buffer, buffer + (words & ~3u));
    while (buffer != end) *buffer++ = REG(RX_DATA);
    return size - 4; /* without the frame check sequence */
  }
  return 0;
}

bool ethernet_send(const uint32_t *buffer, uint32_t size) {
  if (size < 60) size = 60;
  while (REG(TX_FIFO_INF) >> 16 & 0xff) (void)REG(TX_STATUS);
  /* The FIFO empties at the speed of the wire: 2 KiB in 0.2 ms. */
  for (uint32_t tries = 100000; (REG(TX_FIFO_INF) & 0xffff) < size + 16; tries--)
    if (tries == 0) return false;
  REG(TX_DATA) = 2u << 16 | 3u << 12 | size; /* two bytes before the frame; first and last segment */
  REG(TX_DATA) = size;
  uint32_t words = (size + 2 + 3) / 4;
  const uint32_t *end = buffer + words;
  buffer = send_fours(buffer, buffer + (words & ~3u));
  while (buffer != end) REG(TX_DATA) = *buffer++;
  return true;
}

void board_ethernet_interrupt(void) { REGISTER(0xe000e180) = 1u << ETHERNET_INTERRUPT; } /* masked until board_wait */

void board_wait(void) {
  REG(INT_STS) = RX_LEVEL_INTERRUPT;
  REGISTER(0xe000e100) = 1u << ETHERNET_INTERRUPT;
  __asm__ volatile("cpsid i" ::: "memory");
  if (!(REG(RX_FIFO_INF) >> 16 & 0xff)) __asm__ volatile("wfi");
  __asm__ volatile("cpsie i" ::: "memory");
}
