// SPDX-License-Identifier: Apache-2.0
//
// The dynamic single-track model of CommonRoad (Althoff and Würsching, "CommonRoad: Vehicle Models", 2020, chapter 7)
// with the parameters of its vehicle 2, a BMW 320i (table 6). The reference point is the centre of gravity.
#ifndef TACHO_TASKS_SINGLE_TRACK_HPP_
#define TACHO_TASKS_SINGLE_TRACK_HPP_

#include <array>

namespace vehicle {

constexpr double LENGTH = 4.508;  // m, of the body
constexpr double WIDTH = 1.61;
constexpr double TO_FRONT_AXLE = 1.1561957064;  // m, from the centre of gravity
constexpr double TO_REAR_AXLE = 1.4227170936;
constexpr double WHEELBASE = TO_FRONT_AXLE + TO_REAR_AXLE;
constexpr double STEERING_MAX = 1.066;     // rad, either way
constexpr double STEERING_RATE_MAX = 0.4;  // rad/s, either way
constexpr double ACCELERATION_MAX = 11.5;  // m/s^2, either way
constexpr double SPEED_MAX = 50.8;         // m/s
constexpr double SPEED_MIN = -13.9;
constexpr double SPEED_SWITCH = 7.319;   // m/s, above which the power of the engine limits the acceleration
constexpr double KINEMATIC_BELOW = 0.1;  // m/s: tyres without speed have no slip angle

// Of the state: x, y (m), steering angle (rad), speed (m/s), yaw (rad), yaw rate (rad/s), slip angle (rad).
enum { X, Y, STEERING, SPEED, YAW, YAW_RATE, SLIP, STATES };
using State = std::array<double, STATES>;

struct Input {
  double steering_rate;  // rad/s
  double acceleration;   // m/s^2
};

// The input that the vehicle can follow in this state.
Input limited(const State &state, Input input);

// The derivative of the state.
State derivative(const State &state, Input input);

// The state after a step of the classic Runge-Kutta method.
State step(const State &state, Input input, double seconds);

}  // namespace vehicle

#endif  // TACHO_TASKS_SINGLE_TRACK_HPP_
