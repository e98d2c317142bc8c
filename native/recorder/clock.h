/* SPDX-License-Identifier: Apache-2.0
 *
 * The recorder's clock: ticks of the cheapest counter that we can trust, and readings that relate it to the kernel's
 * clocks.
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

/* Chooses the counter of this machine: TSC or CNTVCT if the hardware reports it as invariant and the kernel itself
 * keeps time by it, otherwise CLOCK_MONOTONIC. TACHO_EVENTS_CLOCK=monotonic selects the latter. */
enum tacho_clock clock_choose(void);

/* Returns the most accurate of several bracketed readings. */
struct clock_reading clock_read_all(enum tacho_clock clock);

/* Whether PR_SET_TSC forbids this process the TSC. The vDSO's clocks read the TSC too, so we do not use them then.
 * clock_choose sets it. */
extern bool clock_without_tsc;

/* Whether some thread may be forbidden to read the TSC: it was forbidden at the start, or a thread asked for it. */
extern bool clock_tsc_may_be_forbidden;

/* Asks the kernel whether the calling thread is forbidden to read the TSC. */
bool clock_tsc_is_forbidden(void);

/* The processor's counter, whether we trust it or not. */
#if defined(__x86_64__)
#define CLOCK_COUNTER TACHO_CLOCK_TSC
#elif defined(__aarch64__)
#define CLOCK_COUNTER TACHO_CLOCK_CNTVCT
#else
#define CLOCK_COUNTER TACHO_CLOCK_MONOTONIC
#endif

static inline uint64_t clock_ns(clockid_t id) {
  struct timespec now;
  if (__builtin_expect(clock_without_tsc, 0)) {
    syscall(SYS_clock_gettime, id, &now);
  } else {
    clock_gettime(id, &now);
  }
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Reads the clock. TSC: we do not serialise the reading against the instructions around it. A tick may therefore be
 * some ns early, but the reading costs a quarter. CNTVCT: processors read it far ahead, even before an earlier reading
 * (Arm ARM DDI 0487, D12.1.2; Linux's own vDSO needs the barrier). Without the barrier, a thread's events would not be
 * in time order. If there is no clock (0), the ticks are 0. */
static inline __attribute__((always_inline)) uint64_t clock_ticks(enum tacho_clock clock) {
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
