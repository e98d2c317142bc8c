// SPDX-License-Identifier: Apache-2.0
//
// Declares the parts of rclcpp that the recorder interposes, as its headers do, so that the compiler produces the same
// names and layout. Humble to Rolling have the same declarations, except that data was not const up to Iron.
#pragma once

#include <functional>
#include <memory>

namespace rclcpp {

class SubscriptionBase {};
class TimerBase {};
// For a callback that answers later, rclcpp up to Jazzy reports only the start.
class ServiceBase {
 public:
  bool answers_later = false;
  std::function<void()> callback;
};
class ClientBase {};
class Waitable {
 public:
  virtual ~Waitable() = default;
  virtual void execute(const std::shared_ptr<void> &data) = 0;
};

enum class CallbackGroupType { MutuallyExclusive, Reentrant };

class CallbackGroup {
 public:
  explicit CallbackGroup(CallbackGroupType type) : type_(type) {}
  virtual ~CallbackGroup() = default;
  const CallbackGroupType &type() const;
  void add_subscription(const std::shared_ptr<SubscriptionBase> subscription);
  void add_timer(const std::shared_ptr<TimerBase> timer);
  void add_service(const std::shared_ptr<ServiceBase> service);
  void add_client(const std::shared_ptr<ClientBase> client);
  void add_waitable(const std::shared_ptr<Waitable> waitable);

 private:
  CallbackGroupType type_;
};

class Executor {
 public:
  static void execute_service(std::shared_ptr<ServiceBase> service);
  static void execute_client(std::shared_ptr<ClientBase> client);
};

}  // namespace rclcpp

namespace rclcpp_action {

class ClientBase : public rclcpp::Waitable {
 public:
  void execute(const std::shared_ptr<void> &data) override;
  bool throws = false;  // as a user's callback may
};

}  // namespace rclcpp_action
