// SPDX-License-Identifier: Apache-2.0
//
// A roadside unit: it stands beside the lane and says what it sees on it, wherever the vehicle is.
#include "kinds.hpp"
#include "track.hpp"

#include <tasks/messages.hpp>
#include <tasks/noise.hpp>
#include <tasks/object_signals.hpp>

#include <cmath>

namespace world {
namespace {

constexpr tacho_task_parameter PARAMETERS[] = {
    {"at", "m", 0, 1e5, 0, "where it stands, along the lane"},
    {"range", "m", 1, 1000, 60, "how far it sees, all around"},
    {"noise", "m", 0, 10, 0, "standard deviation of places, in each direction"},
};
enum { AT, RANGE, NOISE };
constexpr tacho_task_slot INPUTS[] = {tasks::input("world")};
constexpr tacho_task_slot OUTPUTS[] = {tasks::output("objects", sizeof(tasks::Objects))};

class RoadsideUnit : public tasks::Task {
 public:
  explicit RoadsideUnit(const tasks::Config &config)
      : world_topic_(config.topic_of_input(0)),
        at_(config.value(AT)),
        range_(config.value(RANGE)),
        deviation_(config.value(NOISE)),
        noise_(config.raw.seed) {}

  void run(const tacho_task_call &call) override {
    const auto told = tasks::received<tasks::World>(call, 0, world_topic_);
    if (!told) return;
    const tasks::World world = tasks::at_instant(*told, call.now_ns);
    const Track track(world);
    const Place here = track.at(at_);
    tasks::Objects objects{{tasks::Objects::KIND, 0, call.now_ns}, {}};
    for (uint32_t i = 0; i < world.prefix.count; ++i) {
      const tasks::Obstacle &obstacle = world.obstacles[i];
      const Place there = track.at(obstacle.distance, obstacle.offset);
      if (std::hypot(there.x - here.x, there.y - here.y) > range_) continue;
      objects.objects[objects.prefix.count++] = {there.x + noise_(deviation_), there.y + noise_(deviation_),
                                                 obstacle.radius,
                                                 std::hypot(world.speed_along[i], world.speed_left[i])};
    }
    tasks::publish(call, 0, objects);
    tasks::report_objects(call, objects.objects, objects.prefix.count, call.now_ns);
  }

 private:
  std::string world_topic_;
  double at_, range_, deviation_;
  tasks::Noise noise_;
};

}  // namespace

constexpr tacho_task_kind ROADSIDE_UNIT = tasks::with_signals(
    tasks::kind<RoadsideUnit>("roadside_unit", "what a unit beside the lane sees on it", PARAMETERS, INPUTS, OUTPUTS),
    tasks::OBJECT_SIGNALS);

}  // namespace world
