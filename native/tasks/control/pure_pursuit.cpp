// SPDX-License-Identifier: Apache-2.0
//
// Pure pursuit (Coulter, "Implementation of the Pure Pursuit Path Tracking Algorithm", CMU-RI-TR-92-01, 1992): the rear
// axle follows the arc to a point of the trajectory ahead. The speed follows that of the trajectory.
#include "kinds.hpp"
#include "../vehicle/single_track.hpp"

#include <tasks/messages.hpp>

#include <algorithm>
#include <cmath>

namespace control {
namespace {

constexpr tacho_task_parameter PARAMETERS[] = {
    {"lookahead", "m", 0.5, 100, 4, "least way to the point that it steers to"},
    {"lookahead_time", "s", 0, 10, 0.6, "the way to that point, in time at the present speed"},
    {"gain", "", 0, 10, 1, "acceleration for each m/s that the speed lacks, 1/s"},
};
enum { LOOKAHEAD, LOOKAHEAD_TIME, GAIN };

constexpr tacho_task_slot INPUTS[] = {tasks::input("trajectory"), tasks::input("pose")};
constexpr tacho_task_slot OUTPUTS[] = {tasks::output("command", sizeof(tasks::Command))};
constexpr tacho_task_signal SIGNALS[] = {
    tasks::signal("steering_command", "rad", "commanded angle of the front wheels, to the left"),
    tasks::signal("acceleration_command", "m/s^2", "commanded acceleration"),
};
enum { S_STEERING, S_ACCELERATION };

class PurePursuit : public tasks::Task {
 public:
  explicit PurePursuit(const tasks::Config &config)
      : trajectory_topic_(config.topic_of_input(0)),
        pose_topic_(config.topic_of_input(1)),
        lookahead_(config.value(LOOKAHEAD)),
        lookahead_time_(config.value(LOOKAHEAD_TIME)),
        gain_(config.value(GAIN)) {}

  void run(const tacho_task_call &call) override {
    const auto trajectory = tasks::received<tasks::Trajectory>(call, 0, trajectory_topic_);
    const auto pose = tasks::received<tasks::Pose>(call, 1, pose_topic_);
    if (!trajectory || !pose || trajectory->prefix.count == 0) return;
    const uint32_t count = std::min<uint32_t>(trajectory->prefix.count, tasks::Trajectory::MOST);
    const auto *points = trajectory->points;
    const uint32_t near = nearest(points, count, pose->x, pose->y);
    const int64_t stamp_ns = std::min(trajectory->prefix.stamp_ns, pose->prefix.stamp_ns);
    const tasks::Command command = {
        {tasks::Command::KIND, 0, stamp_ns}, steering(points, count, near, *pose), acceleration(points, near, *pose)};
    tasks::publish(call, 0, command);
    tasks::report(call, S_STEERING, call.now_ns, command.steering);
    tasks::report(call, S_ACCELERATION, call.now_ns, command.acceleration);
  }

 private:
  static uint32_t nearest(const tasks::Trajectory::Entry *points, uint32_t count, double x, double y) {
    uint32_t found = 0;
    double least = INFINITY;
    for (uint32_t i = 0; i < count; ++i) {
      const double apart = std::hypot(points[i].x - x, points[i].y - y);
      if (apart < least) least = apart, found = i;
    }
    return found;
  }

  double steering(const tasks::Trajectory::Entry *points, uint32_t count, uint32_t near,
                  const tasks::Pose &pose) const {
    const double cosine = std::cos(pose.yaw), sine = std::sin(pose.yaw);
    const double rear_x = pose.x - vehicle::TO_REAR_AXLE * cosine, rear_y = pose.y - vehicle::TO_REAR_AXLE * sine;
    const double wanted = std::max(lookahead_, lookahead_time_ * pose.speed);
    auto apart = [&](uint32_t i) { return std::hypot(points[i].x - rear_x, points[i].y - rear_y); };
    uint32_t goal = near;
    while (goal + 1 < count && apart(goal) < wanted) ++goal;
    double x = points[goal].x, y = points[goal].y;
    if (apart(goal) < wanted) {
      // The trajectory ends before: straight on from its end.
      const double beyond = wanted - apart(goal);
      x += beyond * std::cos(points[goal].yaw), y += beyond * std::sin(points[goal].yaw);
    } else if (goal > near) {
      const double before = apart(goal - 1), after = apart(goal);
      const double part = after > before ? std::clamp((wanted - before) / (after - before), 0.0, 1.0) : 1;
      x = points[goal - 1].x + part * (x - points[goal - 1].x);
      y = points[goal - 1].y + part * (y - points[goal - 1].y);
    }
    const double dx = x - rear_x, dy = y - rear_y;
    const double left = dy * cosine - dx * sine;
    return std::atan(2 * vehicle::WHEELBASE * left / std::max(dx * dx + dy * dy, 1e-6));
  }

  double acceleration(const tasks::Trajectory::Entry *points, uint32_t near, const tasks::Pose &pose) const {
    const tasks::Trajectory::Entry &here = points[near];
    // Along the way to the next point, so that it does not wait for a point to be passed.
    const double passed = (pose.x - here.x) * std::cos(here.yaw) + (pose.y - here.y) * std::sin(here.yaw);
    const double squared = here.speed * here.speed + 2 * here.acceleration * passed;
    const double speed = std::sqrt(std::max(0.0, squared));
    return here.acceleration + gain_ * (speed - pose.speed);
  }

  std::string trajectory_topic_, pose_topic_;
  double lookahead_, lookahead_time_, gain_;
};

}  // namespace

constexpr tacho_task_kind PURE_PURSUIT = tasks::with_signals(
    tasks::kind<PurePursuit>("pure_pursuit", "steers along a trajectory at its speed", PARAMETERS, INPUTS, OUTPUTS),
    SIGNALS);

}  // namespace control
