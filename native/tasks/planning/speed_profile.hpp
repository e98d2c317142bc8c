// SPDX-License-Identifier: Apache-2.0
//
// The speed along a curve that keeps to the limits of lateral and longitudinal acceleration and stops where it must.
#ifndef TACHO_TASKS_SPEED_PROFILE_HPP_
#define TACHO_TASKS_SPEED_PROFILE_HPP_

#include <optional>
#include <vector>

namespace planning {

struct Limits {
  double speed;
  double lateral;  // acceleration
  double acceleration;
  double braking;
  double emergency;  // braking, if a stop needs more than `braking`
};

// Speeds at distances from 0 on, given the curvature there and the speed at 0. `stop` is the distance at which to
// stand, one of the distances: all speeds from there on are 0.
std::vector<double> speed_profile(const std::vector<double> &distances, const std::vector<double> &curvatures,
                                  double speed, std::optional<double> stop, const Limits &limits);

}  // namespace planning

#endif  // TACHO_TASKS_SPEED_PROFILE_HPP_
