/* SPDX-License-Identifier: Apache-2.0
 * The functions that ports/ip needs of an Ethernet controller. Frames begin 2 bytes after a word boundary, which aligns
 * the IP header. */
#ifndef TACHO_MICRO_ETHERNET_H_
#define TACHO_MICRO_ETHERNET_H_

#include <stdbool.h>
#include <stdint.h>

/* Without the frame check sequence: the controller checks and creates it. */
#define FRAME_MAX 1514u
#define FRAME_WORDS ((2u + FRAME_MAX + 4u + 3u) / 4u)

/* Starts the controller so that it accepts all multicast, and returns its address. */
void ethernet_open(uint8_t mac[6]);

/* Returns the controller's own address; call it before ethernet_open. */
void ethernet_address(uint8_t mac[6]);

/* Reads the next good frame into the bytes from buffer + 2 on. Returns its size, or 0 if there is none. */
uint32_t ethernet_receive(uint32_t buffer[FRAME_WORDS]);

/* Sends a frame of at most FRAME_MAX bytes, padded to 60. Returns false if the controller has no room. */
bool ethernet_send(const uint32_t *buffer, uint32_t size);

#endif /* TACHO_MICRO_ETHERNET_H_ */
