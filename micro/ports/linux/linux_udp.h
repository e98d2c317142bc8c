/* SPDX-License-Identifier: Apache-2.0
 * Declares what the Linux port offers beyond udp.h. */
#ifndef TACHO_MICRO_LINUX_UDP_H_
#define TACHO_MICRO_LINUX_UDP_H_

#include <stdint.h>

/* Call this before micro_init with the address of the network interface to use. Otherwise, the port uses the one that
 * reaches the discovery group. */
void linux_udp_interface(uint32_t address);

/* Waits until a datagram has come, or `ms` have passed. */
void linux_udp_wait(int ms);

#endif /* TACHO_MICRO_LINUX_UDP_H_ */
