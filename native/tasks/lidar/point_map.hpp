// SPDX-License-Identifier: Apache-2.0
//
// The map that scans are matched to: what a LiDAR has seen from many places along the lane, thinned. Rings of ground
// on one scan look alike from everywhere, so a single scan is no map.
#ifndef TACHO_TASKS_LIDAR_POINT_MAP_HPP_
#define TACHO_TASKS_LIDAR_POINT_MAP_HPP_

#include <tasks/messages.hpp>

#include <Eigen/Core>
#include <vector>

namespace lidar {

// Points of the ground, the walls and the posts, in the map's frame; obstacles are in no map. `spacing` is the way from
// one place of the LiDAR to the next.
std::vector<Eigen::Vector4d> point_map(const tasks::World &world, double spacing);

}  // namespace lidar

#endif  // TACHO_TASKS_LIDAR_POINT_MAP_HPP_
