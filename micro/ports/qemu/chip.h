/* SPDX-License-Identifier: Apache-2.0
 * Arm MPS2 with the AN386 image (Cortex-M4, DAI 0386), as QEMU emulates it: -M mps2-an386. */
#ifndef TACHO_MICRO_CHIP_H_
#define TACHO_MICRO_CHIP_H_

#define CPU_HZ 25000000u
#define ETHERNET_INTERRUPT 13
#define LAN9118 0x40200000u
#define UART0 0x40004000u
#define FPGAIO_COUNTER 0x40028018u /* CPU_HZ, free running */

/* PSRAM holds the plan of a workload's node (programs/node_plan.h) and its messages. */
#define NODE_PLAN 0x21000000u
#define NODE_ARENA 0x21010000u
#define NODE_ARENA_END 0x22000000u

#endif /* TACHO_MICRO_CHIP_H_ */
