/* SPDX-License-Identifier: Apache-2.0
 * The UDP seam in virtual time: each copy of the library, loaded by torture.c, gets its network and clock from there. */
#include "simulated.h"

static struct simulated_hooks hooks;
static _Alignas(4) uint8_t buffer[UDP_PAYLOAD];

void simulated_set(const struct simulated_hooks *given) { hooks = *given; }

int micro_udp_open(uint16_t base, uint32_t group) {
  (void)base;
  (void)group;
  return 0;
}
void micro_udp_close(void) {}
uint32_t micro_udp_address(void) { return hooks.address; }
uint8_t *micro_udp_buffer(void) { return buffer; }
bool micro_udp_send(uint32_t address, uint16_t source_port, uint16_t port, uint32_t size) {
  (void)source_port;
  hooks.send(hooks.address, address, port, buffer, size);
  return true;
}
bool micro_udp_poll(void) { return false; } /* the simulation delivers by micro_receive */
uint32_t micro_clock_ms(void) { return (uint32_t)(*hooks.now_us / 1000); }
uint64_t micro_clock_ns(void) { return *hooks.now_us * 1000; }
bool micro_unix_time(uint32_t *seconds, uint32_t *fraction) {
  *seconds = (uint32_t)(*hooks.now_us / 1000000) + 1;
  *fraction = (uint32_t)(((*hooks.now_us % 1000000) << 32) / 1000000);
  return true;
}
uint32_t micro_entropy(void) { return hooks.entropy; }
