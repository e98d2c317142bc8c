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

double square(double value) { return value * value; }

// Stands for a way within a corner, until it is known that the corner is the nearest.
constexpr double INSIDE = -1;

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
      const Place end = along(x, y, heading, curvature, lengths[part], 0);
      const double along_x = std::cos(heading), along_y = std::sin(heading);
      const double middle = heading + lengths[part] * curvature / 2;
      segments_[2 * side + part] = {from,
                                    lengths[part],
                                    x,
                                    y,
                                    heading,
                                    curvature,
                                    along_x,
                                    along_y,
                                    x - radius * along_y,
                                    y + radius * along_x,
                                    std::sin(middle),
                                    -std::cos(middle),
                                    end.x,
                                    end.y};
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

Track::Near Track::near(double x, double y) const {
  Near best{&segments_[0], 0, INFINITY};
  for (const Segment &s : segments_) {
    double way = 0, squared;
    if (s.curvature == 0) {
      const double dx = x - s.x, dy = y - s.y;
      way = std::clamp(dx * s.along_x + dy * s.along_y, 0.0, s.length);
      squared = square(dx - way * s.along_x) + square(dy - way * s.along_y);
    } else {
      const double dx = x - s.centre_x, dy = y - s.centre_y;
      const double from_centre = std::sqrt(dx * dx + dy * dy);
      if (dx * s.middle_x + dy * s.middle_y >= from_centre * M_SQRT1_2) {
        squared = square(from_centre - 1 / s.curvature);
        way = INSIDE;
      } else {
        // Half of what is beyond the corner is nearer to its begin.
        const double to_begin = square(x - s.x) + square(y - s.y), to_end = square(x - s.end_x) + square(y - s.end_y);
        squared = std::min(to_begin, to_end);
        way = to_begin <= to_end ? 0 : s.length;
      }
    }
    if (squared < best.squared) best = {&s, way, squared};
  }
  return best;
}

Track::About::About(const Track &track, double x, double y, double within, double near) : track_(track), near_(near) {
  // Rounding adds far less to a distance, in single precision, too.
  constexpr double SLACK = 1e-3;
  from_ = -near - SLACK, beside_ = near + SLACK;
  const double reach = within + near + SLACK;
  for (const Segment &s : track.segments_) {
    if (s.curvature == 0) {
      const double dx = x - s.x, dy = y - s.y;
      const double way = std::clamp(dx * s.along_x + dy * s.along_y, 0.0, s.length);
      if (square(dx - way * s.along_x) + square(dy - way * s.along_y) > reach * reach) continue;
      straight_[straights_++] = {s.x, s.y, s.along_x, s.along_y, s.length + near + SLACK};
    } else {
      const double radius = 1 / s.curvature;
      if (std::abs(std::hypot(x - s.centre_x, y - s.centre_y) - radius) > reach) continue;
      corner_[corners_++] = {s.centre_x, s.centre_y, square(std::max(radius - beside_, 0.0)), square(radius + beside_)};
    }
  }
}

bool Track::About::may_be_near(double x, double y) const {
  for (size_t i = 0; i < straights_; ++i) {
    const Straight &s = straight_[i];
    const double dx = x - s.x, dy = y - s.y;
    const double way = dx * s.along_x + dy * s.along_y;
    if (std::abs(dx * s.along_y - dy * s.along_x) <= beside_ && way >= from_ && way <= s.until) return true;
  }
  for (size_t i = 0; i < corners_; ++i) {
    const Corner &c = corner_[i];
    const double squared = square(x - c.x) + square(y - c.y);
    if (squared >= c.from_squared && squared <= c.to_squared) return true;
  }
  return false;
}

OnLane Track::nearest(double x, double y) const {
  const auto [best, found, squared] = near(x, y);
  double best_way = found;
  if (best_way == INSIDE) {
    const double angle = turned(std::atan2(x - best->centre_x, best->centre_y - y) - best->heading);
    // Rounding may turn the begin of the corner into a whole turn.
    best_way = angle > M_PI ? 0 : std::min(angle / best->curvature, best->length);
  }
  const Place place = along(best->x, best->y, best->heading, best->curvature, best_way, 0);
  const double dx = x - place.x, dy = y - place.y;
  const double left = dy * std::cos(place.heading) - dx * std::sin(place.heading);
  return {std::fmod(best->from + best_way, length_), std::copysign(std::hypot(dx, dy), left), turned(place.heading),
          best->curvature};
}

double Track::way(double from, double to) const {
  double way = std::fmod(to - from, length_);
  if (way < -length_ / 2) way += length_;
  if (way >= length_ / 2) way -= length_;
  return way;
}

}  // namespace world
