// SPDX-License-Identifier: Apache-2.0
#include "track.hpp"

#include <algorithm>
#include <cmath>

namespace world {
namespace {

// The angle as 0 <= angle < 2 pi.
double turned(double angle) {
  const double whole = 2 * M_PI;
  angle = std::fmod(angle, whole);
  return angle < 0 ? angle + whole : angle;
}

Place along(double x, double y, double heading, double curvature, double way, double offset) {
  if (curvature == 0) {
    return {x + way * std::cos(heading) - offset * std::sin(heading),
            y + way * std::sin(heading) + offset * std::cos(heading), heading, 0};
  }
  const double radius = 1 / curvature;
  const double centre_x = x - radius * std::sin(heading), centre_y = y + radius * std::cos(heading);
  const double there = heading + way * curvature;
  const double from_centre = radius - offset;
  return {centre_x + from_centre * std::sin(there), centre_y - from_centre * std::cos(there), there, curvature};
}

}  // namespace

Track::Track(double straight, double breadth, double radius) {
  double x = 0, y = 0, heading = 0, from = 0;
  for (size_t side = 0; side < 4; ++side) {
    const double lengths[2] = {side % 2 == 0 ? straight : breadth, radius * M_PI / 2};
    for (size_t part = 0; part < 2; ++part) {
      const double curvature = part == 0 ? 0 : 1 / radius;
      segments_[2 * side + part] = {from, lengths[part], x, y, heading, curvature};
      const Place end = along(x, y, heading, curvature, lengths[part], 0);
      x = end.x, y = end.y, heading = end.heading, from += lengths[part];
    }
  }
  length_ = from;
}

Place Track::at(double distance, double offset) const {
  distance = std::fmod(distance, length_);
  if (distance < 0) distance += length_;
  const Segment *found = &segments_[0];
  for (const Segment &segment : segments_) {
    if (segment.from <= distance) found = &segment;
  }
  return along(found->x, found->y, found->heading, found->curvature, distance - found->from, offset);
}

OnLane Track::nearest(double x, double y) const {
  OnLane best{};
  double least = INFINITY;
  for (const Segment &s : segments_) {
    double way;
    if (s.curvature == 0) {
      way = (x - s.x) * std::cos(s.heading) + (y - s.y) * std::sin(s.heading);
    } else {
      const double radius = 1 / s.curvature;
      const double dx = x - (s.x - radius * std::sin(s.heading)), dy = y - (s.y + radius * std::cos(s.heading));
      double angle = turned(std::atan2(dx, -dy) - s.heading);
      // Half of what is beyond the corner is nearer to its begin.
      const double middle = s.length * s.curvature / 2;
      if (angle > middle + M_PI) angle = 0;
      way = angle * radius;
    }
    way = std::clamp(way, 0.0, s.length);
    const Place place = along(s.x, s.y, s.heading, s.curvature, way, 0);
    const double dx = x - place.x, dy = y - place.y;
    const double apart = std::hypot(dx, dy);
    if (apart < least) {
      least = apart;
      const double left = dy * std::cos(place.heading) - dx * std::sin(place.heading);
      best = {std::fmod(s.from + way, length_), std::copysign(apart, left), turned(place.heading), s.curvature};
    }
  }
  return best;
}

double Track::way(double from, double to) const {
  double way = std::fmod(to - from, length_);
  if (way < -length_ / 2) way += length_;
  if (way >= length_ / 2) way -= length_;
  return way;
}

}  // namespace world
