/* SPDX-License-Identifier: Apache-2.0
 * Implements udp.h on the raw API of lwIP 2.1 and later: with NO_SYS, or with an operating system and
 * LWIP_TCPIP_CORE_LOCKING.
 *
 * The board provides clock, Unix time and entropy. lwipopts.h must enable LWIP_UDP and LWIP_IGMP, with an interface
 * that has NETIF_FLAG_IGMP, and set three MEMP_NUM_UDP_PCB. It also needs IP_REASSEMBLY (announcements of ROS 2 have 4
 * to 7 kB) with enough pbufs, each for a whole frame, and MEM_SIZE for a datagram to send. */
#include "udp.h"

#include <string.h>

#include "lwip/igmp.h"
#include "lwip/netif.h"
#include "lwip/sys.h"
#include "lwip/tcpip.h"
#include "lwip/udp.h"
#include "lwip_udp.h"

#if !LWIP_UDP || !LWIP_IGMP || !LWIP_IPV4
#error "tacho-micro on lwIP: expected LWIP_UDP, LWIP_IGMP and LWIP_IPV4 in lwipopts.h"
#endif
#if NO_SYS
#define LOCK()
#define UNLOCK()
#elif LWIP_TCPIP_CORE_LOCKING
#define LOCK() LOCK_TCPIP_CORE()
#define UNLOCK() UNLOCK_TCPIP_CORE()
#else
#error "tacho-micro on lwIP with an operating system: expected LWIP_TCPIP_CORE_LOCKING in lwipopts.h"
#endif
#ifndef LWIP_UDP_DATAGRAMS
#define LWIP_UDP_DATAGRAMS 8u /* datagrams that were received and are not processed yet */
#endif

enum { MULTICAST, METATRAFFIC, USER, PORTS };
static struct udp_pcb *pcbs[PORTS];
static struct netif *interface;
static bool (*poll_interface)(struct netif *netif);
static ip4_addr_t joined;
static uint32_t outgoing[(UDP_PAYLOAD + 3) / 4];

/* Passes datagrams from lwIP's thread, if it has one, to ours. */
static struct {
  struct {
    struct pbuf *pbuf;
    uint32_t source;
    uint16_t port;
  } datagrams[LWIP_UDP_DATAGRAMS];
  uint32_t first, count, dropped;
} queue;

void lwip_udp_interface(struct netif *netif, bool (*poll)(struct netif *netif)) {
  interface = netif;
  poll_interface = poll;
}

uint32_t lwip_udp_dropped(void) { return queue.dropped; }

static struct netif *used(void) { return interface ? interface : netif_default; }

uint32_t micro_udp_address(void) { return lwip_ntohl(ip4_addr_get_u32(netif_ip4_addr(used()))); }

static void on_datagram(void *argument, struct udp_pcb *pcb, struct pbuf *pbuf, const ip_addr_t *source,
                        u16_t source_port) {
  (void)argument;
  (void)source_port;
  bool kept = false;
  SYS_ARCH_DECL_PROTECT(level);
  SYS_ARCH_PROTECT(level);
  if (queue.count < LWIP_UDP_DATAGRAMS) {
    uint32_t last = (queue.first + queue.count++) % LWIP_UDP_DATAGRAMS;
    queue.datagrams[last].pbuf = pbuf;
    queue.datagrams[last].source = lwip_ntohl(ip4_addr_get_u32(ip_2_ip4(source)));
    queue.datagrams[last].port = pcb->local_port;
    kept = true;
  } else {
    queue.dropped++;
  }
  SYS_ARCH_UNPROTECT(level);
  if (!kept) pbuf_free(pbuf);
}

