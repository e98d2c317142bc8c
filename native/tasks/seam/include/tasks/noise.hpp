// SPDX-License-Identifier: Apache-2.0
//
// Normally distributed noise, the same for one seed on every machine: the distributions of the standard library are
// not.
#ifndef TACHO_TASKS_NOISE_HPP_
#define TACHO_TASKS_NOISE_HPP_

#include <cmath>
#include <cstdint>

namespace tasks {

class Noise {
 public:
  explicit Noise(uint64_t seed) : state_(seed) {}

  // Draws with this standard deviation; 0 draws nothing.
  double operator()(double deviation) {
    if (deviation == 0) return 0;
    const double radius = std::sqrt(-2 * std::log(1 - uniform()));
    return deviation * radius * std::cos(2 * M_PI * uniform());
  }

 private:
  // SplitMix64 (Steele, Lea, Flood 2014), 0 <= value < 1.
  double uniform() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-53;
  }

  uint64_t state_;
};

}  // namespace tasks

#endif  // TACHO_TASKS_NOISE_HPP_
