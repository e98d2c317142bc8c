// SPDX-License-Identifier: Apache-2.0
#include "ray_caster.hpp"

#include "posts.hpp"

#include <algorithm>
#include <cmath>

namespace world {
namespace {

// Distances at which a ray meets a circle; false if it passes beside it.
bool meets_circle(double dx, double dy, double along_x, double along_y, double radius, double (&at)[2]) {
  const double nearest = dx * along_x + dy * along_y;
  const double beside = dx * along_y - dy * along_x;
  const double half_squared = radius * radius - beside * beside;
  if (half_squared <= 0) return false;
  const double half = std::sqrt(half_squared);
  at[0] = nearest - half, at[1] = nearest + half;
  return true;
}

}  // namespace

RayCaster::RayCaster(const tasks::World &world) : wall_height_(world.wall_height) {
  const Track track(world);
  const double corner = world.radius * M_PI / 2;
  for (const double offset : {world.wall, -world.wall}) {
    double distance = 0;
    for (size_t side = 0; side < 4; ++side) {
      const double length = side % 2 == 0 ? world.straight : world.breadth;
      const Place begin = track.at(distance, offset);
      lines_.push_back({begin.x, begin.y, std::cos(begin.heading), std::sin(begin.heading), length});
      distance += length;
      const Place middle = track.at(distance + corner / 2, world.radius);
      const double half = track.at(distance + corner / 2).heading;
      arcs_.push_back({middle.x, middle.y, world.radius - offset, std::sin(half), -std::cos(half)});
      distance += corner;
    }
  }
  const auto stand = [&](const tasks::Obstacle &one) {
    const Place at = track.at(one.distance, one.offset);
    cylinders_.push_back({at.x, at.y, one.radius, one.height});
  };
  std::for_each(world.obstacles, world.obstacles + world.prefix.count, stand);
  const std::vector<tasks::Obstacle> posts = posts_of(world, track);
  std::for_each(posts.begin(), posts.end(), stand);
}

void RayCaster::look(double x, double y, double along_x, double along_y, std::vector<Standing> &found) const {
  found.clear();
  for (const Line &line : lines_) {
    const double across = along_x * line.along_y - along_y * line.along_x;
    if (across == 0) continue;
    const double dx = line.x - x, dy = line.y - y;
    const double at = (dx * line.along_y - dy * line.along_x) / across;
    const double on_line = (dx * along_y - dy * along_x) / across;
    if (at > 0 && on_line >= 0 && on_line <= line.length) found.push_back({at, at, wall_height_});
  }
  double both[2];
  for (const Arc &arc : arcs_) {
    if (!meets_circle(arc.x - x, arc.y - y, along_x, along_y, arc.radius, both)) continue;
    for (const double at : both) {
      const double from_x = x + at * along_x - arc.x, from_y = y + at * along_y - arc.y;
      const bool is_in_corner = from_x * arc.from_x + from_y * arc.from_y >= arc.radius * M_SQRT1_2;
      if (at > 0 && is_in_corner) found.push_back({at, at, wall_height_});
    }
  }
  for (const Cylinder &cylinder : cylinders_) {
    const double dx = cylinder.x - x, dy = cylinder.y - y;
    if (!meets_circle(dx, dy, along_x, along_y, cylinder.radius, both)) continue;
    // No order has a number that is none.
    if (!(both[1] > 0 && both[0] <= both[1])) continue;
    found.push_back({std::max(both[0], 0.0), both[1], cylinder.height});
  }
  std::sort(found.begin(), found.end(), [](const Standing &a, const Standing &b) { return a.from < b.from; });
}

double RayCaster::meets(double height, double slope, const std::vector<Standing> &standing) {
  double nearest = slope < 0 ? -height / slope : INFINITY;
  for (const Standing &one : standing) {
    if (one.from >= nearest) break;
    if (height + slope * one.from <= one.height) {
      nearest = one.from;
    } else if (slope < 0) {
      const double on_top = (one.height - height) / slope;
      if (on_top < one.until) nearest = std::min(nearest, on_top);
    }
  }
  return nearest;
}

}  // namespace world
