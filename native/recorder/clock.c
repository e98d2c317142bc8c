/* SPDX-License-Identifier: Apache-2.0 */
#include "clock.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

/* Returns whether the kernel's current clock source is one of `names` (NULL-terminated). */
static bool kernel_keeps_time_by(const char *const *names) {
  char found[64];
  int fd = open("/sys/devices/system/clocksource/clocksource0/current_clocksource", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  ssize_t size = read(fd, found, sizeof found - 1);
  close(fd);
  if (size <= 0) return false;
  found[size] = '\0';
  found[strcspn(found, "\n")] = '\0';
  for (; *names != NULL; names++) {
    if (strcmp(found, *names) == 0) return true;
  }
  return false;
}

bool clock_without_tsc, clock_tsc_may_be_forbidden;

bool clock_tsc_is_forbidden(void) {
#if defined(__x86_64__)
  int may = PR_TSC_ENABLE;
  return prctl(PR_GET_TSC, &may, 0, 0, 0) == 0 && may == PR_TSC_SIGSEGV;
#else
  return false;
#endif
}

enum tacho_clock clock_choose(void) {
  clock_without_tsc = clock_tsc_is_forbidden();
  if (clock_without_tsc) return TACHO_CLOCK_MONOTONIC;
  const char *wanted = getenv("TACHO_EVENTS_CLOCK");
  if (wanted != NULL && strcmp(wanted, "monotonic") == 0) return TACHO_CLOCK_MONOTONIC;
#if defined(__x86_64__)
  /* The kernel checks at boot and later whether the TSC is synchronous across CPUs. If the kernel does not use the TSC,
   * we do not use it either. CPUID 8000_0007h EDX bit 8 is InvariantTSC (AMD APM vol. 3, E.4.7; Intel SDM vol. 3B,
   * 18.17.1). */
  static const char *const names[] = {"tsc", "kvm-clock", "hyperv_clocksource_tsc_page", NULL};
  unsigned a, b, c, d;
  if (__get_cpuid(0x80000007u, &a, &b, &c, &d) && (d & (1u << 8)) != 0 && kernel_keeps_time_by(names)) {
    return TACHO_CLOCK_TSC;
  }
#elif defined(__aarch64__)
  static const char *const names[] = {"arch_sys_counter", NULL};
  if (kernel_keeps_time_by(names)) return TACHO_CLOCK_CNTVCT;
#else
  (void)kernel_keeps_time_by;
#endif
  return TACHO_CLOCK_MONOTONIC;
}

/* Reads the counter in program order, between two readings of the kernel's clocks. Those begin with the same barrier. */
static uint64_t ticks_in_order(enum tacho_clock clock) {
#if defined(__x86_64__)
  _mm_lfence();
#endif
  return clock_ticks(clock);
}

struct clock_reading clock_read_all(enum tacho_clock clock) {
  struct clock_reading best = {.bound_ns = UINT64_MAX};
  for (int i = 0; i < 8; i++) {
    uint64_t before = clock_ns(CLOCK_MONOTONIC);
    uint64_t ticks = ticks_in_order(clock);
    uint64_t realtime = clock_ns(CLOCK_REALTIME);
    uint64_t after = clock_ns(CLOCK_MONOTONIC);
    uint64_t bound = (after - before + 1) / 2;
    if (bound < best.bound_ns) {
      best = (struct clock_reading){ticks, before + (after - before) / 2, realtime, bound};
    }
  }
  return best;
}
