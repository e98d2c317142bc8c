// SPDX-License-Identifier: Apache-2.0
//
// Yaw rate and accelerations at the centre of gravity, from the true state of the vehicle and noise. Gravity is left
// out: the ground is flat.
#include "kinds.hpp"
#include "../vehicle/single_track.hpp"

#include <tasks/messages.hpp>
#include <tasks/noise.hpp>

#include <cmath>

namespace world {
namespace {

constexpr tacho_task_parameter PARAMETERS[] = {
    {"noise", "m/s^2", 0, 10, 0, "standard deviation of either acceleration"},
    {"rate_noise", "rad/s", 0, 1, 0, "standard deviation of the yaw rate"},
};
enum { ACCELERATION, RATE };

constexpr tacho_task_slot INPUTS[] = {tasks::input("vehicle state")};
constexpr tacho_task_slot OUTPUTS[] = {tasks::output("imu", sizeof(tasks::Imu))};

class Imu : public tasks::Task {
 public:
  explicit Imu(const tasks::Config &config)
      : topic_(config.topic_of_input(0)),
        noise_(config.raw.seed),
        acceleration_(config.value(ACCELERATION)),
        rate_(config.value(RATE)) {}

  void run(const tacho_task_call &call) override {
    const auto s = tasks::received<tasks::VehicleState>(call, 0, topic_);
    if (!s) return;
    const vehicle::State state = {s->x, s->y, s->steering, s->speed, s->yaw, s->yaw_rate, s->slip};
    const double slip_rate = vehicle::derivative(state, {0, s->acceleration})[vehicle::SLIP];
    // The velocity turns with the yaw and with the slip.
    const double across = s->speed * (s->yaw_rate + slip_rate);
    tasks::publish(
        call, 0,
        tasks::Imu{{tasks::Imu::KIND, 0, s->prefix.stamp_ns},
                   s->yaw_rate + noise_(rate_),
                   s->acceleration * std::cos(s->slip) - across * std::sin(s->slip) + noise_(acceleration_),
                   s->acceleration * std::sin(s->slip) + across * std::cos(s->slip) + noise_(acceleration_)});
  }

 private:
  std::string topic_;
  tasks::Noise noise_;
  double acceleration_, rate_;
};

}  // namespace

constexpr tacho_task_kind IMU =
    tasks::kind<Imu>("imu", "yaw rate and accelerations of the vehicle with noise", PARAMETERS, INPUTS, OUTPUTS);

}  // namespace world
