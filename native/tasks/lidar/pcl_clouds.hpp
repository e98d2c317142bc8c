// SPDX-License-Identifier: Apache-2.0
//
// Messages as clouds of PCL. Its algorithms differ in what they do with points that are no numbers, so none gets any.
#ifndef TACHO_TASKS_LIDAR_PCL_CLOUDS_HPP_
#define TACHO_TASKS_LIDAR_PCL_CLOUDS_HPP_

#include <tasks/clouds.hpp>

#include <pcl/point_cloud.h>
#include <pcl/point_types.h>

namespace lidar {

using Cloud = pcl::PointCloud<pcl::PointXYZ>;

// Makes `into` the finite points of the message, in their order; returns how many it left out.
inline uint64_t read(const tasks::CloudView &from, Cloud &into) {
  into.clear();
  into.reserve(from.size());
  uint64_t not_finite = 0;
  for (uint32_t i = 0; i < from.size(); ++i) {
    const tasks::Point point = from[i];
    if (tasks::is_finite(point)) {
      into.push_back(pcl::PointXYZ(point.x, point.y, point.z));
    } else {
      ++not_finite;
    }
  }
  into.is_dense = true;
  return not_finite;
}

}  // namespace lidar

#endif  // TACHO_TASKS_LIDAR_PCL_CLOUDS_HPP_
