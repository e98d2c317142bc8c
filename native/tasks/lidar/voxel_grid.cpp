// SPDX-License-Identifier: Apache-2.0
//
// Thins a cloud to the centroids of its occupied cubes, by PCL's VoxelGrid.
#include "kinds.hpp"
#include "pcl_clouds.hpp"

#include <pcl/common/common.h>
#include <pcl/console/print.h>
#include <pcl/filters/voxel_grid.h>

namespace lidar {
namespace {

constexpr tacho_task_parameter PARAMETERS[] = {{"leaf", "m", 0.01, 10, 0.2, "edge of a cube"}};
constexpr tacho_task_slot INPUTS[] = {tasks::input("point cloud")};
constexpr tacho_task_slot OUTPUTS[] = {tasks::output("point cloud", sizeof(tasks::PointCloud) + sizeof(tasks::Point))};

class VoxelGrid : public tasks::Task {
 public:
  explicit VoxelGrid(const tasks::Config &config)
      : cloud_topic_(config.topic_of_input(0)), output_topic_(config.raw.outputs[0].topic), leaf_(config.value(0)) {
    pcl::console::setVerbosityLevel(pcl::console::L_ALWAYS);
  }

  void run(const tacho_task_call &call) override {
    const auto message = tasks::received_cloud(call, 0, cloud_topic_);
    if (!message) return;
    not_finite_ += read(*message, *cloud_);
    thinned_.clear();
    if (!cloud_->empty()) {
      filter_.setInputCloud(cloud_);
      filter_.setLeafSize(leaf_, leaf_, leaf_);
      filter_.filter(thinned_);
      if (thinned_.size() == cloud_->size()) refuse_overflow();
    }
    tasks::CloudWriter out(call, 0, output_topic_);
    for (const pcl::PointXYZ &point : thinned_) out.add({point.x, point.y, point.z, 0});
    out.publish(message->prefix().stamp_ns);
    ++clouds_;
    points_in_ += message->size();
    points_out_ += thinned_.size();
  }

  void figures(const tasks::Figures &figure) override {
    figure("clouds", "", static_cast<double>(clouds_));
    figure("points_not_finite", "", static_cast<double>(not_finite_));
    if (clouds_ == 0) return;
    figure("points_in_mean", "", static_cast<double>(points_in_) / static_cast<double>(clouds_));
    figure("points_out_mean", "", static_cast<double>(points_out_) / static_cast<double>(clouds_));
  }

 private:
  // PCL numbers the cubes with 32 bits. If they do not suffice, it prints so, and gives the cloud as it was.
  void refuse_overflow() const {
    pcl::PointXYZ least, most;
    pcl::getMinMax3D(*cloud_, least, most);
    const auto cubes = [this](float from, float to) { return std::floor((to - from) / leaf_) + 2.0; };
    if (cubes(least.x, most.x) * cubes(least.y, most.y) * cubes(least.z, most.z) > INT32_MAX) {
      const double extent = std::max({most.x - least.x, most.y - least.y, most.z - least.z});
      throw std::runtime_error(cloud_topic_ + ": found points up to " + std::to_string(extent) +
                               " m apart, expected fewer than 2^31 cubes of " + std::to_string(leaf_) + " m");
    }
  }

  std::string cloud_topic_, output_topic_;
  float leaf_;
  Cloud::Ptr cloud_{new Cloud};
  Cloud thinned_;
  pcl::VoxelGrid<pcl::PointXYZ> filter_;
  uint64_t clouds_ = 0, points_in_ = 0, points_out_ = 0, not_finite_ = 0;
};

}  // namespace

constexpr tacho_task_kind VOXEL_GRID =
    tasks::kind<VoxelGrid>("voxel_grid", "a cloud thinned by PCL's VoxelGrid", PARAMETERS, INPUTS, OUTPUTS);

}  // namespace lidar
