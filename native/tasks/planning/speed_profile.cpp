// SPDX-License-Identifier: Apache-2.0
#include "speed_profile.hpp"

#include <algorithm>
#include <cmath>

namespace planning {
namespace {

// Highest squared speeds from which, braking like this, every later limit is kept.
std::vector<double> backwards(const std::vector<double> &distances, std::vector<double> most, double braking) {
  for (size_t i = most.size() - 1; i-- > 0;) {
    most[i] = std::min(most[i], most[i + 1] + 2 * braking * (distances[i + 1] - distances[i]));
  }
  return most;
}

}  // namespace

std::vector<double> speed_profile(const std::vector<double> &distances, const std::vector<double> &curvatures,
                                  double speed, std::optional<double> stop, const Limits &limits) {
  const size_t n = distances.size();
  std::vector<double> most(n);
  for (size_t i = 0; i < n; ++i) {
    const double bend = std::abs(curvatures[i]);
    most[i] = limits.speed * limits.speed;
    if (bend > 0) most[i] = std::min(most[i], limits.lateral / bend);
    if (stop && distances[i] >= *stop) most[i] = 0;
  }
  const double now = speed * speed;
  double braking = limits.braking;
  if (stop && *stop > 0) braking = std::clamp(now / (2 * *stop), limits.braking, limits.emergency);
  most = backwards(distances, most, braking);
  std::vector<double> speeds(n);
  double squared = now;
  for (size_t i = 0; i < n; ++i) {
    if (i > 0) {
      const double way = 2 * (distances[i] - distances[i - 1]);
      // No limit is reached faster than by braking: the vehicle has the speed that it has.
      squared = std::clamp(most[i], std::max(0.0, squared - braking * way), squared + limits.acceleration * way);
    }
    if (squared < 1e-9) squared = 0;  // but for rounding it stands
    speeds[i] = std::sqrt(squared);
  }
  return speeds;
}

}  // namespace planning
