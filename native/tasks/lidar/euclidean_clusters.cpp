// SPDX-License-Identifier: Apache-2.0
//
// Groups points that are near to each other, by PCL's Euclidean cluster extraction.
#include "kinds.hpp"
#include "pcl_clouds.hpp"

#include <pcl/search/kdtree.h>
#include <pcl/segmentation/extract_clusters.h>

namespace lidar {
namespace {

constexpr tacho_task_parameter PARAMETERS[] = {
    {"distance", "m", 0.01, 10, 0.5, "points this near to each other are of one cluster"},
    {"points", "", 1, 1e6, 5, "least points of a cluster"},
    {"longest", "m", 0.1, 1000, 3, "greatest horizontal extent of a cluster: what is longer is a wall"},
    {"range", "m", 1, 1000, 60, "how far from the vehicle it looks"},
};
enum { DISTANCE, POINTS, LONGEST, RANGE };
constexpr tacho_task_slot INPUTS[] = {tasks::input("point cloud without ground")};
constexpr tacho_task_slot OUTPUTS[] = {tasks::output("clusters", sizeof(tasks::Clusters))};

class EuclideanClusters : public tasks::Task {
 public:
  explicit EuclideanClusters(const tasks::Config &config)
      : cloud_topic_(config.topic_of_input(0)), longest_(config.value(LONGEST)), range_(config.value(RANGE)) {
    extraction_.setClusterTolerance(config.value(DISTANCE));
    extraction_.setMinClusterSize(static_cast<int>(config.value(POINTS)));
    extraction_.setSearchMethod(tree_);
  }

  void run(const tacho_task_call &call) override {
    const auto message = tasks::received_cloud(call, 0, cloud_topic_);
    if (!message) return;
    not_finite_ += read(*message, *cloud_);
    groups_.clear();
    if (!cloud_->empty()) {
      tree_->setInputCloud(cloud_);
      extraction_.setInputCloud(cloud_);
      extraction_.extract(groups_);
    }
    found_.clear();
    for (const pcl::PointIndices &group : groups_) measure(group);
    const auto away = [](const tasks::Cluster &of) { return std::hypot(of.x, of.y); };
    std::sort(found_.begin(), found_.end(),
              [&](const tasks::Cluster &a, const tasks::Cluster &b) { return away(a) < away(b); });
    tasks::Clusters clusters{{tasks::Clusters::KIND, 0, message->prefix().stamp_ns}, {}};
    for (const tasks::Cluster &cluster : found_) {
      if (clusters.prefix.count == tasks::Clusters::MOST) {
        ++left_out_;
      } else {
        clusters.clusters[clusters.prefix.count++] = cluster;
      }
    }
    ++clouds_;
    clusters_ += clusters.prefix.count;
    tasks::publish(call, 0, clusters);
  }

  void figures(const tasks::Figures &figure) override {
    figure("clouds", "", static_cast<double>(clouds_));
    figure("clusters", "", static_cast<double>(clusters_));
    figure("clusters_left_out", "", static_cast<double>(left_out_));
    figure("points_not_finite", "", static_cast<double>(not_finite_));
  }

 private:
  // A LiDAR sees the near side alone. What is as deep as it is wide has its centre half its width behind.
  void measure(const pcl::PointIndices &group) {
    Eigen::Vector3f sum = Eigen::Vector3f::Zero();
    float least_x = INFINITY, most_x = -INFINITY, least_y = INFINITY, most_y = -INFINITY;
    float bottom = INFINITY, top = -INFINITY;
    for (const int index : group.indices) {
      const pcl::PointXYZ &p = (*cloud_)[static_cast<size_t>(index)];
      sum += p.getVector3fMap();
      least_x = std::min(least_x, p.x), most_x = std::max(most_x, p.x);
      least_y = std::min(least_y, p.y), most_y = std::max(most_y, p.y);
      bottom = std::min(bottom, p.z), top = std::max(top, p.z);
    }
    const Eigen::Vector2f middle = sum.head<2>() / static_cast<float>(group.indices.size());
    if (std::hypot(most_x - least_x, most_y - least_y) > longest_ || middle.norm() > range_) return;
    const Eigen::Vector2f ahead = middle.norm() > 0 ? Eigen::Vector2f(middle.normalized()) : Eigen::Vector2f(1, 0);
    const Eigen::Vector2f left(-ahead.y(), ahead.x());
    float near = INFINITY, least_left = INFINITY, most_left = -INFINITY;
    for (const int index : group.indices) {
      const Eigen::Vector2f p = (*cloud_)[static_cast<size_t>(index)].getVector3fMap().head<2>();
      near = std::min(near, p.dot(ahead));
      least_left = std::min(least_left, p.dot(left)), most_left = std::max(most_left, p.dot(left));
    }
    const float radius = (most_left - least_left) / 2;
    const Eigen::Vector2f centre = (near + radius) * ahead + (least_left + most_left) / 2 * left;
    found_.push_back({centre.x(), centre.y(), radius, bottom, top, static_cast<uint32_t>(group.indices.size())});
  }

  std::string cloud_topic_;
  double longest_, range_;
  Cloud::Ptr cloud_{new Cloud};
  pcl::search::KdTree<pcl::PointXYZ>::Ptr tree_{new pcl::search::KdTree<pcl::PointXYZ>};
  pcl::EuclideanClusterExtraction<pcl::PointXYZ> extraction_;
  std::vector<pcl::PointIndices> groups_;
  std::vector<tasks::Cluster> found_;
  uint64_t clouds_ = 0, clusters_ = 0, left_out_ = 0, not_finite_ = 0;
};

}  // namespace

constexpr tacho_task_kind EUCLIDEAN_CLUSTERS = tasks::kind<EuclideanClusters>(
    "euclidean_clusters", "points that stand together, by PCL's Euclidean clustering", PARAMETERS, INPUTS, OUTPUTS);

}  // namespace lidar
