// SPDX-License-Identifier: Apache-2.0
//
// The obstacles that a camera sees, as boxes in its picture: the list that a detector would ideally give.
#include "kinds.hpp"
#include "track.hpp"

#include <tasks/cameras.hpp>
#include <tasks/noise.hpp>

namespace world {
namespace {

constexpr tacho_task_parameter PARAMETERS[] = {
    tasks::MOUNTED[0],
    tasks::MOUNTED[1],
    tasks::MOUNTED[2],
    tasks::MOUNTED[3],
    tasks::MOUNTED[4],
    tasks::MOUNTED[5],
    tasks::MOUNTED[6],
    {"range", "m", 1, 500, 30, "how far it sees"},
    {"noise", "", 0, 1, 0, "standard deviation of each edge, as part of the box's height"},
};
enum { RANGE = std::size(tasks::MOUNTED), NOISE };
constexpr tacho_task_slot INPUTS[] = {tasks::input("world"), tasks::input("vehicle state")};
constexpr tacho_task_slot OUTPUTS[] = {tasks::output("boxes", sizeof(tasks::Boxes))};

class GroundTruthBoxes : public tasks::Task {
 public:
  explicit GroundTruthBoxes(const tasks::Config &config)
      : world_topic_(config.topic_of_input(0)),
        state_topic_(config.topic_of_input(1)),
        range_(config.value(RANGE)),
        deviation_(config.value(NOISE)),
        noise_(config.raw.seed) {
    camera_ = tasks::mounted(config);
  }

  void run(const tacho_task_call &call) override {
    const auto told = tasks::received<tasks::World>(call, 0, world_topic_);
    const auto state = tasks::received<tasks::VehicleState>(call, 1, state_topic_);
    if (!told || !state) return;
    const tasks::World moved = tasks::at_instant(*told, state->prefix.stamp_ns), *world = &moved;
    const Track track(*world);
    const double cosine = std::cos(state->yaw), sine = std::sin(state->yaw);
    tasks::Boxes boxes{{tasks::Boxes::KIND, 0, state->prefix.stamp_ns}, camera_, {}};
    for (uint32_t i = 0; i < world->prefix.count; ++i) {
      const tasks::Obstacle &obstacle = world->obstacles[i];
      const Place at = track.at(obstacle.distance, obstacle.offset);
      const double dx = at.x - state->x, dy = at.y - state->y;
      if (std::hypot(dx, dy) > range_) continue;
      const auto seen = tasks::projected(camera_, dx * cosine + dy * sine, dy * cosine - dx * sine, obstacle.radius, 0,
                                         obstacle.height);
      if (seen) add(*seen, boxes);
    }
    tasks::publish(call, 0, boxes);
  }

 private:
  void add(const tasks::Rectangle &seen, tasks::Boxes &boxes) {
    const double deviation = deviation_ * (seen.bottom - seen.top);
    const double left = seen.left + noise_(deviation), top = seen.top + noise_(deviation);
    const double right = std::max(left + 1, seen.right + noise_(deviation));
    const double bottom = std::max(top + 1, seen.bottom + noise_(deviation));
    boxes.boxes[boxes.prefix.count++] = {static_cast<float>(left),
                                         static_cast<float>(top),
                                         static_cast<float>(right - left),
                                         static_cast<float>(bottom - top),
                                         1,
                                         tasks::PERSON,
                                         0,
                                         0};
  }

  std::string world_topic_, state_topic_;
  double range_, deviation_;
  tasks::Noise noise_;
  tasks::Camera camera_{};
};

}  // namespace

constexpr tacho_task_kind GROUND_TRUTH_BOXES = tasks::kind<GroundTruthBoxes>(
    "ground_truth_boxes", "the obstacles that a camera sees, as boxes in its picture", PARAMETERS, INPUTS, OUTPUTS);

}  // namespace world
