// SPDX-License-Identifier: Apache-2.0
#include "stand_in_rclcpp.hpp"

extern "C" {
void ros_trace_callback_start(const void *callback, bool is_intra_process);
void ros_trace_callback_end(const void *callback);
}

namespace rclcpp {

const CallbackGroupType &CallbackGroup::type() const { return type_; }
void CallbackGroup::add_subscription(const std::shared_ptr<SubscriptionBase>) {}
void CallbackGroup::add_timer(const std::shared_ptr<TimerBase>) {}
void CallbackGroup::add_service(const std::shared_ptr<ServiceBase>) {}
void CallbackGroup::add_client(const std::shared_ptr<ClientBase>) {}
void CallbackGroup::add_waitable(const std::shared_ptr<Waitable>) {}

void Executor::execute_service(std::shared_ptr<ServiceBase> service) {
  ros_trace_callback_start(service.get(), false);
  if (service->callback) service->callback();
  if (!service->answers_later) ros_trace_callback_end(service.get());
}
void Executor::execute_client(std::shared_ptr<ClientBase>) {}

}  // namespace rclcpp

namespace rclcpp_action {

void ClientBase::execute(const std::shared_ptr<void> &) {
  if (throws) throw 1;
}

}  // namespace rclcpp_action
