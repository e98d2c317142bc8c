// SPDX-License-Identifier: Apache-2.0
//
// Leaves out the ground: the plane that RANSAC of PCL finds, if it is about level.
#include "kinds.hpp"
#include "pcl_clouds.hpp"

#include <pcl/ModelCoefficients.h>
#include <pcl/console/print.h>
#include <pcl/segmentation/sac_segmentation.h>

namespace lidar {
namespace {

constexpr tacho_task_parameter PARAMETERS[] = {
    {"distance", "m", 0.001, 5, 0.2, "a point this near to the plane is of the ground"},
    {"tilt", "rad", 0.001, 1.5, 0.1, "most that the plane is tilted"},
    {"iterations", "", 1, 1e5, 100, "most planes that it tries"},
};
enum { DISTANCE, TILT, ITERATIONS };
constexpr tacho_task_slot INPUTS[] = {tasks::input("point cloud")};
constexpr tacho_task_slot OUTPUTS[] = {tasks::output("point cloud", sizeof(tasks::PointCloud) + sizeof(tasks::Point))};

class GroundRemoval : public tasks::Task {
 public:
  explicit GroundRemoval(const tasks::Config &config)
      : cloud_topic_(config.topic_of_input(0)), output_topic_(config.raw.outputs[0].topic) {
    // PCL prints that it found no plane; here that is a figure.
    pcl::console::setVerbosityLevel(pcl::console::L_ALWAYS);
    segmentation_.setModelType(pcl::SACMODEL_PERPENDICULAR_PLANE);
    segmentation_.setAxis(Eigen::Vector3f(0, 0, 1));
    segmentation_.setMethodType(pcl::SAC_RANSAC);
    segmentation_.setEpsAngle(config.value(TILT));
    segmentation_.setDistanceThreshold(config.value(DISTANCE));
    segmentation_.setMaxIterations(static_cast<int>(config.value(ITERATIONS)));
  }

  void run(const tacho_task_call &call) override {
    const auto message = tasks::received_cloud(call, 0, cloud_topic_);
    if (!message) return;
    not_finite_ += read(*message, *cloud_);
    pcl::PointIndices ground;
    pcl::ModelCoefficients plane;
    if (cloud_->size() >= 3) {
      segmentation_.setInputCloud(cloud_);
      segmentation_.segment(ground, plane);
    }
    is_ground_.assign(cloud_->size(), false);
    for (const int index : ground.indices) is_ground_[static_cast<size_t>(index)] = true;
    tasks::CloudWriter out(call, 0, output_topic_);
    for (size_t i = 0; i < cloud_->size(); ++i) {
      const pcl::PointXYZ &point = (*cloud_)[i];
      if (!is_ground_[i]) out.add({point.x, point.y, point.z, 0});
    }
    out.publish(message->prefix().stamp_ns);
    ++clouds_;
    without_ground_ += ground.indices.empty() ? 1 : 0;
  }

  void figures(const tasks::Figures &figure) override {
    figure("clouds", "", static_cast<double>(clouds_));
    figure("clouds_without_ground", "", static_cast<double>(without_ground_));
    figure("points_not_finite", "", static_cast<double>(not_finite_));
  }

 private:
  std::string cloud_topic_, output_topic_;
  Cloud::Ptr cloud_{new Cloud};
  pcl::SACSegmentation<pcl::PointXYZ> segmentation_;
  std::vector<bool> is_ground_;
  uint64_t clouds_ = 0, without_ground_ = 0, not_finite_ = 0;
};

}  // namespace

constexpr tacho_task_kind GROUND_REMOVAL = tasks::kind<GroundRemoval>(
    "ground_removal", "a cloud without the plane that PCL's RANSAC finds", PARAMETERS, INPUTS, OUTPUTS);

}  // namespace lidar
