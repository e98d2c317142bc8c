// SPDX-License-Identifier: Apache-2.0
//
// Localises the vehicle: GICP of small_gicp moves a scan onto the map, from where odometry says that the vehicle is.
#include "kinds.hpp"
#include "matching.hpp"

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
using Cloud = small_gicp::PointCloud;
using Tree = small_gicp::KdTree<Cloud>;

class ScanMatching : public Matching {
 public:
  explicit ScanMatching(const tasks::Config &config)
      : Matching(config, config.value(MAP_SPACING), config.value(CORRECTION)),
        leaf_(config.value(LEAF)),
        map_leaf_(config.value(MAP_LEAF)),
        least_inliers_(config.value(LEAST_INLIERS)),
        neighbours_(static_cast<int>(config.value(NEIGHBOURS))) {
    registration_.rejector.max_dist_sq = config.value(CORRESPONDENCE) * config.value(CORRESPONDENCE);
    registration_.optimizer.max_iterations = static_cast<int>(config.value(ITERATIONS));
  }

 private:
  void set_map(const Points &points) override {
    map_ = small_gicp::voxelgrid_sampling(Cloud(points), map_leaf_);
    tree_ = std::make_shared<Tree>(map_);
    small_gicp::estimate_covariances(*map_, *tree_, neighbours_);
  }

  std::optional<Match> match(const Points &points, const Eigen::Isometry3d &guess) override {
    const auto scan = small_gicp::voxelgrid_sampling(Cloud(points), leaf_);
    // The shape of a surface needs neighbours.
    if (scan->size() < static_cast<size_t>(neighbours_)) return std::nullopt;
    const Tree tree(scan);
    small_gicp::estimate_covariances(*scan, tree, neighbours_);
    const auto result = registration_.align(*map_, *scan, *tree_, guess);
    // Not by `converged`: it says that the steps became small, and not where.
    const double inliers = static_cast<double>(result.num_inliers) / static_cast<double>(scan->size());
    if (inliers < least_inliers_) return std::nullopt;
    return Match{result.T_target_source, result.iterations + 1};
  }

  double leaf_, map_leaf_, least_inliers_;
  int neighbours_;
  std::shared_ptr<Cloud> map_;
  std::shared_ptr<Tree> tree_;
  small_gicp::Registration<small_gicp::GICPFactor, small_gicp::SerialReduction> registration_;
};

}  // namespace

constexpr tacho_task_kind SCAN_MATCHING =
    tasks::kind<ScanMatching>("scan_matching", "the pose at which a scan lies on the map, by GICP of small_gicp",
                              PARAMETERS, MATCHING_INPUTS, MATCHING_OUTPUTS);

}  // namespace lidar
