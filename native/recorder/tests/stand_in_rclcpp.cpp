// SPDX-License-Identifier: Apache-2.0
#include "stand_in_rclcpp.hpp"

namespace rclcpp {

const CallbackGroupType &CallbackGroup::type() const { return type_; }
void CallbackGroup::add_subscription(const std::shared_ptr<SubscriptionBase>) {}
void CallbackGroup::add_timer(const std::shared_ptr<TimerBase>) {}
void CallbackGroup::add_service(const std::shared_ptr<ServiceBase>) {}
void CallbackGroup::add_client(const std::shared_ptr<ClientBase>) {}
void CallbackGroup::add_waitable(const std::shared_ptr<Waitable>) {}

AnyExecutable::~AnyExecutable() = default;

void Executor::execute_any_executable(AnyExecutable &any) {
  if (throws) throw 1;
  if (any.client) execute_client(any.client);
}
void Executor::execute_client(std::shared_ptr<ClientBase>) {}

}  // namespace rclcpp
