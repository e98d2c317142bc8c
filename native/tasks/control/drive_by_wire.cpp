// SPDX-License-Identifier: Apache-2.0
//
// Turns commands into what the actuators do, within their rates. If nobody commands any more, it brakes.
#include "kinds.hpp"

#include <tasks/messages.hpp>

#include <algorithm>
#include <cmath>

namespace control {
namespace {

constexpr double STEERING_TIME = 0.05;  // s in which a small error of the steering angle is steered out

constexpr tacho_task_parameter PARAMETERS[] = {
    {"steering_rate", "rad/s", 0.01, 10, 0.4, "most, either way"},
    {"acceleration", "m/s^2", 0.1, 20, 4, "most"},
    {"braking", "m/s^2", 0.1, 20, 9, "most"},
    {"acceleration_rate", "m/s^2", 0.1, 1e4, 40, "most change of the acceleration in a second"},
    {"timeout", "s", 0.001, 3600, 0.5, "without a command for this long, it brakes"},
    {"stop_braking", "m/s^2", 0.1, 20, 4, "of that braking"},
};
enum { STEERING_RATE, ACCELERATION, BRAKING, ACCELERATION_RATE, TIMEOUT, STOP_BRAKING };

constexpr tacho_task_slot INPUTS[] = {tasks::input("command"), tasks::input("vehicle state")};
constexpr tacho_task_slot OUTPUTS[] = {tasks::output("actuators", sizeof(tasks::Actuators))};

class DriveByWire : public tasks::Task {
 public:
  explicit DriveByWire(const tasks::Config &config)
      : command_topic_(config.topic_of_input(0)),
        state_topic_(config.topic_of_input(1)),
        steering_rate_(config.value(STEERING_RATE)),
        most_acceleration_(config.value(ACCELERATION)),
        most_braking_(config.value(BRAKING)),
        acceleration_rate_(config.value(ACCELERATION_RATE)),
        timeout_ns_(std::llround(config.value(TIMEOUT) * 1e9)),
        stop_braking_(config.value(STOP_BRAKING)) {}

  void run(const tacho_task_call &call) override {
    const auto state = tasks::received<tasks::VehicleState>(call, 1, state_topic_);
    const auto command = tasks::received<tasks::Command>(call, 0, command_topic_);
    if (!state || !command) return;  // nobody has commanded yet, and the vehicle stands
    if (!std::isfinite(command->steering) || !std::isfinite(command->acceleration)) {
      throw std::runtime_error(command_topic_ + ": found a steering angle of " + std::to_string(command->steering) +
                               " and an acceleration of " + std::to_string(command->acceleration) +
                               ", expected finite numbers");
    }
    const bool is_stale = call.now_ns - call.inputs[0].header.stamp_ns > timeout_ns_;
    stops_ += is_stale && !is_stopping_;
    is_stopping_ = is_stale;
    double steering_rate = (command->steering - state->steering) / STEERING_TIME;
    double acceleration = command->acceleration;
    // The wheels stay where they are: the lane leads on as it did.
    if (is_stale) steering_rate = 0, acceleration = -stop_braking_;
    acceleration = std::clamp(acceleration, -most_braking_, most_acceleration_);
    if (last_ns_) {
      const double change = acceleration_rate_ * tasks::seconds(call.now_ns - *last_ns_);
      acceleration = std::clamp(acceleration, acceleration_ - change, acceleration_ + change);
    }
    acceleration_ = acceleration;
    last_ns_ = call.now_ns;
    tasks::publish(call, 0,
                   tasks::Actuators{{tasks::Actuators::KIND, 0, command->prefix.stamp_ns},
                                    std::clamp(steering_rate, -steering_rate_, steering_rate_),
                                    acceleration});
  }

  void figures(const tasks::Figures &figure) override {
    figure("stops_without_command", "", static_cast<double>(stops_));
  }

 private:
  std::string command_topic_, state_topic_;
  double steering_rate_, most_acceleration_, most_braking_, acceleration_rate_;
  int64_t timeout_ns_;
  double stop_braking_;
  std::optional<int64_t> last_ns_;
  double acceleration_ = 0;
  bool is_stopping_ = false;
  uint64_t stops_ = 0;
};

}  // namespace

constexpr tacho_task_kind DRIVE_BY_WIRE =
    tasks::kind<DriveByWire>("drive_by_wire", "commands of the actuators within their rates; brakes if nobody commands",
                             PARAMETERS, INPUTS, OUTPUTS);

}  // namespace control
