// SPDX-License-Identifier: Apache-2.0
#include "posts.hpp"

#include <algorithm>
#include <cmath>

namespace world {

std::vector<tasks::Obstacle> posts_of(const tasks::World &world, const Track &track) {
  std::vector<tasks::Obstacle> posts;
  if (world.post_spacing <= 0) return posts;
  // More would be no world that these tasks made.
  const double most = std::clamp(track.length() / world.post_spacing, 0.0, 1e4);
  const auto count = std::isfinite(most) ? static_cast<size_t>(most) : 0;
  for (size_t i = 0; i < count; ++i) {
    // Multiples of the golden ratio repeat no pattern.
    const double part = std::fmod(static_cast<double>(i) * 0.6180339887498949, 1.0);
    const double distance = (static_cast<double>(i) + 0.5 * part) * world.post_spacing;
    const double offset = i % 2 == 0 ? -world.post_offset : world.post_offset;
    posts.push_back({distance, offset, world.post_radius, world.post_height});
  }
  return posts;
}

}  // namespace world
