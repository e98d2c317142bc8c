// SPDX-License-Identifier: Apache-2.0
//
// The route leads along the closed lane, lap by lap: from the pose and the map, it gives the centre line of the lane
// ahead.
#include "kinds.hpp"
#include "../world/track.hpp"

#include <tasks/messages.hpp>

#include <algorithm>
#include <cmath>

namespace planning {
namespace {

constexpr double BEHIND = 10;  // m of the path behind the vehicle, so that its own place lies on the path

constexpr tacho_task_parameter PARAMETERS[] = {
    {"horizon", "m", 10, 500, 120, "how far ahead the path leads"},
    {"spacing", "m", 0.5, 20, 2, "between the points of the path"},
};
enum { HORIZON, SPACING };

constexpr tacho_task_slot INPUTS[] = {tasks::input("pose"), tasks::input("map")};
constexpr tacho_task_slot OUTPUTS[] = {tasks::output("path", sizeof(tasks::Path))};

class Route : public tasks::Task {
 public:
  explicit Route(const tasks::Config &config)
      : pose_topic_(config.topic_of_input(0)), map_topic_(config.topic_of_input(1)), spacing_(config.value(SPACING)) {
    const double points = std::ceil((BEHIND + config.value(HORIZON)) / spacing_) + 1;
    if (points > tasks::Path::MOST) {
      throw std::runtime_error("found a path of " + std::to_string(static_cast<int>(points)) +
                               " points by horizon and spacing, expected at most " + std::to_string(tasks::Path::MOST));
    }
    count_ = static_cast<uint32_t>(points);
  }

  void run(const tacho_task_call &call) override {
    const auto pose = tasks::received<tasks::Pose>(call, 0, pose_topic_);
    const auto map = tasks::received<tasks::World>(call, 1, map_topic_);
    if (!pose || !map) return;
    const world::Track track(*map);
    const double from = track.nearest(pose->x, pose->y).distance - BEHIND;
    tasks::Path path{{tasks::Path::KIND, count_, pose->prefix.stamp_ns},
                     map->lane_width,
                     pose->x,
                     pose->y,
                     pose->yaw,
                     pose->speed,
                     {}};
    for (uint32_t i = 0; i < count_; ++i) {
      const world::Place place = track.at(from + i * spacing_);
      path.points[i] = {place.x, place.y};
    }
    tasks::publish(call, 0, path);
  }

 private:
  std::string pose_topic_, map_topic_;
  double spacing_;
  uint32_t count_;
};

}  // namespace

constexpr tacho_task_kind ROUTE =
    tasks::kind<Route>("route", "the centre line of the lane ahead", PARAMETERS, INPUTS, OUTPUTS);

}  // namespace planning
