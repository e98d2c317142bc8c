// SPDX-License-Identifier: Apache-2.0
//
// Judges a drive by the truth: whether the lane was kept, where it was left, how near the vehicle came to obstacles.
#ifndef TACHO_TASKS_DRIVE_RECORD_HPP_
#define TACHO_TASKS_DRIVE_RECORD_HPP_

#include "single_track.hpp"

#include <tasks/task.hpp>
#include "../world/track.hpp"

#include <optional>

namespace vehicle {

// Free way between the front of the body and the nearest obstacle in its way, along the lane; none if there is none.
std::optional<double> free_way(const State &state, const tasks::World &world, const world::Track &track);

class DriveRecord {
 public:
  // Judges the vehicle in this state.
  void look(const State &state, const tasks::World &world, const world::Track &track);
  void report(const tasks::Figures &figure) const;

 private:
  struct Left {
    double distance, x, y, speed;
  };
  std::optional<Left> left_;  // the first time
  std::optional<double> last_distance_;
  double driven_ = 0;
  double squared_errors_ = 0, worst_error_ = 0;
  double fastest_ = 0;
  size_t looks_ = 0;
  std::optional<double> least_gap_;
  std::optional<double> gap_at_standstill_;
  bool collided_ = false;
};

}  // namespace vehicle

#endif  // TACHO_TASKS_DRIVE_RECORD_HPP_
