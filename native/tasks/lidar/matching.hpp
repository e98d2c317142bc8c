// SPDX-License-Identifier: Apache-2.0
//
// What localisations have in common: a scan is moved onto the map, from where odometry says that the vehicle is.
#ifndef TACHO_TASKS_LIDAR_MATCHING_HPP_
#define TACHO_TASKS_LIDAR_MATCHING_HPP_

#include "point_map.hpp"

#include <tasks/clouds.hpp>
#include <tasks/task.hpp>

#include <Eigen/Geometry>
#include <vector>

namespace lidar {

using Points = std::vector<Eigen::Vector4d>;

constexpr tacho_task_slot MATCHING_INPUTS[] = {tasks::input("point cloud"), tasks::input("odometry"),
                                               tasks::input("map")};
constexpr tacho_task_slot MATCHING_OUTPUTS[] = {tasks::output("pose", sizeof(tasks::Pose))};

class Matching : public tasks::Task {
 public:
  // `correction`: a match that moves the pose farther is rejected.
  Matching(const tasks::Config &config, double map_spacing, double correction);

  void run(const tacho_task_call &call) override;
  void figures(const tasks::Figures &figure) override;

 protected:
  struct Match {
    Eigen::Isometry3d pose;
    size_t iterations;
  };
  // Called once, before the first match.
  virtual void set_map(const Points &points) = 0;
  // The pose at which the finite points of a scan lie on the map; none if it finds none.
  virtual std::optional<Match> match(const Points &scan, const Eigen::Isometry3d &guess) = 0;

 private:
  std::string cloud_topic_, odometry_topic_, map_topic_;
  double map_spacing_, correction_;
  bool has_map_ = false;
  uint64_t scans_ = 0, rejected_ = 0, iterations_ = 0, not_finite_ = 0;
  double squares_ = 0;
};

}  // namespace lidar

#endif  // TACHO_TASKS_LIDAR_MATCHING_HPP_
