/* SPDX-License-Identifier: Apache-2.0
 *
 * The recorder's clock: ticks of the cheapest counter that can be trusted, and readings that tie it to the kernel's.
 */
#ifndef TACHO_RECORDER_CLOCK_H_
#define TACHO_RECORDER_CLOCK_H_

#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

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

/* Whether the TSC is forbidden to this process (PR_SET_TSC): the vDSO's clocks read it, too, and are left alone. Set with the choice of the clock. */
extern bool clock_without_tsc;

/* Whether it may be forbidden to some thread: was at the start, or one asked for it. */
extern bool clock_tsc_may_be_forbidden;

/* Whether it is forbidden to the calling thread, asked of the kernel. */
bool clock_tsc_is_forbidden(void);

/* The processor's counter, be it trusted or not. */
#if defined(__x86_64__)
#define CLOCK_COUNTER TACHO_CLOCK_TSC
#elif defined(__aarch64__)
#define CLOCK_COUNTER TACHO_CLOCK_CNTVCT
#else
#define CLOCK_COUNTER TACHO_CLOCK_MONOTONIC
#endif

static inline uint64_t clock_ns(clockid_t id)
{
  struct timespec now;
  if (__builtin_expect(clock_without_tsc, 0)) {
    syscall(SYS_clock_gettime, id, &now);
  } else {
    clock_gettime(id, &now);
  }
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* TSC: not serialised against the instructions around it, a tick may be some ns early, at a quarter of the cost.
 * CNTVCT: processors read it far ahead, even before an earlier reading (Arm ARM DDI 0487, D12.1.2; Linux's own vDSO needs
 * the barrier). Without it a thread's events would not be in the order of time. Of no clock (0) the ticks are 0. */
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
  return clock == 0 ? 0 : clock_ns(CLOCK_MONOTONIC);
}

#endif /* TACHO_RECORDER_CLOCK_H_ */
