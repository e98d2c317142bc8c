// SPDX-License-Identifier: Apache-2.0
//
// Draws numbers by seed with SplitMix64 (Steele, Lea, Flood 2014), as crates/workload/src/random.rs does for nodes in
// Rust. tests/fixtures/draws.txt lists what every language must draw. Compile with -ffp-contract=off, because a fused
// multiply-add rounds differently.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

class Draws {
 public:
  explicit Draws(uint64_t seed) : state(seed) {}

  uint64_t bits() {
    uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }

  // ns between the bounds.
  int64_t uniform_ns(int64_t min, int64_t max) {
    const double from = static_cast<double>(min), to = static_cast<double>(max);
    return static_cast<int64_t>(from + (to - from) * uniform());
  }

  // ns, limited to zero and to mean + 4 std.
  int64_t normal_ns(int64_t mean_ns, int64_t std_ns) {
    const double mean = static_cast<double>(mean_ns), std = static_cast<double>(std_ns);
    return static_cast<int64_t>(std::clamp(mean + std * normal(), 0.0, mean + 4.0 * std));
  }

 private:
  // In (0, 1].
  double uniform() { return static_cast<double>((bits() >> 11) + 1) / 9007199254740992.0; }

  // Standard normal (Box and Muller 1958).
  double normal() {
    constexpr double TAU = 6.283185307179586;
    const double radius = std::sqrt(-2.0 * std::log(uniform()));
    return radius * std::cos(TAU * uniform());
  }

  uint64_t state;
};
