// SPDX-License-Identifier: Apache-2.0
//
// Compares the borders of the lane with the true ones, some way before the vehicle.
#include "../world/track.hpp"
#include "kinds.hpp"
#include "true_poses.hpp"

namespace judges {
namespace {

constexpr tacho_task_parameter PARAMETERS[] = {
    {"ahead", "m", 1, 100, 8, "where the borders are compared"},
};
constexpr tacho_task_slot INPUTS[] = {tasks::input("borders of the lane"), tasks::input("world"),
                                      tasks::input("vehicle state")};
enum { BORDERS, WORLD, STATE };

class JudgeLanes : public tasks::Task {
 public:
  explicit JudgeLanes(const tasks::Config &config)
      : borders_topic_(config.topic_of_input(BORDERS)),
        world_topic_(config.topic_of_input(WORLD)),
        state_topic_(config.topic_of_input(STATE)),
        ahead_(config.value(0)) {}

  void run(const tacho_task_call &call) override {
    const auto world = tasks::received<tasks::World>(call, WORLD, world_topic_);
    const auto state = tasks::received<tasks::VehicleState>(call, STATE, state_topic_);
    const auto borders = tasks::received<tasks::LaneBorders>(call, BORDERS, borders_topic_);
    if (state && call.inputs[STATE].is_new) truth_.hear(*state);
    if (borders && call.inputs[BORDERS].is_new) waiting_.push(*borders);
    if (!world) return;
    waiting_.settle(truth_, [&](auto &message, const auto &pose) {
      if (pose) judge(message, *world, *pose);
    });
  }

  void figures(const tasks::Figures &figure) override {
    figure("messages", "", static_cast<double>(messages_));
    if (messages_ > 0) figure("found", "%", 100 * static_cast<double>(found_) / static_cast<double>(messages_));
    if (found_ == 0) return;
    figure("error_rms", "m", std::sqrt(squares_ / (2 * static_cast<double>(found_))));
    figure("error_max", "m", most_);
  }

 private:
  void judge(const tasks::LaneBorders &borders, const tasks::World &world, const TruePose &pose) {
    ++messages_;
    if (borders.prefix.count == 0) return;
    ++found_;
    const world::Track track(world);
    const double half = world.lane_width / 2;
    for (const auto &[border, offset] : {std::pair{borders.left, half}, std::pair{borders.right, -half}}) {
      const double error = std::abs(border.offset + border.slope * ahead_ - beside(track, offset, pose));
      squares_ += error * error;
      most_ = std::max(most_, error);
    }
  }

  // How far to the left of the vehicle's axis the border is that way ahead.
  double beside(const world::Track &track, double offset, const TruePose &pose) const {
    const double cosine = std::cos(pose.yaw), sine = std::sin(pose.yaw);
    const double here = track.nearest(pose.x, pose.y).distance;
    double nearest = INFINITY, left = 0;
    for (double way = 0; way < 2 * ahead_ + 10; way += 0.02) {
      const world::Place at = track.at(here + way, offset);
      const double dx = at.x - pose.x, dy = at.y - pose.y, apart = std::abs(dx * cosine + dy * sine - ahead_);
      if (apart < nearest) nearest = apart, left = dy * cosine - dx * sine;
    }
    return left;
  }

  std::string borders_topic_, world_topic_, state_topic_;
  double ahead_;
  TruePoses truth_;
  Waiting<tasks::LaneBorders> waiting_;
  uint64_t messages_ = 0, found_ = 0;
  double squares_ = 0, most_ = 0;
};

}  // namespace

constexpr tacho_task_kind JUDGE_LANES =
    tasks::judge<JudgeLanes>("judge_lanes", "compares the borders of the lane with the true ones", PARAMETERS, INPUTS);

}  // namespace judges
