// SPDX-License-Identifier: Apache-2.0
#include "drive_record.hpp"

#include <algorithm>
#include <cmath>

namespace vehicle {
namespace {

constexpr double STANDSTILL = 0.05;  // m/s

// How far the body is beyond the border of its lane at most; negative inside. Study E ignores cutting inside corners:
// there, only the outer border counts.
double beyond_lane(const State &s, const world::Track &track, double half_lane) {
  double beyond = -INFINITY;
  // Measured from the centre of gravity, which is taken for the middle of the body.
  for (const double ahead : {LENGTH / 2, -LENGTH / 2}) {
    for (const double left : {WIDTH / 2, -WIDTH / 2}) {
      const double cosine = std::cos(s[YAW]), sine = std::sin(s[YAW]);
      const world::OnLane at = track.nearest(s[X] + ahead * cosine - left * sine, s[Y] + ahead * sine + left * cosine);
      const bool is_inside_corner = at.curvature > 0 && at.offset > 0;
      if (!is_inside_corner) beyond = std::max(beyond, std::abs(at.offset) - half_lane);
    }
  }
  return beyond;
}

// Free way between the front of the body and the obstacle, along the lane; none if it stands behind, or beside the way
// of the body.
std::optional<double> gap_to(const tasks::Obstacle &obstacle, const world::OnLane &vehicle, const world::Track &track) {
  const double way = track.way(vehicle.distance, obstacle.distance);
  const bool is_beside = std::abs(obstacle.offset - vehicle.offset) > WIDTH / 2 + obstacle.radius;
  if (way < 0 || is_beside) return std::nullopt;
  return way - LENGTH / 2 - obstacle.radius;
}

}  // namespace

std::optional<double> free_way(const State &s, const tasks::World &world, const world::Track &track) {
  const world::OnLane at = track.nearest(s[X], s[Y]);
  std::optional<double> nearest;
  for (uint32_t i = 0; i < world.prefix.count; ++i) {
    const std::optional<double> gap = gap_to(world.obstacles[i], at, track);
    if (gap) nearest = std::min(nearest.value_or(INFINITY), *gap);
  }
  return nearest;
}

void DriveRecord::look(const State &s, const tasks::World &world, const world::Track &track) {
  if (left_) return;  // what comes after is no drive on a lane
  const world::OnLane at = track.nearest(s[X], s[Y]);
  if (last_distance_) driven_ += track.way(*last_distance_, at.distance);
  last_distance_ = at.distance;
  if (beyond_lane(s, track, world.lane_width / 2) > 0) {
    left_ = Left{at.distance, s[X], s[Y], s[SPEED]};
    return;
  }
  ++looks_;
  squared_errors_ += at.offset * at.offset;
  worst_error_ = std::max(worst_error_, std::abs(at.offset));
  fastest_ = std::max(fastest_, s[SPEED]);
  const std::optional<double> nearest = free_way(s, world, track);
  if (!nearest) return;
  least_gap_ = std::min(least_gap_.value_or(INFINITY), *nearest);
  collided_ = collided_ || *nearest <= 0;
  if (std::abs(s[SPEED]) < STANDSTILL) gap_at_standstill_ = *nearest;
}

void DriveRecord::report(const tasks::Figures &figure) const {
  if (looks_ == 0) return;
  figure("lane_kept", "", left_ ? 0 : 1);
  if (left_) {
    figure("left_lane_at", "m", left_->distance);
    figure("left_lane_at_x", "m", left_->x);
    figure("left_lane_at_y", "m", left_->y);
    figure("left_lane_at_speed", "m/s", left_->speed);
  }
  figure("driven", "m", driven_);
  figure("speed_max", "m/s", fastest_);
  figure("lateral_error_max", "m", worst_error_);
  figure("lateral_error_rms", "m", std::sqrt(squared_errors_ / static_cast<double>(looks_)));
  if (least_gap_) {
    figure("obstacle_gap_min", "m", *least_gap_);
    figure("collided", "", collided_ ? 1 : 0);
  }
  if (gap_at_standstill_) figure("stop_margin", "m", *gap_at_standstill_);
}

}  // namespace vehicle
