/* SPDX-License-Identifier: Apache-2.0
 * The calls of linux_udp.h for the lwIP port: Debian's lwIP in this process, on the tap device that LWIP_TAP names.
 *
 * It does not use lwIP's own tapif, which takes frames into the pool, whose buffers Debian's 2.1.3 makes for 592 bytes
 * and fills with up to 1,536. */
#include "linux_udp.h"

#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "lwip/etharp.h"
#include "lwip/tcpip.h"
#include "lwip_udp.h"

#define FRAME 1514
static int tap = -1;

static err_t send_frame(struct netif *netif, struct pbuf *pbuf) {
  uint8_t frame[FRAME];
  (void)netif;
  if (pbuf->tot_len > sizeof frame) return ERR_BUF;
  pbuf_copy_partial(pbuf, frame, pbuf->tot_len, 0);
  return write(tap, frame, pbuf->tot_len) == pbuf->tot_len ? ERR_OK : ERR_IF;
}

static bool receive_frame(struct netif *netif) {
  uint8_t frame[FRAME];
  ssize_t size = read(tap, frame, sizeof frame);
  if (size <= 0) return false;
  struct pbuf *pbuf = pbuf_alloc(PBUF_RAW, (u16_t)size, PBUF_RAM);
  if (pbuf && (pbuf_take(pbuf, frame, (u16_t)size) != ERR_OK || tcpip_input(pbuf, netif) != ERR_OK)) pbuf_free(pbuf);
  return true;
}

static err_t start(struct netif *netif) {
  static const u8_t mac[6] = {0x02, 'l', 'w', 'i', 'p', 1};
  memcpy(netif->hwaddr, mac, sizeof mac);
  netif->hwaddr_len = sizeof mac;
  netif->mtu = 1500;
  netif->flags = NETIF_FLAG_BROADCAST | NETIF_FLAG_ETHARP | NETIF_FLAG_IGMP | NETIF_FLAG_LINK_UP;
  netif->output = etharp_output;
  netif->linkoutput = send_frame;
  return ERR_OK;
}

static void running(void *semaphore) { sys_sem_signal(semaphore); }

void linux_udp_interface(uint32_t address) {
  static struct netif netif;
  ip4_addr_t own = {lwip_htonl(address)}, mask = {lwip_htonl(0xffffff00u)}, none = {0};
  struct ifreq request = {.ifr_flags = IFF_TAP | IFF_NO_PI};
  const char *name = getenv("LWIP_TAP");
  snprintf(request.ifr_name, sizeof request.ifr_name, "%s", name ? name : "");
  tap = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
  if (tap < 0 || ioctl(tap, TUNSETIFF, &request)) {
    perror("lwip_tap: the tap device of LWIP_TAP");
    exit(2);
  }
  sys_sem_t started;
  if (sys_sem_new(&started, 0) != ERR_OK) exit(2);
  tcpip_init(running, &started);
  sys_arch_sem_wait(&started, 0);
  sys_sem_free(&started);
  LOCK_TCPIP_CORE();
  if (!netif_add(&netif, &own, &mask, &none, NULL, start, tcpip_input)) exit(2);
  netif_set_up(&netif);
  UNLOCK_TCPIP_CORE();
  lwip_udp_interface(&netif, receive_frame);
}

void linux_udp_wait(int ms) {
  struct pollfd fd = {.fd = tap, .events = POLLIN};
  poll(&fd, 1, ms);
}
