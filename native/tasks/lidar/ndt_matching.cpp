// SPDX-License-Identifier: Apache-2.0
//
// Localises the vehicle as Autoware does: the normal distributions transform of PCL moves a scan onto the map.
#include "kinds.hpp"
#include "matching.hpp"

#include <pcl/console/print.h>
#include <pcl/filters/voxel_grid.h>
#include <pcl/point_cloud.h>
#include <pcl/point_types.h>
#include <pcl/registration/ndt.h>

namespace lidar {
namespace {

constexpr tacho_task_parameter PARAMETERS[] = {
    {"leaf", "m", 0.05, 10, 1.5, "edge of the cubes that thin the scan"},
    {"map_leaf", "m", 0.05, 10, 0.3, "edge of the cubes that thin the map"},
    {"map_spacing", "m", 1, 100, 5, "way between the places from which the map was seen"},
    {"resolution", "m", 0.1, 20, 1, "edge of the cubes that each have a normal distribution"},
    {"step", "m", 0.001, 10, 0.5, "longest step of the search"},
    {"tolerance", "m", 1e-6, 1, 0.01, "it ends after a step as short as this"},
    {"iterations", "", 1, 1000, 30, "most steps"},
    {"correction", "m", 0.01, 100, 2, "most that a match moves the pose; what moves it farther is rejected"},
    {"least_likelihood", "", 0, 100, 1, "least mean likelihood of a point of the scan after the match"},
};
enum { LEAF, MAP_LEAF, MAP_SPACING, RESOLUTION, STEP, TOLERANCE, ITERATIONS, CORRECTION, LEAST_LIKELIHOOD };

using Point = pcl::PointXYZ;
using Cloud = pcl::PointCloud<Point>;

Cloud::Ptr thinned(const Points &points, double leaf) {
  Cloud::Ptr whole(new Cloud), thin(new Cloud);
  whole->reserve(points.size());
  for (const Eigen::Vector4d &point : points) whole->push_back(Point(point.x(), point.y(), point.z()));
  if (whole->empty()) return thin;
  pcl::VoxelGrid<Point> grid;
  grid.setInputCloud(whole);
  grid.setLeafSize(static_cast<float>(leaf), static_cast<float>(leaf), static_cast<float>(leaf));
  grid.filter(*thin);
  return thin;
}

class NdtMatching : public Matching {
 public:
  explicit NdtMatching(const tasks::Config &config)
      : Matching(config, config.value(MAP_SPACING), config.value(CORRECTION)),
        leaf_(config.value(LEAF)),
        map_leaf_(config.value(MAP_LEAF)),
        least_likelihood_(config.value(LEAST_LIKELIHOOD)) {
    pcl::console::setVerbosityLevel(pcl::console::L_ALWAYS);
    transform_.setResolution(static_cast<float>(config.value(RESOLUTION)));
    transform_.setStepSize(config.value(STEP));
    // PCL compares it with the square of the step.
    transform_.setTransformationEpsilon(config.value(TOLERANCE) * config.value(TOLERANCE));
    transform_.setMaximumIterations(static_cast<int>(config.value(ITERATIONS)));
  }

 private:
  void set_map(const Points &points) override { transform_.setInputTarget(thinned(points, map_leaf_)); }

  std::optional<Match> match(const Points &points, const Eigen::Isometry3d &guess) override {
    const Cloud::Ptr scan = thinned(points, leaf_);
    if (scan->size() < 10) return std::nullopt;
    transform_.setInputSource(scan);
    Cloud moved;
    transform_.align(moved, guess.matrix().cast<float>());
    // Not by `hasConverged`: it says that the steps became short, and not where.
    if (!(transform_.getTransformationLikelihood() >= least_likelihood_)) return std::nullopt;
    Eigen::Isometry3d pose = Eigen::Isometry3d::Identity();
    pose.matrix() = transform_.getFinalTransformation().cast<double>();
    return Match{pose, static_cast<size_t>(transform_.getFinalNumIteration())};
  }

  double leaf_, map_leaf_, least_likelihood_;
  pcl::NormalDistributionsTransform<Point, Point> transform_;
};

}  // namespace

constexpr tacho_task_kind NDT_MATCHING =
    tasks::kind<NdtMatching>("ndt_matching", "the pose at which a scan lies on the map, by PCL's NDT", PARAMETERS,
                             MATCHING_INPUTS, MATCHING_OUTPUTS);

}  // namespace lidar
