// SPDX-License-Identifier: Apache-2.0
//
// The vehicle as a task: it takes commands of its actuators, drives, and publishes its true state.
#include "drive_record.hpp"
#include "single_track.hpp"

#include <tasks/messages.hpp>
#include <tasks/task.hpp>

#include <algorithm>
#include <cmath>

namespace vehicle {
namespace {

constexpr int64_t STEP_NS = 1'000'000;

constexpr tacho_task_parameter PARAMETERS[] = {
    {"initial_speed", "m/s", SPEED_MIN, SPEED_MAX, 0, "at the start"},
    {"start", "m", 0, 1e5, 0, "where on the lane it starts, along the centre line"},
    {"timeout", "s", 0.001, 3600, 0.25, "without commands for this long, it brakes until it stands"},
    {"braking", "m/s^2", 0.1, ACCELERATION_MAX, 5, "of that braking"},
};
enum { INITIAL_SPEED, START, TIMEOUT, BRAKING };

constexpr tacho_task_slot INPUTS[] = {tasks::input("actuators"), tasks::optional_input("world")};
constexpr tacho_task_slot OUTPUTS[] = {tasks::output("vehicle state", sizeof(tasks::VehicleState))};
enum { ACTUATORS, WORLD };
constexpr tacho_task_signal SIGNALS[] = {
    tasks::signal("x", "m", "true place of the centre of gravity on the map"),
    tasks::signal("y", "m", "true place of the centre of gravity on the map"),
    tasks::signal("heading", "rad", "true heading, counterclockwise from x"),
    tasks::signal("speed", "m/s", "true speed"),
    tasks::signal("acceleration", "m/s^2", "true acceleration along its speed"),
    tasks::signal("steering", "rad", "true angle of the front wheels, to the left"),
    tasks::signal("lateral_error", "m", "distance of the centre of gravity from the centre line, to the left"),
    tasks::signal("obstacle_gap", "m", "free way before its front, along the lane, while an obstacle is in its way"),
    tasks::signal("command_age", "ms", "at the arrival of a command: since the vehicle was sensed on which it rests"),
};
enum { S_X, S_Y, S_HEADING, S_SPEED, S_ACCELERATION, S_STEERING, S_LATERAL_ERROR, S_OBSTACLE_GAP, S_COMMAND_AGE };

// What the model gets of what the actuators do: a negative acceleration brakes. A brake slows and holds the car,
// whichever way it rolls, and never drives it.
Input braked(const State &s, Input input) {
  if (input.acceleration >= 0 || s[SPEED] > 0) return input;
  return {input.steering_rate, s[SPEED] < 0 ? -input.acceleration : 0};
}

// The state after a step, in which a car that brakes comes to a stand instead of rolling the other way.
State drive(const State &s, Input input, double seconds) {
  State next = step(s, braked(s, input), seconds);
  if (input.acceleration < 0 && next[SPEED] * s[SPEED] <= 0) next[SPEED] = next[YAW_RATE] = 0;
  return next;
}

class Vehicle : public tasks::Task {
 public:
  explicit Vehicle(const tasks::Config &config)
      : actuators_topic_(config.topic_of_input(ACTUATORS)),
        world_topic_(config.raw.input_count > WORLD ? config.topic_of_input(WORLD) : ""),
        start_(config.value(START)),
        timeout_ns_(std::llround(config.value(TIMEOUT) * 1e9)),
        braking_(config.value(BRAKING)) {
    state_[SPEED] = config.value(INITIAL_SPEED);
  }

  void run(const tacho_task_call &call) override {
    if (!time_ns_) time_ns_ = last_command_ns_ = call.now_ns;
    take_world(call);
    drive_until(call.now_ns);
    if (call.inputs[ACTUATORS].is_new) {
      const auto actuators = tasks::received<tasks::Actuators>(call, ACTUATORS, actuators_topic_);
      require_number(actuators->steering_rate, "steering rate");
      require_number(actuators->acceleration, "acceleration");
      input_ = {actuators->steering_rate, actuators->acceleration};
      last_command_ns_ = call.now_ns;
      if (actuators->prefix.stamp_ns) age(call, call.now_ns - actuators->prefix.stamp_ns);
    }
    publish(call);
  }

  void figures(const tasks::Figures &figure) override {
    record_.report(figure);
    figure("stops_without_command", "", static_cast<double>(stops_));
    if (commands_ > 0) {
      figure("command_age_mean", "ms", age_sum_ms_ / static_cast<double>(commands_));
      figure("command_age_max", "ms", age_max_ms_);
    }
  }

