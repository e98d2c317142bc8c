// SPDX-License-Identifier: Apache-2.0
#include "matching.hpp"

#include <algorithm>
#include <cmath>

namespace lidar {
namespace {

enum { CLOUD, ODOMETRY, MAP };

// No LiDAR sees farther, and no map leads so far, in m.
constexpr float FARTHEST = 1000;
constexpr double FARTHEST_POSE = 1e6;

// Where the vehicle is at the instant of the scan, by its speed since odometry sensed it.
Eigen::Isometry3d carried_on(const tasks::Pose &pose, int64_t stamp_ns) {
  const double driven = pose.speed * tasks::seconds(stamp_ns - pose.prefix.stamp_ns);
  Eigen::Isometry3d at = Eigen::Isometry3d::Identity();
  at.translate(Eigen::Vector3d(pose.x + driven * std::cos(pose.yaw), pose.y + driven * std::sin(pose.yaw), 0));
  at.rotate(Eigen::AngleAxisd(pose.yaw, Eigen::Vector3d::UnitZ()));
  return at;
}

}  // namespace

Matching::Matching(const tasks::Config &config, double map_spacing, double correction)
    : cloud_topic_(config.topic_of_input(CLOUD)),
      odometry_topic_(config.topic_of_input(ODOMETRY)),
      map_topic_(config.topic_of_input(MAP)),
      map_spacing_(map_spacing),
      correction_(correction) {}

void Matching::run(const tacho_task_call &call) {
  const auto map = tasks::received<tasks::World>(call, MAP, map_topic_);
  if (map && !has_map_) {
    set_map(point_map(*map, map_spacing_));
    has_map_ = true;
  }
  const auto cloud = tasks::received_cloud(call, CLOUD, cloud_topic_);
  const auto odometry = tasks::received<tasks::Pose>(call, ODOMETRY, odometry_topic_);
  if (!cloud || !odometry || !has_map_) return;
  ++scans_;
  Points finite;
  finite.reserve(cloud->size());
  for (uint32_t i = 0; i < cloud->size(); ++i) {
    const tasks::Point point = (*cloud)[i];
    // Libraries abort if a point becomes infinite while they move it.
    const bool is_near = std::max({std::abs(point.x), std::abs(point.y), std::abs(point.z)}) <= FARTHEST;
    if (tasks::is_finite(point) && is_near) finite.emplace_back(point.x, point.y, point.z, 1);
  }
  not_finite_ += cloud->size() - finite.size();
  const Eigen::Isometry3d guess = carried_on(*odometry, cloud->prefix().stamp_ns);
  const bool is_known = guess.translation().norm() <= FARTHEST_POSE && std::isfinite(odometry->yaw);
  const auto found = is_known ? match(finite, guess) : std::nullopt;
  const double moved = found ? (found->pose.translation() - guess.translation()).head<2>().norm() : INFINITY;
  if (!(moved <= correction_)) {
    ++rejected_;
    return;
  }
  iterations_ += found->iterations;
  squares_ += moved * moved;
  const Eigen::Vector3d at = found->pose.translation();
  const Eigen::Matrix3d turn = found->pose.rotation();
  tasks::publish(call, 0,
                 tasks::Pose{{tasks::Pose::KIND, 0, cloud->prefix().stamp_ns},
                             at.x(),
                             at.y(),
                             std::atan2(turn(1, 0), turn(0, 0)),
                             odometry->speed});
}

void Matching::figures(const tasks::Figures &figure) {
  figure("scans", "", static_cast<double>(scans_));
  figure("scans_rejected", "", static_cast<double>(rejected_));
  figure("points_not_finite", "", static_cast<double>(not_finite_));
  const double matches = static_cast<double>(scans_ - rejected_);
  if (matches == 0) return;
  figure("iterations_mean", "", static_cast<double>(iterations_) / matches);
  figure("correction_rms", "m", std::sqrt(squares_ / matches));
}

}  // namespace lidar
