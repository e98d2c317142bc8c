// SPDX-License-Identifier: Apache-2.0
//
// What the LiDAR tasks compute, by PCL and small_gicp directly, from the bytes of a cloud to its own types and back, as any
// program with messages must: plain_lidar TASK CALLS CLOUD [WORLD X Y YAW]
#include "plain.hpp"

#include "../../native/tasks/lidar/point_map.hpp"

#include <pcl/filters/voxel_grid.h>
#include <pcl/search/kdtree.h>
#include <pcl/segmentation/extract_clusters.h>
#include <pcl/segmentation/sac_segmentation.h>
#include <small_gicp/ann/kdtree.hpp>
#include <small_gicp/factors/gicp_factor.hpp>
#include <small_gicp/points/point_cloud.hpp>
#include <small_gicp/registration/reduction.hpp>
#include <small_gicp/registration/registration.hpp>
#include <small_gicp/util/downsampling.hpp>
#include <small_gicp/util/normal_estimation.hpp>

using Point = pcl::PointXYZ;
using Cloud = pcl::PointCloud<Point>;

static void fill(const std::vector<char> &message, Cloud &cloud) {
  tasks::PointCloud head;
  std::memcpy(&head, message.data(), sizeof head);
  cloud.clear();
  cloud.reserve(head.prefix.count);
  for (uint32_t i = 0; i < head.prefix.count; ++i) {
    float at[4];
    std::memcpy(at, message.data() + sizeof head + i * sizeof at, sizeof at);
    if (std::isfinite(at[0]) && std::isfinite(at[1]) && std::isfinite(at[2]))
      cloud.push_back(Point(at[0], at[1], at[2]));
  }
}

static void give(const Point &point, std::vector<char> &out, size_t &at) {
  const float values[4] = {point.x, point.y, point.z, 0};
  std::memcpy(out.data() + at, values, sizeof values);
  at += sizeof values;
}

static void match(int calls, const std::vector<char> &message, char **more) {
  using namespace small_gicp;
  tasks::World world;
  std::memcpy(&world, read(more[0]).data(), sizeof world);
  const auto map = voxelgrid_sampling(PointCloud(lidar::point_map(world, 10)), 0.5);
  const auto tree = std::make_shared<KdTree<PointCloud>>(map);
  estimate_covariances(*map, *tree, 10);
  Registration<GICPFactor, SerialReduction> registration;
  registration.rejector.max_dist_sq = 1;
  const double x = std::atof(more[1]), y = std::atof(more[2]), yaw = std::atof(more[3]);
  Eigen::Isometry3d guess = Eigen::Isometry3d::Identity();
  guess.translate(Eigen::Vector3d(x, y, 0));
  guess.rotate(Eigen::AngleAxisd(yaw, Eigen::Vector3d::UnitZ()));
  measure(calls, [&] {
    tasks::PointCloud head;
    std::memcpy(&head, message.data(), sizeof head);
    std::vector<Eigen::Vector4d> points;
    points.reserve(head.prefix.count);
    for (uint32_t i = 0; i < head.prefix.count; ++i) {
      float at[4];
      std::memcpy(at, message.data() + sizeof head + i * sizeof at, sizeof at);
      if (std::isfinite(at[0]) && std::isfinite(at[1]) && std::isfinite(at[2]))
        points.emplace_back(at[0], at[1], at[2], 1);
    }
    const auto scan = voxelgrid_sampling(PointCloud(points), 0.5);
    const KdTree<PointCloud> of_scan(scan);
    estimate_covariances(*scan, of_scan, 10);
    return registration.align(*map, *scan, *tree, guess).T_target_source.translation().x();
  });
}

extern "C" int main(int, char **words) {
  const std::string task = words[1];
  const int calls = std::atoi(words[2]);
  const std::vector<char> message = read(words[3]);
  std::vector<char> out(message.size() + 64);
  Cloud::Ptr cloud(new Cloud);
  if (task == "voxel_grid") {
    pcl::VoxelGrid<Point> filter;
    Cloud thinned;
    measure(calls, [&] {
      fill(message, *cloud);
      filter.setInputCloud(cloud);
      filter.setLeafSize(0.2f, 0.2f, 0.2f);
      filter.filter(thinned);
      size_t at = 16;
      for (const Point &point : thinned) give(point, out, at);
      return static_cast<double>(thinned.size());
    });
  } else if (task == "ground_removal") {
    pcl::SACSegmentation<Point> segmentation;
    segmentation.setModelType(pcl::SACMODEL_PERPENDICULAR_PLANE);
    segmentation.setAxis(Eigen::Vector3f(0, 0, 1));
    segmentation.setMethodType(pcl::SAC_RANSAC);
    segmentation.setEpsAngle(0.1);
    segmentation.setDistanceThreshold(0.2);
    segmentation.setMaxIterations(100);
    measure(calls, [&] {
      fill(message, *cloud);
      pcl::PointIndices ground;
      pcl::ModelCoefficients plane;
      segmentation.setInputCloud(cloud);
      segmentation.segment(ground, plane);
      std::vector<bool> is_ground(cloud->size(), false);
      for (const int index : ground.indices) is_ground[static_cast<size_t>(index)] = true;
      size_t at = 16;
      for (size_t i = 0; i < cloud->size(); ++i) {
        if (!is_ground[i]) give((*cloud)[i], out, at);
      }
      return static_cast<double>((at - 16) / 16);
    });
  } else if (task == "euclidean_clusters") {
    pcl::search::KdTree<Point>::Ptr tree(new pcl::search::KdTree<Point>);
    pcl::EuclideanClusterExtraction<Point> extraction;
    extraction.setClusterTolerance(0.5);
    extraction.setMinClusterSize(5);
    extraction.setSearchMethod(tree);
    measure(calls, [&] {
      fill(message, *cloud);
      std::vector<pcl::PointIndices> groups;
      tree->setInputCloud(cloud);
      extraction.setInputCloud(cloud);
      extraction.extract(groups);
      return static_cast<double>(groups.size());
    });
  } else if (task == "scan_matching") {
    match(calls, message, words + 4);
  } else {
    return 2;
  }
}
