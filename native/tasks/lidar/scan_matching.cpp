// SPDX-License-Identifier: Apache-2.0
//
// Localises the vehicle: GICP of small_gicp moves a scan onto the map, from where odometry says that the vehicle is.
#include "kinds.hpp"
#include "point_map.hpp"

#include <tasks/clouds.hpp>

#include <small_gicp/ann/kdtree.hpp>
#include <small_gicp/factors/gicp_factor.hpp>
#include <small_gicp/points/point_cloud.hpp>
#include <small_gicp/registration/reduction.hpp>
#include <small_gicp/registration/registration.hpp>
#include <small_gicp/util/downsampling.hpp>
#include <small_gicp/util/normal_estimation.hpp>

namespace lidar {
namespace {

constexpr tacho_task_parameter PARAMETERS[] = {
    {"leaf", "m", 0.05, 10, 0.5, "edge of the cubes that thin the scan"},
    {"map_leaf", "m", 0.05, 10, 0.5, "edge of the cubes that thin the map"},
    {"map_spacing", "m", 1, 100, 10, "way between the places from which the map was seen"},
    {"neighbours", "", 4, 100, 10, "points that the shape of the surface around a point is taken from"},
    {"correspondence", "m", 0.05, 20, 1, "most distance of a point of the scan from its point of the map"},
    {"iterations", "", 1, 1000, 20, "most steps of the optimisation"},
    {"correction", "m", 0.01, 100, 2, "most that a match moves the pose; what moves it farther is rejected"},
    {"least_inliers", "", 0, 1, 0.3, "least part of the scan's points that lie on the map after the match"},
};
enum { LEAF, MAP_LEAF, MAP_SPACING, NEIGHBOURS, CORRESPONDENCE, ITERATIONS, CORRECTION, LEAST_INLIERS };
constexpr tacho_task_slot INPUTS[] = {tasks::input("point cloud"), tasks::input("odometry"), tasks::input("map")};
constexpr tacho_task_slot OUTPUTS[] = {tasks::output("pose", sizeof(tasks::Pose))};
enum { CLOUD, ODOMETRY, MAP };

using Points = small_gicp::PointCloud;
using Tree = small_gicp::KdTree<Points>;

class ScanMatching : public tasks::Task {
 public:
  explicit ScanMatching(const tasks::Config &config)
      : cloud_topic_(config.topic_of_input(CLOUD)),
        odometry_topic_(config.topic_of_input(ODOMETRY)),
        map_topic_(config.topic_of_input(MAP)),
        leaf_(config.value(LEAF)),
        map_leaf_(config.value(MAP_LEAF)),
        map_spacing_(config.value(MAP_SPACING)),
        correction_(config.value(CORRECTION)),
        least_inliers_(config.value(LEAST_INLIERS)),
        neighbours_(static_cast<int>(config.value(NEIGHBOURS))) {
    registration_.rejector.max_dist_sq = config.value(CORRESPONDENCE) * config.value(CORRESPONDENCE);
    registration_.optimizer.max_iterations = static_cast<int>(config.value(ITERATIONS));
  }

  void run(const tacho_task_call &call) override {
    const auto map = tasks::received<tasks::World>(call, MAP, map_topic_);
    if (map && !tree_) make_map(*map);
    const auto cloud = tasks::received_cloud(call, CLOUD, cloud_topic_);
    const auto odometry = tasks::received<tasks::Pose>(call, ODOMETRY, odometry_topic_);
    if (!cloud || !odometry || !tree_) return;
    ++scans_;
    const Eigen::Isometry3d guess = carried_on(*odometry, cloud->prefix().stamp_ns);
    const auto matched = match(*cloud, guess);
    if (!matched) {
      ++rejected_;
      return;
    }
    const Eigen::Vector3d at = matched->translation();
    const Eigen::Matrix3d turn = matched->rotation();
    tasks::publish(call, 0,
                   tasks::Pose{{tasks::Pose::KIND, 0, cloud->prefix().stamp_ns},
                               at.x(),
                               at.y(),
                               std::atan2(turn(1, 0), turn(0, 0)),
                               odometry->speed});
  }

