/* SPDX-License-Identifier: Apache-2.0
 * Defines what lwIP needs from the compiler. */
#ifndef TACHO_MICRO_LWIP_CC_H_
#define TACHO_MICRO_LWIP_CC_H_

#include <stdint.h>

uint32_t micro_entropy(void);
void board_stop(int status);

#define LWIP_NO_UNISTD_H 1
#define LWIP_PLATFORM_DIAG(text)
#define LWIP_PLATFORM_ASSERT(text) board_stop(2)
#define LWIP_RAND() micro_entropy()

#endif /* TACHO_MICRO_LWIP_CC_H_ */
