/* SPDX-License-Identifier: Apache-2.0
 * Defines vectors, reset and the millisecond interrupt of Cortex-M boards. */
#include "cortex_m.h"

extern uint32_t image_data[], data_start[], data_end[], bss_start[], bss_end[], stack_bottom[], stack_top[];
int main(void);

static volatile uint32_t milliseconds;

static void tick(void) {
  milliseconds++;
  board_tick();
}

uint32_t micro_clock_ms(void) { return milliseconds; }

static void fault(void) {
  board_print("fault\n");
  board_stop(1);
}

#ifdef MEASURE
#define UNTOUCHED 0x5ca1ab1eu
/* Returns the most bytes of stack that were ever in use. */
uint32_t stack_used(void) {
  uint32_t *p = stack_bottom;
  while (p < stack_top && *p == UNTOUCHED) p++;
  return (uint32_t)(stack_top - p) * 4;
}
#endif

void reset(void) {
  uint32_t *from = image_data;
  for (uint32_t *to = data_start; to < data_end;) *to++ = *from++;
  for (uint32_t *to = bss_start; to < bss_end;) *to++ = 0;
#ifdef MEASURE
  for (uint32_t *to = stack_bottom; to < (uint32_t *)__builtin_frame_address(0) - 16; to++) *to = UNTOUCHED;
#endif
  REGISTER(0xe000e014) = CPU_HZ / 1000 - 1; /* SysTick: reload, current, control */
  REGISTER(0xe000e018) = 0;
  REGISTER(0xe000e010) = 7;
  main();
  board_stop(0);
}

__attribute__((section(".vectors"), used)) static const void *const vectors[16 + 64] = {
    stack_top,
    (const void *)reset,
    (const void *)fault,
    (const void *)fault,
    (const void *)fault,
    (const void *)fault,
    (const void *)fault,
    [11] = (const void *)fault,
    [14] = (const void *)fault,
    [15] = (const void *)tick,
    [16 + ETHERNET_INTERRUPT] = (const void *)board_ethernet_interrupt,
};
