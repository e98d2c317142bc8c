// SPDX-License-Identifier: Apache-2.0
//
// Calls the functions of rclcpp that the recorder interposes, and prints the events that must result.
#include <cstdio>
#include <initializer_list>

#include "stand_in_rclcpp.hpp"

using namespace rclcpp;

namespace {

void added(const CallbackGroup &group, const std::shared_ptr<void> &object, int what, int is_exclusive) {
  std::printf("rclcpp_callback_group_add %zu %zu %d %d\n", reinterpret_cast<size_t>(&group),
              reinterpret_cast<size_t>(object.get()), what, is_exclusive);
}

void called(const char *event, const std::shared_ptr<void> &object) {
  std::printf("callback_%s %zu%s\n", event, reinterpret_cast<size_t>(object.get()), event[0] == 's' ? " 0" : "");
}

}  // namespace

int main() {
  CallbackGroup exclusive(CallbackGroupType::MutuallyExclusive), reentrant(CallbackGroupType::Reentrant);
  const auto subscription = std::make_shared<SubscriptionBase>();
  exclusive.add_subscription(subscription);
  added(exclusive, subscription, 1, 1);
  const auto timer = std::make_shared<TimerBase>();
  reentrant.add_timer(timer);
  added(reentrant, timer, 2, 0);
  const auto service = std::make_shared<ServiceBase>();
  exclusive.add_service(service);
  added(exclusive, service, 3, 1);
  const auto waitable = std::make_shared<rclcpp_action::ClientBase>();
  exclusive.add_waitable(waitable);
  added(exclusive, waitable, 4, 1);
  const auto client = std::make_shared<ClientBase>();
  exclusive.add_client(client);
  added(exclusive, client, 5, 1);

  // Each callback of a service starts and ends once, whether it answers now or later, and whatever another executor
  // does inside it.
  for (const bool later : {false, true}) {
    for (const bool inner_later : {false, true}) {
      const auto inner = std::make_shared<ServiceBase>(), outer = std::make_shared<ServiceBase>();
      inner->answers_later = inner_later;
      outer->answers_later = later;
      outer->callback = [&] { Executor::execute_service(inner); };
      Executor::execute_service(outer);
      called("start", outer);
      called("start", inner);
      called("end", inner);
      called("end", outer);
    }
  }
  Executor::execute_client(client);
  std::puts("rclcpp_client_execute\nrclcpp_executed");

  const std::shared_ptr<Waitable> action = waitable;
  const std::shared_ptr<void> data;
  action->execute(data);
  std::puts("rclcpp_client_execute\nrclcpp_executed\nrclcpp_client_execute");
  waitable->throws = true;
  try {
    action->execute(data);
  } catch (int) {  // the exception passes through the recorder unchanged
    return 0;
  }
  return 1;
}
