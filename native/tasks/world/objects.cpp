// SPDX-License-Identifier: Apache-2.0
//
// The obstacles near the vehicle as they are: the list that a detector would ideally give.
#include "kinds.hpp"
#include "track.hpp"

#include <tasks/messages.hpp>
#include <tasks/object_signals.hpp>

#include <cmath>

namespace world {
namespace {

constexpr tacho_task_parameter PARAMETERS[] = {{"range", "m", 1, 1000, 80, "how far it sees, all around"}};
constexpr tacho_task_slot INPUTS[] = {tasks::input("world"), tasks::input("vehicle state")};
constexpr tacho_task_slot OUTPUTS[] = {tasks::output("objects", sizeof(tasks::Objects))};

class GroundTruthObjects : public tasks::Task {
 public:
  explicit GroundTruthObjects(const tasks::Config &config)
      : world_topic_(config.topic_of_input(0)), state_topic_(config.topic_of_input(1)), range_(config.value(0)) {}

  void run(const tacho_task_call &call) override {
    const auto told = tasks::received<tasks::World>(call, 0, world_topic_);
    const auto state = tasks::received<tasks::VehicleState>(call, 1, state_topic_);
    if (!told || !state) return;
    const tasks::World moved = tasks::at_instant(*told, state->prefix.stamp_ns), *world = &moved;
    const Track track(*world);
    tasks::Objects objects{{tasks::Objects::KIND, 0, state->prefix.stamp_ns}, {}};
    for (uint32_t i = 0; i < world->prefix.count; ++i) {
      const tasks::Obstacle &obstacle = world->obstacles[i];
      const Place at = track.at(obstacle.distance, obstacle.offset);
      if (std::hypot(at.x - state->x, at.y - state->y) > range_) continue;
      objects.objects[objects.prefix.count++] = {at.x, at.y, obstacle.radius,
                                                 std::hypot(world->speed_along[i], world->speed_left[i])};
    }
    tasks::publish(call, 0, objects);
    tasks::report_objects(call, objects.objects, objects.prefix.count, objects.prefix.stamp_ns);
  }

 private:
  std::string world_topic_, state_topic_;
  double range_;
};

}  // namespace

constexpr tacho_task_kind GROUND_TRUTH_OBJECTS = tasks::with_signals(
    tasks::kind<GroundTruthObjects>("ground_truth_objects", "the obstacles near the vehicle as they are", PARAMETERS,
                                    INPUTS, OUTPUTS),
    tasks::OBJECT_SIGNALS);

}  // namespace world
