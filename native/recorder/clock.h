/* SPDX-License-Identifier: Apache-2.0
 *
 * The recorder's clock: ticks of the cheapest counter that can be trusted, and readings that tie it to the kernel's.
 */
#ifndef TACHO_RECORDER_CLOCK_H_
#define TACHO_RECORDER_CLOCK_H_

#include <stdint.h>
#include <time.h>

#include "tacho/events.h"

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

/* One reading of all clocks: `ticks` and `realtime_ns` were read within +-bound_ns of `monotonic_ns`. */
struct clock_reading {
  uint64_t ticks;
  uint64_t monotonic_ns;
  uint64_t realtime_ns;
  uint64_t bound_ns;
};

/* The counter of this machine: TSC or CNTVCT where the hardware says that it is invariant and the kernel itself keeps
 * time by it, else CLOCK_MONOTONIC. TACHO_EVENTS_CLOCK=monotonic asks for the latter. */
enum tacho_clock clock_choose(void);

/* The best of several bracketed readings. */
struct clock_reading clock_read_all(enum tacho_clock clock);

static inline uint64_t clock_ns(clockid_t id)
{
  struct timespec now;
  clock_gettime(id, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* TSC: not serialised against the instructions around it, a tick may be some ns early, at a quarter of the cost.
 * CNTVCT: processors read it far ahead, even before an earlier reading (Arm ARM DDI 0487, D12.1.2; Linux's own vDSO needs
 * the barrier). Without it a thread's events would not be in the order of time. */
static inline __attribute__((always_inline)) uint64_t clock_ticks(enum tacho_clock clock)
{
#if defined(__x86_64__)
  if (__builtin_expect(clock == TACHO_CLOCK_TSC, 1)) return __rdtsc();
#elif defined(__aarch64__)
  if (__builtin_expect(clock == TACHO_CLOCK_CNTVCT, 1)) {
    uint64_t ticks;
    __asm__ volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(ticks) : : "memory");
    return ticks;
  }
#endif
  (void)clock;
  return clock_ns(CLOCK_MONOTONIC);
}

#endif /* TACHO_RECORDER_CLOCK_H_ */