static bool open_port(int which, uint16_t port) {
  struct udp_pcb *pcb = udp_new_ip_type(IPADDR_TYPE_V4);
  if (!pcb) return false;
#if SO_REUSE
  if (which == MULTICAST) ip_set_option(pcb, SOF_REUSEADDR);
#endif
  if (udp_bind(pcb, IP4_ADDR_ANY, port) != ERR_OK) {
    udp_remove(pcb);
    return false;
  }
#if LWIP_MULTICAST_TX_OPTIONS
  udp_set_multicast_ttl(pcb, 1);
#endif
  udp_recv(pcb, on_datagram, NULL);
  pcbs[which] = pcb;
  return true;
}

static void close_port(int which) {
  if (pcbs[which]) udp_remove(pcbs[which]);
  pcbs[which] = NULL;
}

static int open_ports(uint16_t base) {
  if (!open_port(MULTICAST, base)) return -1;
  for (int i = 0; i < 120; i++) {
    if (!open_port(METATRAFFIC, (uint16_t)(base + 10 + 2 * i))) continue;
    if (open_port(USER, (uint16_t)(base + 11 + 2 * i))) return i;
    close_port(METATRAFFIC);
  }
  return -1;
}

int micro_udp_open(uint16_t base, uint32_t group) {
  int index = -1;
  if (!used()) return -1;
  LOCK();
  ip4_addr_set_u32(&joined, lwip_htonl(group));
  if (igmp_joingroup_netif(used(), &joined) == ERR_OK) index = open_ports(base);
  UNLOCK();
  if (index < 0) micro_udp_close();
  return index;
}

void micro_udp_close(void) {
  LOCK();
  if (!ip4_addr_isany_val(joined)) igmp_leavegroup_netif(used(), &joined);
  ip4_addr_set_zero(&joined);
  for (int i = 0; i < PORTS; i++) close_port(i);
  for (; queue.count; queue.count--, queue.first = (queue.first + 1) % LWIP_UDP_DATAGRAMS)
    pbuf_free(queue.datagrams[queue.first].pbuf);
  UNLOCK();
}

uint8_t *micro_udp_buffer(void) { return (uint8_t *)outgoing; }

/* Sends a copy in lwIP's memory, because lwIP or the driver may keep it for a while: until ARP has answered, or DMA is
 * done. */
bool micro_udp_send(uint32_t address, uint16_t source_port, uint16_t port, uint32_t size) {
  ip_addr_t to = IPADDR4_INIT(lwip_htonl(address));
  struct udp_pcb *from = pcbs[METATRAFFIC];
  if (!from || size > UDP_PAYLOAD) return false;
  if (pcbs[USER] && pcbs[USER]->local_port == source_port) from = pcbs[USER];
  LOCK();
  struct pbuf *pbuf = pbuf_alloc(PBUF_TRANSPORT, (u16_t)size, PBUF_RAM);
  bool sent = pbuf && pbuf_take(pbuf, outgoing, (u16_t)size) == ERR_OK &&
              udp_sendto_if(from, pbuf, &to, port, used()) == ERR_OK;
  if (pbuf) pbuf_free(pbuf);
  UNLOCK();
  return sent;
}

bool micro_udp_poll(void) {
  bool polled = poll_interface && !queue.count && poll_interface(used());
  struct pbuf *pbuf = NULL;
  struct udp_piece piece = {.source = 0};
  SYS_ARCH_DECL_PROTECT(level);
  SYS_ARCH_PROTECT(level);
  if (queue.count) {
    pbuf = queue.datagrams[queue.first].pbuf;
    piece.source = queue.datagrams[queue.first].source;
    piece.port = queue.datagrams[queue.first].port;
    queue.first = (queue.first + 1) % LWIP_UDP_DATAGRAMS;
    queue.count--;
  }
  SYS_ARCH_UNPROTECT(level);
  if (!pbuf) return polled;
  piece.total = pbuf->tot_len;
  /* A datagram that came in fragments has one pbuf for each. */
  for (struct pbuf *part = pbuf; part; part = part->next) {
    piece.data = part->payload;
    piece.size = part->len;
    if (part->len || !piece.total) micro_receive(&piece);
    piece.offset += part->len;
  }
  LOCK();
  pbuf_free(pbuf);
  UNLOCK();
  return true;
}
