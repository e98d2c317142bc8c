/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SIMULATED_H_
#define SIMULATED_H_

#include "tacho_micro.h"
#include "udp.h"

struct simulated_hooks {
  uint32_t address, entropy;
  const uint64_t *now_us;
  void (*send)(uint32_t from, uint32_t to, uint16_t port, const uint8_t *data, uint32_t size);
};
void simulated_set(const struct simulated_hooks *hooks);

#endif
