// SPDX-License-Identifier: Apache-2.0
#include "point_map.hpp"

#include "../world/ray_caster.hpp"

#include <cmath>
#include <stdexcept>
#include <string>

namespace lidar {
namespace {

constexpr int RINGS = 48, COLUMNS = 360;
constexpr double LOWEST = -25 * M_PI / 180, HIGHEST = 5 * M_PI / 180, HEIGHT = 1.73, RANGE = 40;
constexpr double LONGEST = 20'000;

}  // namespace

std::vector<Eigen::Vector4d> point_map(const tasks::World &world, double spacing) {
  tasks::World empty = world;
  empty.prefix.count = 0;
  const world::Track track(empty);
  if (!(track.length() > 0 && track.length() < LONGEST)) {
    throw std::runtime_error("found a lane of " + std::to_string(track.length()) + " m, expected one of less than " +
                             std::to_string(LONGEST) + " m");
  }
  const world::RayCaster caster(empty);
  std::vector<Eigen::Vector4d> points;
  std::vector<world::Standing> standing;
  for (double distance = 0; distance < track.length(); distance += spacing) {
    const world::Place at = track.at(distance);
    for (int column = 0; column < COLUMNS; ++column) {
      const double azimuth = 2 * M_PI * column / COLUMNS;
      const double along_x = std::cos(azimuth), along_y = std::sin(azimuth);
      caster.look(at.x, at.y, along_x, along_y, standing);
      for (int ring = 0; ring < RINGS; ++ring) {
        const double slope = std::tan(LOWEST + (HIGHEST - LOWEST) * ring / (RINGS - 1));
        const double away = world::RayCaster::meets(HEIGHT, slope, standing);
        if (away > RANGE) continue;
        points.emplace_back(at.x + away * along_x, at.y + away * along_y, HEIGHT + away * slope, 1);
      }
    }
  }
  return points;
}

}  // namespace lidar
