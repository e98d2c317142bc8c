/* SPDX-License-Identifier: Apache-2.0
 * Configures lwIP for one ROS 2 node: IPv4 and UDP, no operating system, a heap of its own. */
#ifndef LWIPOPTS_H_
#define LWIPOPTS_H_

#define NO_SYS 1
#define SYS_LIGHTWEIGHT_PROT 0
#define LWIP_NETCONN 0
#define LWIP_SOCKET 0
#define LWIP_TCP 0
#define LWIP_RAW 0
#define LWIP_DHCP 0
#define LWIP_ACD 0
#define LWIP_IGMP 1
#define LWIP_MULTICAST_TX_OPTIONS 1
#define LWIP_STATS 0
#define LWIP_SINGLE_NETIF 1
#define LWIP_CHKSUM_ALGORITHM 3

#define MEM_ALIGNMENT 4
#define MEM_SIZE 4096 /* for datagrams that wait for ARP */
#define MEMP_NUM_UDP_PCB 3
#define MEMP_NUM_SYS_TIMEOUT 6
#define ETH_PAD_SIZE 2 /* the padding of frames in ethernet.h */

/* Each buffer holds a frame. A datagram of discovery takes five, and two may come at once. */
#define PBUF_POOL_BUFSIZE 1536
#define PBUF_POOL_SIZE 12
#define IP_REASSEMBLY 1
#define IP_REASS_MAX_PBUFS 10
#define MEMP_NUM_REASSDATA 3
#define ARP_TABLE_SIZE 16

#endif /* LWIPOPTS_H_ */
