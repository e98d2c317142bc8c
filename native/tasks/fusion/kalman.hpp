// SPDX-License-Identifier: Apache-2.0
//
// A Kalman filter of one coordinate that moves with about constant speed. Its acceleration is white noise, constant
// within a step (Bar-Shalom, Li, Kirubarajan 2001, section 6.3.2).
#ifndef TACHO_TASKS_FUSION_KALMAN_HPP_
#define TACHO_TASKS_FUSION_KALMAN_HPP_

namespace fusion {

class Kalman {
 public:
  // At a measured place with an unknown speed.
  Kalman(double place, double noise, double speed_noise)
      : place_(place), speed_(0), pp_(noise * noise), ps_(0), ss_(speed_noise * speed_noise) {}

  void predict(double seconds, double acceleration) {
    const double square = seconds * seconds, q = acceleration * acceleration;
    place_ += speed_ * seconds;
    pp_ += 2 * seconds * ps_ + square * ss_ + q * square * square / 4;
    ps_ += seconds * ss_ + q * square * seconds / 2;
    ss_ += q * square;
  }

  void measure(double place, double noise) {
    const double innovation = place - place_, variance = pp_ + noise * noise;
    const double gain = pp_ / variance, speed_gain = ps_ / variance;
    place_ += gain * innovation;
    speed_ += speed_gain * innovation;
    ss_ -= speed_gain * ps_;
    ps_ -= gain * ps_;
    pp_ -= gain * pp_;
  }

  double place() const { return place_; }
  double speed() const { return speed_; }

 private:
  double place_, speed_;
  double pp_, ps_, ss_;  // covariances of place and speed
};

}  // namespace fusion

#endif  // TACHO_TASKS_FUSION_KALMAN_HPP_
