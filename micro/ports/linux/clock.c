/* SPDX-License-Identifier: Apache-2.0
 * Provides clocks and entropy of Linux for the ports that run on it. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>

#include "udp.h"

uint64_t micro_clock_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint32_t micro_clock_ms(void) { return (uint32_t)(micro_clock_ns() / 1000000u); }

bool micro_unix_time(uint32_t *seconds, uint32_t *fraction) {
  struct timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  *seconds = (uint32_t)t.tv_sec;
  /* Round up, so that a receiver that rounds down gets the same nanosecond back. */
  *fraction = (uint32_t)((((uint64_t)t.tv_nsec << 32) + 999999999u) / 1000000000u);
  return true;
}

uint32_t micro_entropy(void) {
  uint32_t value;
  if (getrandom(&value, sizeof value, 0) != sizeof value) {
    perror("tacho-micro: getrandom");
    exit(3);
  }
  return value;
}
