/* SPDX-License-Identifier: Apache-2.0
 * Declares what start.c and the Cortex-M boards share. CPU_HZ and ETHERNET_INTERRUPT come from the board's chip.h. */
#ifndef TACHO_MICRO_CORTEX_M_H_
#define TACHO_MICRO_CORTEX_M_H_

#include <stdint.h>

#include "board.h"
#include "chip.h"

#define REGISTER(address) (*(volatile uint32_t *)(uintptr_t)(address))

void board_tick(void); /* called in the interrupt of each millisecond */
void board_ethernet_interrupt(void);
void board_stop(int status); /* does not return */

#endif /* TACHO_MICRO_CORTEX_M_H_ */
