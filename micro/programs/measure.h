/* SPDX-License-Identifier: Apache-2.0
 * Counts instructions in images built for this (make measure): ticks of the board's counter around the measured code,
 * less the ticks of reading the counter. With QEMU's -icount shift=7 an instruction takes 128 ns, 3.2 ticks, and the
 * interrupt of every millisecond falls only into every tenth message. Other images measure nothing. */
#ifdef MEASURE
#include "chip.h"
#define TICKS() (*(volatile uint32_t *)FPGAIO_COUNTER)
uint32_t stack_used(void);   /* ports/cortex_m/start.c */
extern uint32_t frame_ticks; /* when the last frame was read from the controller: set by ethernet_receive */
static void measured(const char *what, uint32_t ticks) {
  board_print(what);
  board_print_number(ticks);
  board_print(" stack ");
  board_print_number(stack_used());
  board_print("\n");
}
#define MEASURED_PUBLISH(what)                          \
  uint32_t measured_from = TICKS();                     \
  what uint32_t measured_to = TICKS(), again = TICKS(); \
  measured("ticks publish ", measured_to - measured_from - (again - measured_to));
#define MEASURED_TAKE measured("ticks take ", TICKS() - frame_ticks);
#else
#define MEASURED_PUBLISH(what) what
#define MEASURED_TAKE
#endif
