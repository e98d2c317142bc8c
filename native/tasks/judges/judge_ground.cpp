// SPDX-License-Identifier: Apache-2.0
//
// Compares a cloud with what a removal of the ground left of it. The ground of the world is level, so heights tell what
// a point is.
#include "kinds.hpp"

#include <tasks/clouds.hpp>

#include <deque>

namespace judges {
namespace {

constexpr tacho_task_slot INPUTS[] = {tasks::input("point cloud"), tasks::input("point cloud without ground")};
constexpr double GROUND = 0.05, STANDING = 0.3;

struct Count {
  int64_t stamp_ns;
  uint64_t ground, standing;
};

Count count(const tasks::CloudView &cloud) {
  Count count{cloud.prefix().stamp_ns, 0, 0};
  for (uint32_t i = 0; i < cloud.size(); ++i) {
    const float z = cloud[i].z;
    if (z <= GROUND) ++count.ground;
    if (z >= STANDING) ++count.standing;
  }
  return count;
}

class JudgeGround : public tasks::Task {
 public:
  explicit JudgeGround(const tasks::Config &config)
      : whole_topic_(config.topic_of_input(0)), left_topic_(config.topic_of_input(1)) {}

  void run(const tacho_task_call &call) override {
    const auto whole = tasks::received_cloud(call, 0, whole_topic_);
    const auto left = tasks::received_cloud(call, 1, left_topic_);
    if (whole && call.inputs[0].is_new) keep(whole_, count(*whole));
    if (left && call.inputs[1].is_new) keep(left_, count(*left));
    while (!whole_.empty() && !left_.empty()) {
      const int64_t of_whole = whole_.front().stamp_ns, of_left = left_.front().stamp_ns;
      if (of_whole == of_left) judge(whole_.front(), left_.front());
      if (of_whole <= of_left) whole_.pop_front();
      if (of_left <= of_whole) left_.pop_front();
    }
  }

  void figures(const tasks::Figures &figure) override {
    figure("clouds", "", static_cast<double>(clouds_));
    const auto percent = [](uint64_t part, uint64_t of) {
      return 100 * static_cast<double>(part) / static_cast<double>(of);
    };
    if (ground_ > 0) figure("ground_removed", "%", percent(ground_ - std::min(ground_, ground_left_), ground_));
    if (standing_ > 0) figure("standing_kept", "%", percent(standing_left_, standing_));
  }

 private:
  static void keep(std::deque<Count> &all, const Count &one) {
    all.push_back(one);
    if (all.size() > 64) all.pop_front();
  }

  void judge(const Count &whole, const Count &left) {
    ++clouds_;
    ground_ += whole.ground, standing_ += whole.standing;
    ground_left_ += left.ground, standing_left_ += left.standing;
  }

  std::string whole_topic_, left_topic_;
  std::deque<Count> whole_, left_;
  uint64_t clouds_ = 0, ground_ = 0, standing_ = 0, ground_left_ = 0, standing_left_ = 0;
};

}  // namespace

constexpr tacho_task_kind JUDGE_GROUND =
    tasks::sink<JudgeGround>("judge_ground", "what a removal of the ground left of a cloud", INPUTS);

}  // namespace judges
