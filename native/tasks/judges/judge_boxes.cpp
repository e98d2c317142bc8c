// SPDX-License-Identifier: Apache-2.0
//
// Compares boxes in a picture with where it truly shows the obstacles.
#include "../world/track.hpp"
#include "kinds.hpp"
#include "recall.hpp"
#include "true_poses.hpp"

#include <tasks/cameras.hpp>

#include <vector>

namespace judges {
namespace {

constexpr tacho_task_parameter PARAMETERS[] = {
    {"range", "m", 1, 1000, 20, "obstacles this near to the camera are due"},
    {"overlap", "", 0.01, 1, 0.3, "least overlap (intersection over union) of a box with its obstacle"},
};
enum { RANGE, OVERLAP };
constexpr tacho_task_slot INPUTS[] = {tasks::input("boxes"), tasks::input("world"), tasks::input("vehicle state")};
enum { BOXES, WORLD, STATE };

class JudgeBoxes : public tasks::Task {
 public:
  explicit JudgeBoxes(const tasks::Config &config)
      : boxes_topic_(config.topic_of_input(BOXES)),
        world_topic_(config.topic_of_input(WORLD)),
        state_topic_(config.topic_of_input(STATE)),
        range_(config.value(RANGE)),
        overlap_(config.value(OVERLAP)) {}

  void run(const tacho_task_call &call) override {
    const auto world = tasks::received<tasks::World>(call, WORLD, world_topic_);
    const auto state = tasks::received<tasks::VehicleState>(call, STATE, state_topic_);
    const auto boxes = tasks::received<tasks::Boxes>(call, BOXES, boxes_topic_);
    if (state && call.inputs[STATE].is_new) truth_.hear(*state);
    if (boxes && call.inputs[BOXES].is_new) waiting_.push(*boxes);
    if (!world) return;
    waiting_.settle(truth_, [&](auto &message, const auto &pose) {
      if (pose) judge(message, tasks::at_instant(*world, message.prefix.stamp_ns), *pose);
    });
  }

  void figures(const tasks::Figures &figure) override {
    recall_.report(figure);
    if (recall_.matched > 0) figure("overlap_mean", "", overlaps_ / static_cast<double>(recall_.matched));
  }

 private:
  void judge(const tasks::Boxes &boxes, const tasks::World &world, const TruePose &pose) {
    ++recall_.messages;
    const world::Track track(world);
    const double cosine = std::cos(pose.yaw), sine = std::sin(pose.yaw);
    const size_t count = std::min<size_t>(boxes.prefix.count, tasks::Boxes::MOST);
    std::vector<bool> is_real(count, false);
    for (uint32_t i = 0; i < world.prefix.count; ++i) {
      const tasks::Obstacle &obstacle = world.obstacles[i];
      const world::Place at = track.at(obstacle.distance, obstacle.offset);
      const double dx = at.x - pose.x, dy = at.y - pose.y, x = dx * cosine + dy * sine, y = dy * cosine - dx * sine;
      const auto shown = tasks::projected(boxes.camera, x, y, obstacle.radius, 0, obstacle.height);
      // What the picture's border cuts is too narrow to be due.
      if (!shown || shown->right - shown->left < 0.5 * boxes.camera.focal * obstacle.radius / std::max(x, 1.0))
        continue;
      double best = 0;
      for (size_t j = 0; j < count; ++j) {
        const double overlap = tasks::overlap(*shown, tasks::rectangle(boxes.boxes[j]));
        if (overlap >= overlap_) is_real[j] = true;
        best = std::max(best, overlap);
      }
      if (tasks::seen(boxes.camera, x, y).ahead > range_) continue;
      ++recall_.due;
      if (best < overlap_) continue;
      ++recall_.matched;
      overlaps_ += best;
    }
    for (const bool real : is_real) recall_.wrong += real ? 0 : 1;
  }

  std::string boxes_topic_, world_topic_, state_topic_;
  double range_, overlap_;
  TruePoses truth_;
  Waiting<tasks::Boxes> waiting_;
  Recall recall_;
  double overlaps_ = 0;
};

}  // namespace

constexpr tacho_task_kind JUDGE_BOXES = tasks::judge<JudgeBoxes>(
    "judge_boxes", "compares boxes in a picture with where it truly shows the obstacles", PARAMETERS, INPUTS);

}  // namespace judges
