/* SPDX-License-Identifier: Apache-2.0
 * What ports/ip asks of an Ethernet controller. Frames stand 2 bytes behind a word boundary, so that the IP header is aligned. */
#ifndef TACHO_MICRO_ETHERNET_H_
#define TACHO_MICRO_ETHERNET_H_

#include <stdbool.h>
#include <stdint.h>

#define FRAME_MAX 1514u /* without the frame check sequence, which the controller checks and makes */
#define FRAME_WORDS ((2u + FRAME_MAX + 4u + 3u) / 4u)

/* Starts the controller, passing all multicast; tells its address. */
void ethernet_open(uint8_t mac[6]);

/* The controller's own address, before ethernet_open. */
void ethernet_address(uint8_t mac[6]);

/* Takes the next good frame: its bytes from buffer + 2 on. Returns its size, or 0 when there is none. */
uint32_t ethernet_receive(uint32_t buffer[FRAME_WORDS]);

/* Sends a frame of at most FRAME_MAX bytes, padding it to 60; false when the controller has no room. */
bool ethernet_send(const uint32_t *buffer, uint32_t size);

#endif /* TACHO_MICRO_ETHERNET_H_ */
