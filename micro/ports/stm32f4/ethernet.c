/* SPDX-License-Identifier: Apache-2.0
 * Drives the STM32F4's Ethernet controller (RM0090, chapter 33): its DMA fills a ring of receive buffers; there is one
 * send buffer.
 * A burst of discovery needs the ring: Fast DDS sends a late joiner some 7 kB at once. */
#include "cortex_m.h"
#include "ip.h"

#define REG(offset) REGISTER(ETHERNET + (offset))
enum {
  MACCR = 0x0,
  MACFFR = 0x4,
  MACMIIAR = 0x10,
  MACMIIDR = 0x14,
  MACA0HR = 0x40,
  MACA0LR = 0x44,
  DMABMR = 0x1000,
  DMATPDR = 0x1004,
  DMARPDR = 0x1008,
  DMARDLAR = 0x100c,
  DMATDLAR = 0x1010,
  DMASR = 0x1014,
  DMAOMR = 0x1018,
  DMAIER = 0x101c,
};
#define OWNED_BY_DMA (1u << 31)
#define RECEIVE_BUFFERS 8u
#define BUFFER 1524u

struct descriptor {
  volatile uint32_t status;
  uint32_t control;
  uint8_t *buffer;
  struct descriptor *next;
};
static struct descriptor receiving[RECEIVE_BUFFERS], sending;
static _Alignas(4) uint8_t received[RECEIVE_BUFFERS][BUFFER], sent[BUFFER];
static unsigned current;

void ethernet_open(uint8_t mac[6]) {
  ethernet_address(mac);
  REG(DMABMR) = 1; /* reset; it ends only if the PHY provides its clock */
  while (REG(DMABMR) & 1) {
  }
  REG(MACMIIAR) = 4u << 2; /* management clock for 150 to 168 MHz */
  REG(MACA0HR) = (uint32_t)mac[5] << 8 | mac[4];
  REG(MACA0LR) = (uint32_t)mac[3] << 24 | (uint32_t)mac[2] << 16 | (uint32_t)mac[1] << 8 | mac[0];
  REG(MACFFR) = 1u << 4; /* all multicast */
  for (unsigned i = 0; i < RECEIVE_BUFFERS; i++)
    receiving[i] =
        (struct descriptor){OWNED_BY_DMA, 1u << 14 | BUFFER, received[i], &receiving[(i + 1) % RECEIVE_BUFFERS]};
  sending = (struct descriptor){0, 0, sent, &sending};
  REG(DMARDLAR) = (uint32_t)(uintptr_t)receiving;
  REG(DMATDLAR) = (uint32_t)(uintptr_t)&sending;
  REG(DMAIER) = 1u << 16 | 1u << 6;                       /* normal interrupts: received */
  REG(MACCR) = 1u << 14 | 1u << 11 | 1u << 3 | 1u << 2;   /* 100 Mbit, full duplex, transmitter, receiver */
  REG(DMAOMR) = 1u << 25 | 1u << 21 | 1u << 13 | 1u << 1; /* whole frames both ways; start */
}

uint32_t ethernet_receive(uint32_t buffer[FRAME_WORDS]) {
  while (!(receiving[current].status & OWNED_BY_DMA)) {
    struct descriptor *from = &receiving[current];
    uint32_t status = from->status, size = status >> 16 & 0x3fff;
    bool good = (status & (1u << 15 | 3u << 8)) == 3u << 8 && size >= 4 &&
                size - 4 <= FRAME_MAX; /* no error, and both first and last */
    if (good) memcpy((uint8_t *)buffer + 2, from->buffer, size - 4);
    from->status = OWNED_BY_DMA;
    current = (current + 1) % RECEIVE_BUFFERS;
    REG(DMASR) = 1u << 7; /* a buffer is free again */
    REG(DMARPDR) = 0;
    if (good) return size - 4;
  }
  return 0;
}

bool ethernet_send(const uint32_t *buffer, uint32_t size) {
  /* A frame of 1,514 bytes takes 0.12 ms. */
  for (uint32_t tries = 100000; sending.status & OWNED_BY_DMA; tries--)
    if (tries == 0) return false;
  memcpy(sent, (const uint8_t *)buffer + 2, size);
  if (size < 60) {
    memset(sent + size, 0, 60 - size);
    size = 60;
  }
  sending.control = size;
  sending.status = OWNED_BY_DMA | 1u << 29 | 1u << 28 | 1u << 20; /* last and first segment, chained */
  __asm__ volatile("dsb" ::: "memory");
  REG(DMASR) = 1u << 2;
  REG(DMATPDR) = 0;
  return true;
}

void board_ethernet_interrupt(void) {
  REG(DMASR) = 1u << 16 | 1u << 6;
  REGISTER(0xe000e184) = 1u << (ETHERNET_INTERRUPT - 32); /* masked until board_wait */
}

void board_wait(void) {
  REGISTER(0xe000e104) = 1u << (ETHERNET_INTERRUPT - 32);
  __asm__ volatile("cpsid i" ::: "memory");
  if (receiving[current].status & OWNED_BY_DMA) __asm__ volatile("wfi");
  __asm__ volatile("cpsie i" ::: "memory");
}