 private:
  void require_number(double value, const char *what) const {
    if (!std::isfinite(value)) {
      throw std::runtime_error(actuators_topic_ + ": found " + std::to_string(value) + " as " + what +
                               ", expected a finite number");
    }
  }

  void take_world(const tacho_task_call &call) {
    if (world_topic_.empty() || !call.inputs[WORLD].is_new) return;
    world_ = tasks::received<tasks::World>(call, WORLD, world_topic_);
    if (track_) return;
    track_.emplace(*world_);
    // The first message of the world says where the lane is. Until then the vehicle stands.
    *time_ns_ = last_command_ns_ = call.now_ns;
    const world::Place place = track_->at(start_);
    state_[X] = place.x, state_[Y] = place.y, state_[YAW] = place.heading;
  }

  // Drives in whole steps of a fixed grid, so that the number of calls changes nothing.
  void drive_until(int64_t now_ns) {
    if (!world_topic_.empty() && !track_) {
      *time_ns_ = last_command_ns_ = now_ns;
      return;
    }
    for (; *time_ns_ + STEP_NS <= now_ns; *time_ns_ += STEP_NS) {
      state_ = drive(state_, wanted(), 1e-3);
      if (track_) record_.look(state_, tasks::at_instant(*world_, *time_ns_ + STEP_NS), *track_);
    }
  }

  // What the actuators do: what they were told last, or, if nobody commands any more, they brake.
  Input wanted() {
    const bool was_braking = is_braking_;
    is_braking_ = *time_ns_ - last_command_ns_ >= timeout_ns_;
    // Before the first command it stands, and stops nothing.
    if (is_braking_ && !was_braking && state_[SPEED] > 0) ++stops_;
    return actuated();
  }

  Input actuated() const { return is_braking_ ? Input{0, -braking_} : input_; }

  void age(const tacho_task_call &call, int64_t ns) {
    const double ms = static_cast<double>(ns) * 1e-6;
    tasks::report(call, S_COMMAND_AGE, call.now_ns, ms);
    ++commands_;
    age_sum_ms_ += ms;
    age_max_ms_ = std::max(age_max_ms_, ms);
  }

  void publish(const tacho_task_call &call) {
    const double rest = tasks::seconds(call.now_ns - *time_ns_);
    const Input input = actuated();
    const State now = rest > 0 && (track_ || world_topic_.empty()) ? drive(state_, input, rest) : state_;
    tasks::VehicleState state{{tasks::VehicleState::KIND, 0, call.now_ns},
                              now[X],
                              now[Y],
                              now[STEERING],
                              now[SPEED],
                              now[YAW],
                              now[YAW_RATE],
                              now[SLIP],
                              limited(now, braked(now, input)).acceleration};
    tasks::publish(call, 0, state);
    if (call.outputs[0].data) report(call, now, state.acceleration);
  }

  void report(const tacho_task_call &call, const State &now, double acceleration) const {
    // Until it knows the world, it does not know where it stands.
    if (!call.report || (!world_topic_.empty() && !track_)) return;
    const auto one = [&](uint32_t signal, double value) { tasks::report(call, signal, call.now_ns, value); };
    one(S_X, now[X]), one(S_Y, now[Y]), one(S_HEADING, now[YAW]), one(S_SPEED, now[SPEED]);
    one(S_ACCELERATION, acceleration), one(S_STEERING, now[STEERING]);
    if (!track_) return;
    one(S_LATERAL_ERROR, track_->nearest(now[X], now[Y]).offset);
    const auto gap = free_way(now, tasks::at_instant(*world_, call.now_ns), *track_);
    if (gap) one(S_OBSTACLE_GAP, *gap);
  }

  std::string actuators_topic_, world_topic_;
  double start_;
  int64_t timeout_ns_;
  double braking_;
  std::optional<tasks::World> world_;
  std::optional<world::Track> track_;
  State state_{};
  Input input_{};
  std::optional<int64_t> time_ns_;  // of the state
  int64_t last_command_ns_ = 0;
  bool is_braking_ = false;
  size_t stops_ = 0, commands_ = 0;
  double age_sum_ms_ = 0, age_max_ms_ = 0;
  DriveRecord record_;
};

constexpr tacho_task_kind KINDS[] = {
    tasks::with_signals(
        tasks::kind<Vehicle>("vehicle", "drives as its actuators are told, and publishes its true state", PARAMETERS,
                             INPUTS, OUTPUTS),
        SIGNALS),
};
constexpr struct tacho_tasks TASKS = {TACHO_TASK_ABI, "vehicle", KINDS, 1};

}  // namespace
}  // namespace vehicle

extern "C" __attribute__((visibility("default"))) const struct tacho_tasks *tacho_tasks() { return &vehicle::TASKS; }
