// SPDX-License-Identifier: Apache-2.0
//
// The pose of the vehicle, from its true state and noise.
#include "kinds.hpp"

#include <tasks/messages.hpp>
#include <tasks/noise.hpp>

namespace world {
namespace {

constexpr tacho_task_parameter PARAMETERS[] = {
    {"noise", "m", 0, 10, 0, "standard deviation of the position, in x and in y"},
    {"heading_noise", "rad", 0, 1, 0, "standard deviation of the heading"},
    {"speed_noise", "m/s", 0, 10, 0, "standard deviation of the speed"},
};
enum { POSITION, HEADING, SPEED };

constexpr tacho_task_slot INPUTS[] = {tasks::input("vehicle state")};
constexpr tacho_task_slot OUTPUTS[] = {tasks::output("pose", sizeof(tasks::Pose))};

class Odometry : public tasks::Task {
 public:
  explicit Odometry(const tasks::Config &config)
      : topic_(config.topic_of_input(0)),
        noise_(config.raw.seed),
        position_(config.value(POSITION)),
        heading_(config.value(HEADING)),
        speed_(config.value(SPEED)) {}

  void run(const tacho_task_call &call) override {
    const auto state = tasks::received<tasks::VehicleState>(call, 0, topic_);
    if (!state) return;
    tasks::publish(call, 0,
                   tasks::Pose{{tasks::Pose::KIND, 0, state->prefix.stamp_ns},
                               state->x + noise_(position_),
                               state->y + noise_(position_),
                               state->yaw + noise_(heading_),
                               state->speed + noise_(speed_)});
  }

 private:
  std::string topic_;
  tasks::Noise noise_;
  double position_, heading_, speed_;
};

}  // namespace

constexpr tacho_task_kind ODOMETRY =
    tasks::kind<Odometry>("odometry", "the pose of the vehicle with noise", PARAMETERS, INPUTS, OUTPUTS);

}  // namespace world
