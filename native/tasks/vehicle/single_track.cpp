// SPDX-License-Identifier: Apache-2.0
#include "single_track.hpp"

#include <algorithm>
#include <cmath>

namespace vehicle {
namespace {

constexpr double GRAVITY = 9.81;
constexpr double MASS = 1093.2952334674046;
constexpr double YAW_INERTIA = 1791.5995300122856;
constexpr double CENTRE_HEIGHT = 0.61373004;
constexpr double FRICTION = 1.0489;             // p_dy1 of the tyre
constexpr double CORNERING = 21.92 / FRICTION;  // of either axle, 1/rad: -p_ky1 / p_dy1

// Chapter 5: below walking speed the wheels roll where they point.
State kinematic(const State &s, Input u) {
  const double to_rear = TO_REAR_AXLE / WHEELBASE;
  const double tangent = std::tan(s[STEERING]);
  const double cosine_squared = std::pow(std::cos(s[STEERING]), 2);
  const double slip = std::atan(tangent * to_rear);
  // The published equation squares the tangent twice. It is no exact derivative of the slip angle, but the model's own.
  const double slip_rate =
      to_rear * u.steering_rate / (cosine_squared * (1 + std::pow(tangent * tangent * to_rear, 2)));
  const double yaw_acceleration =
      (u.acceleration * std::cos(s[SLIP]) * tangent - s[SPEED] * std::sin(s[SLIP]) * slip_rate * tangent +
       s[SPEED] * std::cos(s[SLIP]) * u.steering_rate / cosine_squared) /
      WHEELBASE;
  return {s[SPEED] * std::cos(slip + s[YAW]),
          s[SPEED] * std::sin(slip + s[YAW]),
          u.steering_rate,
          u.acceleration,
          s[SPEED] * std::cos(slip) * tangent / WHEELBASE,
          yaw_acceleration,
          slip_rate};
}

// Chapter 7, with the load that moves between the axles.
State dynamic(const State &s, Input u) {
  const double front = CORNERING * (GRAVITY * TO_REAR_AXLE - u.acceleration * CENTRE_HEIGHT);
  const double rear = CORNERING * (GRAVITY * TO_FRONT_AXLE + u.acceleration * CENTRE_HEIGHT);
  const double of_yaw = FRICTION * MASS / (YAW_INERTIA * WHEELBASE);
  const double of_slip = FRICTION / (s[SPEED] * WHEELBASE);
  const double yaw_acceleration =
      of_yaw * (TO_FRONT_AXLE * front * s[STEERING] + (TO_REAR_AXLE * rear - TO_FRONT_AXLE * front) * s[SLIP] -
                (TO_FRONT_AXLE * TO_FRONT_AXLE * front + TO_REAR_AXLE * TO_REAR_AXLE * rear) * s[YAW_RATE] / s[SPEED]);
  const double slip_rate = of_slip * (front * s[STEERING] - (rear + front) * s[SLIP] +
                                      (rear * TO_REAR_AXLE - front * TO_FRONT_AXLE) * s[YAW_RATE] / s[SPEED]) -
                           s[YAW_RATE];
  return {s[SPEED] * std::cos(s[SLIP] + s[YAW]),
          s[SPEED] * std::sin(s[SLIP] + s[YAW]),
          u.steering_rate,
          u.acceleration,
          s[YAW_RATE],
          yaw_acceleration,
          slip_rate};
}

State plus(const State &state, const State &rate, double seconds) {
  State sum;
  for (size_t i = 0; i < STATES; ++i) sum[i] = state[i] + seconds * rate[i];
  return sum;
}

}  // namespace

Input limited(const State &s, Input input) {
  auto [rate, acceleration] = input;
  const bool is_at_stop = (s[STEERING] <= -STEERING_MAX && rate <= 0) || (s[STEERING] >= STEERING_MAX && rate >= 0);
  rate = is_at_stop ? 0 : std::clamp(rate, -STEERING_RATE_MAX, STEERING_RATE_MAX);
  const double speed = s[SPEED];
  const double most = speed > SPEED_SWITCH ? ACCELERATION_MAX * SPEED_SWITCH / speed : ACCELERATION_MAX;
  const bool is_at_end = (speed <= SPEED_MIN && acceleration <= 0) || (speed >= SPEED_MAX && acceleration >= 0);
  acceleration = is_at_end ? 0 : std::clamp(acceleration, -ACCELERATION_MAX, most);
  return {rate, acceleration};
}

State derivative(const State &state, Input input) {
  const Input within = limited(state, input);
  return std::abs(state[SPEED]) < KINEMATIC_BELOW ? kinematic(state, within) : dynamic(state, within);
}

State step(const State &state, Input input, double seconds) {
  const State a = derivative(state, input);
  const State b = derivative(plus(state, a, seconds / 2), input);
  const State c = derivative(plus(state, b, seconds / 2), input);
  const State d = derivative(plus(state, c, seconds), input);
  State next;
  for (size_t i = 0; i < STATES; ++i) next[i] = state[i] + seconds / 6 * (a[i] + 2 * b[i] + 2 * c[i] + d[i]);
  return next;
}

}  // namespace vehicle
