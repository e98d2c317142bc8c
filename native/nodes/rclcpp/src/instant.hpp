// SPDX-License-Identifier: Apache-2.0
//
// Clocks in ns, and the instants at which periodic work is due.
#pragma once

#include <cerrno>
#include <cmath>
#include <cstdint>
#include <ctime>

inline int64_t read_clock(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return now.tv_sec * 1'000'000'000ll + now.tv_nsec;
}
inline int64_t now_ns() { return read_clock(CLOCK_MONOTONIC); }
inline int64_t cpu_ns() { return read_clock(CLOCK_THREAD_CPUTIME_ID); }

inline void sleep_until(int64_t ns) {
  const timespec until{ns / 1'000'000'000, static_cast<long>(ns % 1'000'000'000)};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) == EINTR) {
  }
}

// first + round(k * 1e9 / hz), k = 0, 1, 2 ...
struct Grid {
  int64_t first_ns;
  double hz;

  static Grid of_phase(int64_t start_ns, double phase, double hz) {
    return {start_ns + std::llround(phase * 1e9 / hz), hz};
  }
  int64_t due_ns(int64_t k) const { return first_ns + std::llround(static_cast<double>(k) * 1e9 / hz); }
  // How many are due at or before an instant.
  int64_t due_by(int64_t ns) const {
    if (ns < first_ns) return 0;
    auto k = static_cast<int64_t>(static_cast<double>(ns - first_ns) * hz / 1e9);
    while (due_ns(k) <= ns) k++;
    while (k > 0 && due_ns(k - 1) > ns) k--;
    return k;
  }
};
