/* SPDX-License-Identifier: Apache-2.0
 * Declares what the programs in micro/programs need from a board (or Linux), beside the network. */
#ifndef TACHO_MICRO_BOARD_H_
#define TACHO_MICRO_BOARD_H_

#include <stdint.h>

#include "tacho_micro.h"

/* Starts clocks, console and network address. Fills in what the board knows of the node: domain, peers, public address. */
void board_start(struct micro_node *node);

/* Waits until something may have arrived, or a millisecond has passed. */
void board_wait(void);

void board_print(const char *text);
void board_print_number(uint32_t value);

/* Returns the next character from the console; -1: none. Only QEMU's board has it. */
int board_read(void);

#endif /* TACHO_MICRO_BOARD_H_ */
