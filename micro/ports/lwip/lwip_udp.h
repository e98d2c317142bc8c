/* SPDX-License-Identifier: Apache-2.0
 * Declares what the lwIP port offers beyond udp.h. */
#ifndef TACHO_MICRO_LWIP_UDP_H_
#define TACHO_MICRO_LWIP_UDP_H_

#include <stdbool.h>
#include <stdint.h>

struct netif;

/* Call this before micro_init, once the interface has its address. netif: the interface to use; NULL: lwIP's default.
 * `poll` reads at most one frame and returns whether there was one; it is NULL if a thread or an interrupt feeds lwIP.
 * With NO_SYS, `poll` must also call sys_check_timeouts. */
void lwip_udp_interface(struct netif *netif, bool (*poll)(struct netif *netif));

/* Returns how many datagrams were discarded since micro_init because LWIP_UDP_DATAGRAMS of them were waiting. */
uint32_t lwip_udp_dropped(void);

#endif /* TACHO_MICRO_LWIP_UDP_H_ */
