// SPDX-License-Identifier: Apache-2.0
//
// Finds what stands on the lane: points of a LiDAR above the ground that lie within the lane of the map, grouped along
// it. It needs no ground removal and no general clustering, because the map says where the lane is.
#include "../world/track.hpp"

#include <tasks/clouds.hpp>
#include <tasks/object_signals.hpp>
#include <tasks/task.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

namespace perception {
namespace {

constexpr tacho_task_parameter PARAMETERS[] = {
    {"lowest", "m", 0, 10, 0.3, "least height of a point above the ground"},
    {"highest", "m", 0.1, 20, 2.5, "greatest height of a point above the ground"},
    {"range", "m", 1, 500, 60, "how far from the vehicle it looks"},
    {"gap", "m", 0.1, 10, 1, "free way along the lane that separates two objects"},
    {"points", "", 1, 1000, 3, "least points of an object"},
};
enum { LOWEST, HIGHEST, RANGE, GAP, POINTS };

constexpr tacho_task_slot INPUTS[] = {tasks::input("point cloud"), tasks::input("pose"), tasks::input("map")};
constexpr tacho_task_slot OUTPUTS[] = {tasks::output("objects", sizeof(tasks::Objects))};
enum { CLOUD, POSE, MAP };

class LaneObstacles : public tasks::Task {
 public:
  explicit LaneObstacles(const tasks::Config &config)
      : cloud_topic_(config.topic_of_input(CLOUD)),
        pose_topic_(config.topic_of_input(POSE)),
        map_topic_(config.topic_of_input(MAP)),
        lowest_(config.value(LOWEST)),
        highest_(config.value(HIGHEST)),
        range_(config.value(RANGE)),
        gap_(config.value(GAP)),
        least_points_(static_cast<size_t>(config.value(POINTS))) {}

  void run(const tacho_task_call &call) override {
    const auto cloud = tasks::received_cloud(call, CLOUD, cloud_topic_);
    const auto pose = tasks::received<tasks::Pose>(call, POSE, pose_topic_);
    const auto map = tasks::received<tasks::World>(call, MAP, map_topic_);
    if (!cloud || !pose || !map) return;
    find(*cloud, *pose, *map);
    tasks::Objects objects{{tasks::Objects::KIND, 0, cloud->prefix().stamp_ns}, {}};
    group(world::Track(*map), objects);
    ++clouds_;
    objects_ += objects.prefix.count;
    tasks::publish(call, 0, objects);
    tasks::report_objects(call, objects.objects, objects.prefix.count, objects.prefix.stamp_ns);
  }

  void figures(const tasks::Figures &figure) override {
    figure("clouds", "", static_cast<double>(clouds_));
    figure("objects", "", static_cast<double>(objects_));
    figure("points_not_finite", "", static_cast<double>(not_finite_));
  }

 private:
  struct OnLane {
    double way, offset;  // from the vehicle along the lane; to the left of the centre line
  };

  // Collects the points on the lane. The pose is carried on to the instant of the scan by its speed.
  void find(const tasks::CloudView &cloud, const tasks::Pose &pose, const tasks::World &map) {
    const double cosine = std::cos(pose.yaw), sine = std::sin(pose.yaw);
    const double driven = pose.speed * tasks::seconds(cloud.prefix().stamp_ns - pose.prefix.stamp_ns);
    const double x = pose.x + driven * cosine, y = pose.y + driven * sine;
    const world::Track track(map);
    from_ = track.nearest(x, y).distance;
    const world::Track::About about(track, x, y, range_, map.lane_width / 2);
    found_.clear();
    for (uint32_t i = 0; i < cloud.size(); ++i) {
      const tasks::Point point = cloud[i];
      if (!tasks::is_finite(point)) {
        ++not_finite_;
        continue;
      }
      if (point.z < lowest_ || point.z > highest_) continue;
      const double there_x = x + point.x * cosine - point.y * sine, there_y = y + point.x * sine + point.y * cosine;
      if (!about.is_near(there_x, there_y) || std::hypot(point.x, point.y) > range_) continue;
      const world::OnLane at = track.nearest(there_x, there_y);
      found_.push_back({track.way(from_, at.distance), at.offset});
    }
  }

  void group(const world::Track &track, tasks::Objects &objects) {
    std::sort(found_.begin(), found_.end(), [](const OnLane &a, const OnLane &b) { return a.way < b.way; });
    for (size_t from = 0, to = 0; from < found_.size(); from = to) {
      double right = found_[from].offset, left = right;
      for (to = from + 1; to < found_.size() && found_[to].way - found_[to - 1].way <= gap_; ++to) {
        right = std::min(right, found_[to].offset), left = std::max(left, found_[to].offset);
      }
      if (to - from < least_points_ || objects.prefix.count == tasks::Objects::MOST) continue;
      // A LiDAR sees the near side alone. What is as deep as it is wide has its centre half its width behind.
      const double radius = (left - right) / 2;
      const bool is_ahead = found_[from].way >= 0;
      const double centre = is_ahead ? found_[from].way + radius : found_[to - 1].way - radius;
      const world::Place place = track.at(from_ + centre, (left + right) / 2);
      objects.objects[objects.prefix.count++] = {place.x, place.y, radius, 0};
    }
  }

  std::string cloud_topic_, pose_topic_, map_topic_;
  double lowest_, highest_, range_, gap_;
  size_t least_points_;
  double from_ = 0;  // where along the lane the vehicle is
  std::vector<OnLane> found_;
  uint64_t clouds_ = 0, objects_ = 0, not_finite_ = 0;
};

constexpr tacho_task_kind KINDS[] = {
    tasks::with_signals(
        tasks::kind<LaneObstacles>("lane_obstacles", "what stands on the lane, from the points of a LiDAR", PARAMETERS,
                                   INPUTS, OUTPUTS),
        tasks::OBJECT_SIGNALS),
};
constexpr struct tacho_tasks TASKS = {TACHO_TASK_ABI, "perception", KINDS, 1};

}  // namespace
}  // namespace perception

extern "C" __attribute__((visibility("default"))) const struct tacho_tasks *tacho_tasks() { return &perception::TASKS; }
