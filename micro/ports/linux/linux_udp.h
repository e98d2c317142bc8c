/* SPDX-License-Identifier: Apache-2.0
 * What the Linux port has beside the seam. */
#ifndef TACHO_MICRO_LINUX_UDP_H_
#define TACHO_MICRO_LINUX_UDP_H_

#include <stdint.h>

/* Before micro_init: the address of the network interface to use. Without, the one by which the discovery group is reached. */
void linux_udp_interface(uint32_t address);

/* Until a datagram has come, or `ms` have passed. */
void linux_udp_wait(int ms);

#endif /* TACHO_MICRO_LINUX_UDP_H_ */
