/* SPDX-License-Identifier: Apache-2.0
 * Runs lwIP on a controller of ethernet.h instead of ports/ip. Boards only need to call ip_configure. */
#include <string.h>

#include "ip.h"
#include "lwip/etharp.h"
#include "lwip/init.h"
#include "lwip/timeouts.h"
#include "lwip_udp.h"

static struct netif interface;
static uint32_t incoming[FRAME_WORDS], outgoing[FRAME_WORDS];

static err_t send(struct netif *netif, struct pbuf *pbuf) {
  (void)netif;
  if (pbuf->tot_len > ETH_PAD_SIZE + FRAME_MAX) return ERR_BUF;
  pbuf_copy_partial(pbuf, outgoing, pbuf->tot_len, 0);
  return ethernet_send(outgoing, pbuf->tot_len - ETH_PAD_SIZE) ? ERR_OK : ERR_MEM;
}

static bool receive(struct netif *netif) {
  sys_check_timeouts();
  uint32_t size = ethernet_receive(incoming);
  if (!size) return false;
  struct pbuf *pbuf = pbuf_alloc(PBUF_RAW, (u16_t)(ETH_PAD_SIZE + size), PBUF_POOL);
  if (pbuf && (pbuf_take(pbuf, incoming, pbuf->tot_len) != ERR_OK || netif->input(pbuf, netif) != ERR_OK))
    pbuf_free(pbuf);
  return true;
}

static err_t start(struct netif *netif) {
  netif->name[0] = 'e';
  netif->name[1] = 'n';
  netif->mtu = 1500;
  netif->hwaddr_len = 6;
  netif->flags = NETIF_FLAG_BROADCAST | NETIF_FLAG_ETHARP | NETIF_FLAG_ETHERNET | NETIF_FLAG_IGMP | NETIF_FLAG_LINK_UP;
  netif->output = etharp_output;
  netif->linkoutput = send;
  ethernet_open(netif->hwaddr);
  return ERR_OK;
}

void ip_configure(uint32_t address, uint32_t mask, uint32_t gateway) {
  ip4_addr_t of[3] = {{lwip_htonl(address)}, {lwip_htonl(mask)}, {lwip_htonl(gateway)}};
  lwip_init();
  netif_add(&interface, &of[0], &of[1], &of[2], NULL, start, netif_input);
  netif_set_default(&interface);
  netif_set_up(&interface);
  lwip_udp_interface(&interface, receive);
}

u32_t sys_now(void) { return micro_clock_ms(); }
