/* SPDX-License-Identifier: Apache-2.0
 * Implements udp.h on Linux sockets: the same node runs as a process, for tests and for measuring at the speed of a
 * real CPU. */
#define _GNU_SOURCE
#include "udp.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "linux_udp.h"

enum { MULTICAST, METATRAFFIC, USER, SOCKETS };
/* A message of a megabyte comes as one burst of 780 datagrams. The kernel grants less if net.core.rmem_max is less. */
enum { RECEIVE_BUFFER = 8 << 20 };
static int sockets[SOCKETS] = {-1, -1, -1};
static uint16_t ports[SOCKETS];
static uint32_t interface_address;
static _Alignas(4) uint8_t outgoing[UDP_PAYLOAD];
static uint8_t incoming[65536];

static void fail(const char *what) {
  fprintf(stderr, "tacho-micro: %s: %s\n", what, strerror(errno));
  exit(3);
}

static struct sockaddr_in to(uint32_t address, uint16_t port) {
  struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(address)};
  return in;
}

void linux_udp_interface(uint32_t address) { interface_address = address; }

uint32_t micro_udp_address(void) {
  if (interface_address) return interface_address;
  /* Find the address from which we would reach the discovery group; without a route, use the loopback. */
  struct sockaddr_in group = to(0xefff0001u, 7400), name;
  socklen_t size = sizeof name;
  int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) fail("socket");
  interface_address = INADDR_LOOPBACK;
  if (connect(fd, (struct sockaddr *)&group, sizeof group) == 0 &&
      getsockname(fd, (struct sockaddr *)&name, &size) == 0)
    interface_address = ntohl(name.sin_addr.s_addr);
  close(fd);
  return interface_address;
}

static int open_port(int which, uint32_t address, uint16_t port) {
  int fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), yes = 1;
  if (fd < 0) fail("socket");
  int room = RECEIVE_BUFFER;
  if (setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof room)) fail("SO_RCVBUF");
  if (which == MULTICAST && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes)) fail("SO_REUSEADDR");
  struct sockaddr_in in = to(address, port);
  if (bind(fd, (struct sockaddr *)&in, sizeof in)) {
    close(fd);
    return -1;
  }
  sockets[which] = fd;
  ports[which] = port;
  return fd;
}

int micro_udp_open(uint16_t base, uint32_t group) {
  struct in_addr local = {.s_addr = htonl(micro_udp_address())};
  struct ip_mreq membership = {.imr_multiaddr.s_addr = htonl(group), .imr_interface = local};
  if (open_port(MULTICAST, INADDR_ANY, base) < 0) fail("bind to the discovery port");
  if (setsockopt(sockets[MULTICAST], IPPROTO_IP, IP_ADD_MEMBERSHIP, &membership, sizeof membership))
    fail("IP_ADD_MEMBERSHIP");
  for (int i = 0; i < 120; i++) {
    if (open_port(METATRAFFIC, INADDR_ANY, (uint16_t)(base + 10 + 2 * i)) < 0) continue;
    if (open_port(USER, INADDR_ANY, (uint16_t)(base + 11 + 2 * i)) < 0) {
      close(sockets[METATRAFFIC]);
      continue;
    }
    if (setsockopt(sockets[METATRAFFIC], IPPROTO_IP, IP_MULTICAST_IF, &local, sizeof local)) fail("IP_MULTICAST_IF");
    return i;
  }
  fail("no free ports for a participant of this domain");
  return -1;
}

void micro_udp_close(void) {
  for (int i = 0; i < SOCKETS; i++) {
    if (sockets[i] >= 0) close(sockets[i]);
    sockets[i] = -1;
  }
}

uint8_t *micro_udp_buffer(void) { return outgoing; }

bool micro_udp_send(uint32_t address, uint16_t source_port, uint16_t port, uint32_t size) {
  (void)source_port; /* the metatraffic socket sends everything */
  struct sockaddr_in in = to(address, port);
  return sendto(sockets[METATRAFFIC], outgoing, size, 0, (struct sockaddr *)&in, sizeof in) == (ssize_t)size;
}

bool micro_udp_poll(void) {
  for (int i = 0; i < SOCKETS; i++) {
    struct sockaddr_in from;
    socklen_t length = sizeof from;
    ssize_t size = recvfrom(sockets[i], incoming, sizeof incoming, 0, (struct sockaddr *)&from, &length);
    if (size < 0) continue;
    struct udp_piece piece = {.source = ntohl(from.sin_addr.s_addr),
                              .port = ports[i],
                              .data = incoming,
                              .size = (uint32_t)size,
                              .total = (uint32_t)size};
    micro_receive(&piece);
    return true;
  }
  return false;
}

void linux_udp_wait(int ms) {
  struct pollfd fds[SOCKETS];
  for (int i = 0; i < SOCKETS; i++) fds[i] = (struct pollfd){.fd = sockets[i], .events = POLLIN};
  if (poll(fds, SOCKETS, ms) < 0 && errno != EINTR) fail("poll");
}
