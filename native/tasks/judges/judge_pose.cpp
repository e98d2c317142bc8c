// SPDX-License-Identifier: Apache-2.0
//
// Compares poses with the true ones of their instants.
#include "kinds.hpp"
#include "true_poses.hpp"

namespace judges {
namespace {

constexpr tacho_task_slot INPUTS[] = {tasks::input("pose"), tasks::input("vehicle state")};

class JudgePose : public tasks::Task {
 public:
  explicit JudgePose(const tasks::Config &config)
      : pose_topic_(config.topic_of_input(0)), state_topic_(config.topic_of_input(1)) {}

  void run(const tacho_task_call &call) override {
    const auto pose = tasks::received<tasks::Pose>(call, 0, pose_topic_);
    const auto state = tasks::received<tasks::VehicleState>(call, 1, state_topic_);
    if (state && call.inputs[1].is_new) truth_.hear(*state);
    if (pose && call.inputs[0].is_new) waiting_.push(*pose);
    waiting_.settle(truth_, [&](const auto &message, const auto &truth) { judge(message, truth); });
  }

  void figures(const tasks::Figures &figure) override {
    figure("poses", "", static_cast<double>(judged_));
    figure("poses_unjudged", "", static_cast<double>(unjudged_ + waiting_.size()));
    if (judged_ == 0) return;
    figure("position_error_max", "m", most_);
    figure("position_error_rms", "m", std::sqrt(squares_ / static_cast<double>(judged_)));
    figure("heading_error_max", "rad", most_heading_);
  }

 private:
  void judge(const tasks::Pose &pose, const std::optional<TruePose> &truth) {
    if (!truth) {
      ++unjudged_;
      return;
    }
    const double apart = std::hypot(pose.x - truth->x, pose.y - truth->y);
    ++judged_;
    squares_ += apart * apart;
    most_ = std::max(most_, apart);
    most_heading_ = std::max(most_heading_, std::abs(std::remainder(pose.yaw - truth->yaw, 2 * M_PI)));
  }

  std::string pose_topic_, state_topic_;
  TruePoses truth_;
  Waiting<tasks::Pose> waiting_;
  uint64_t judged_ = 0, unjudged_ = 0;
  double squares_ = 0, most_ = 0, most_heading_ = 0;
};

}  // namespace

constexpr tacho_task_kind JUDGE_POSE =
    tasks::sink<JudgePose>("judge_pose", "compares poses with the true ones of their instants", INPUTS);

}  // namespace judges
