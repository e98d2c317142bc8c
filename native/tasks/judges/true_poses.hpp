// SPDX-License-Identifier: Apache-2.0
//
// Where the vehicle truly was at an instant of the last seconds.
#ifndef TACHO_TASKS_JUDGES_TRUE_POSES_HPP_
#define TACHO_TASKS_JUDGES_TRUE_POSES_HPP_

#include <tasks/messages.hpp>
#include <tasks/task.hpp>

#include <cmath>
#include <deque>
#include <optional>
#include <utility>

namespace judges {

struct TruePose {
  double x, y, yaw;
};

class TruePoses {
 public:
  // Keeps a state. They come in the order of their stamps.
  void hear(const tasks::VehicleState &state) {
    if (!states_.empty() && state.prefix.stamp_ns <= states_.back().prefix.stamp_ns) return;
    states_.push_back(state);
    while (states_.back().prefix.stamp_ns - states_.front().prefix.stamp_ns > KEPT_NS) states_.pop_front();
  }

  // Whether the state of this instant, or a later one, has come.
  bool reach(int64_t stamp_ns) const { return !states_.empty() && states_.back().prefix.stamp_ns >= stamp_ns; }

  // The pose at this instant, between the states around it; none if it is older than all that are kept.
  std::optional<TruePose> at(int64_t stamp_ns) const {
    for (size_t i = states_.size(); i-- > 0;) {
      const tasks::VehicleState &before = states_[i];
      if (before.prefix.stamp_ns > stamp_ns) continue;
      if (before.prefix.stamp_ns == stamp_ns) return TruePose{before.x, before.y, before.yaw};
      if (i + 1 == states_.size()) return std::nullopt;
      const tasks::VehicleState &after = states_[i + 1];
      const double part = static_cast<double>(stamp_ns - before.prefix.stamp_ns) /
                          static_cast<double>(after.prefix.stamp_ns - before.prefix.stamp_ns);
      return TruePose{before.x + part * (after.x - before.x), before.y + part * (after.y - before.y),
                      before.yaw + part * std::remainder(after.yaw - before.yaw, 2 * M_PI)};
    }
    return std::nullopt;
  }

 private:
  static constexpr int64_t KEPT_NS = 3'000'000'000;
  std::deque<tasks::VehicleState> states_;
};

// Messages that wait until the truth of their instants is known.
template <typename Message>
class Waiting {
 public:
  void push(Message message) { messages_.push_back(std::move(message)); }
  size_t size() const { return messages_.size(); }

  // Gives each message whose instant has come to `judge`, with the pose at it; without one if it is older than all that
  // are kept.
  template <typename Judge>
  void settle(const TruePoses &truth, Judge judge) {
    while (!messages_.empty() && truth.reach(messages_.front().prefix.stamp_ns)) {
      judge(messages_.front(), truth.at(messages_.front().prefix.stamp_ns));
      messages_.pop_front();
    }
  }

 private:
  std::deque<Message> messages_;
};

}  // namespace judges

#endif  // TACHO_TASKS_JUDGES_TRUE_POSES_HPP_
