/* SPDX-License-Identifier: Apache-2.0
 * What the programs in micro/programs ask of a board (or of Linux), beside the network. */
#ifndef TACHO_MICRO_BOARD_H_
#define TACHO_MICRO_BOARD_H_

#include <stdint.h>

#include "tacho_micro.h"

/* Clocks, console, network address; fills in what the board knows of the node: domain, peers, public address. */
void board_start(struct micro_node *node);

/* Until something may have arrived, or a millisecond has passed. */
void board_wait(void);

void board_print(const char *text);
void board_print_number(uint32_t value);

/* The next character that came in on the console; -1: none. QEMU's board only. */
int board_read(void);

#endif /* TACHO_MICRO_BOARD_H_ */
