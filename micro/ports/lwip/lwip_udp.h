/* SPDX-License-Identifier: Apache-2.0
 * What the lwIP port has beside the seam. */
#ifndef TACHO_MICRO_LWIP_UDP_H_
#define TACHO_MICRO_LWIP_UDP_H_

#include <stdbool.h>
#include <stdint.h>

struct netif;

/* Before micro_init, when the interface has its address: the one to use; NULL: lwIP's default. `poll` takes in at most one frame and says
 * whether there was one; NULL where a thread or an interrupt feeds lwIP. With NO_SYS, `poll` calls sys_check_timeouts, too. */
void lwip_udp_interface(struct netif *netif, bool (*poll)(struct netif *netif));

/* Datagrams thrown away since micro_init, as LWIP_UDP_DATAGRAMS of them were waiting. */
uint32_t lwip_udp_dropped(void);

#endif /* TACHO_MICRO_LWIP_UDP_H_ */