  void figures(const tasks::Figures &figure) override {
    figure("scans", "", static_cast<double>(scans_));
    figure("scans_rejected", "", static_cast<double>(rejected_));
    figure("points_not_finite", "", static_cast<double>(not_finite_));
    const double matches = static_cast<double>(scans_ - rejected_);
    if (matches == 0) return;
    figure("iterations_mean", "", static_cast<double>(iterations_) / matches);
    figure("correction_rms", "m", std::sqrt(squares_ / matches));
  }

 private:
  void make_map(const tasks::World &world) {
    const Points seen(point_map(world, map_spacing_));
    map_ = small_gicp::voxelgrid_sampling(seen, map_leaf_);
    tree_ = std::make_shared<Tree>(map_);
    small_gicp::estimate_covariances(*map_, *tree_, neighbours_);
  }

  // Where the vehicle is at the instant of the scan, by its speed since odometry sensed it.
  static Eigen::Isometry3d carried_on(const tasks::Pose &pose, int64_t stamp_ns) {
    const double driven = pose.speed * tasks::seconds(stamp_ns - pose.prefix.stamp_ns);
    Eigen::Isometry3d at = Eigen::Isometry3d::Identity();
    at.translate(Eigen::Vector3d(pose.x + driven * std::cos(pose.yaw), pose.y + driven * std::sin(pose.yaw), 0));
    at.rotate(Eigen::AngleAxisd(pose.yaw, Eigen::Vector3d::UnitZ()));
    return at;
  }

  std::optional<Eigen::Isometry3d> match(const tasks::CloudView &cloud, const Eigen::Isometry3d &guess) {
    std::vector<Eigen::Vector4d> finite;
    finite.reserve(cloud.size());
    for (uint32_t i = 0; i < cloud.size(); ++i) {
      const tasks::Point point = cloud[i];
      if (tasks::is_finite(point)) finite.emplace_back(point.x, point.y, point.z, 1);
    }
    not_finite_ += cloud.size() - finite.size();
    const Points whole(finite);
    const auto scan = small_gicp::voxelgrid_sampling(whole, leaf_);
    // The shape of a surface needs neighbours.
    if (scan->size() < static_cast<size_t>(neighbours_)) return std::nullopt;
    const Tree tree(scan);
    small_gicp::estimate_covariances(*scan, tree, neighbours_);
    const auto result = registration_.align(*map_, *scan, *tree_, guess);
    const double moved = (result.T_target_source.translation() - guess.translation()).head<2>().norm();
    const double inliers = static_cast<double>(result.num_inliers) / static_cast<double>(scan->size());
    // Not by `converged`: it says that the steps became small, and not where.
    if (!(moved <= correction_) || inliers < least_inliers_) return std::nullopt;
    iterations_ += result.iterations + 1;
    squares_ += moved * moved;
    return result.T_target_source;
  }

  std::string cloud_topic_, odometry_topic_, map_topic_;
  double leaf_, map_leaf_, map_spacing_, correction_, least_inliers_;
  int neighbours_;
  std::shared_ptr<Points> map_;
  std::shared_ptr<Tree> tree_;
  small_gicp::Registration<small_gicp::GICPFactor, small_gicp::SerialReduction> registration_;
  uint64_t scans_ = 0, rejected_ = 0, iterations_ = 0, not_finite_ = 0;
  double squares_ = 0;
};

}  // namespace

constexpr tacho_task_kind SCAN_MATCHING = tasks::kind<ScanMatching>(
    "scan_matching", "the pose at which a scan lies on the map, by GICP of small_gicp", PARAMETERS, INPUTS, OUTPUTS);

}  // namespace lidar
