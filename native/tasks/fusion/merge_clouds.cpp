// SPDX-License-Identifier: Apache-2.0
//
// Early fusion: the latest clouds of several LiDARs as one. All are in the vehicle's frame.
#include "kinds.hpp"

#include <tasks/clouds.hpp>

#include <algorithm>
#include <vector>

namespace fusion {
namespace {

constexpr size_t MOST = 4;
constexpr tacho_task_parameter PARAMETERS[] = {
    {"age", "s", 0, 10, 0.15, "a cloud that was sensed so much before the newest is left out"},
};
constexpr tacho_task_slot INPUTS[MOST] = {tasks::input("point cloud"), tasks::optional_input("second point cloud"),
                                          tasks::optional_input("third point cloud"),
                                          tasks::optional_input("fourth point cloud")};
constexpr tacho_task_slot OUTPUTS[] = {tasks::output("point cloud", sizeof(tasks::PointCloud) + sizeof(tasks::Point))};

class MergeClouds : public tasks::Task {
 public:
  explicit MergeClouds(const tasks::Config &config)
      : output_topic_(config.raw.outputs[0].topic), age_ns_(static_cast<int64_t>(config.value(0) * 1e9)) {
    for (size_t i = 0; i < config.raw.input_count; ++i) topics_.push_back(config.topic_of_input(i));
  }

  void run(const tacho_task_call &call) override {
    std::vector<tasks::CloudView> clouds;
    int64_t newest = 0;
    for (size_t i = 0; i < topics_.size(); ++i) {
      const auto cloud = tasks::received_cloud(call, i, topics_[i]);
      if (!cloud) continue;
      clouds.push_back(*cloud);
      newest = std::max(newest, cloud->prefix().stamp_ns);
    }
    if (clouds.empty()) return;
    ++sets_;
    tasks::CloudWriter out(call, 0, output_topic_);
    for (const tasks::CloudView &cloud : clouds) {
      const int64_t age = newest - cloud.prefix().stamp_ns;
      if (age > age_ns_) continue;
      most_age_ns_ = std::max(most_age_ns_, age);
      ++merged_;
      for (uint32_t i = 0; i < cloud.size(); ++i) out.add(cloud[i]);
    }
    out.publish(newest);
  }

  void figures(const tasks::Figures &figure) override {
    figure("sets", "", static_cast<double>(sets_));
    if (sets_ == 0) return;
    figure("clouds_mean", "", static_cast<double>(merged_) / static_cast<double>(sets_));
    figure("age_difference_max", "ms", static_cast<double>(most_age_ns_) * 1e-6);
  }

 private:
  std::vector<std::string> topics_;
  std::string output_topic_;
  int64_t age_ns_;
  uint64_t sets_ = 0, merged_ = 0;
  int64_t most_age_ns_ = 0;
};

}  // namespace

constexpr tacho_task_kind MERGE_CLOUDS = tasks::kind<MergeClouds>(
    "merge_clouds", "the latest clouds of up to four LiDARs as one", PARAMETERS, INPUTS, OUTPUTS);

}  // namespace fusion
