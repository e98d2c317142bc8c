// SPDX-License-Identifier: Apache-2.0
//
// Calls what the recorder stands before in rclcpp, and prints the events that must come of it.
#include <cstdio>
#include <initializer_list>

#include "stand_in_rclcpp.hpp"

using namespace rclcpp;

namespace {

void added(const CallbackGroup &group, const std::shared_ptr<void> &object, int what, int is_exclusive) {
  std::printf("rclcpp_callback_group_add %zu %zu %d %d\n", reinterpret_cast<size_t>(&group), reinterpret_cast<size_t>(object.get()), what, is_exclusive);
}

template <class Type>
void executes(Executor &executor, std::shared_ptr<Type> AnyExecutable::*what, std::shared_ptr<Type> object = std::make_shared<Type>()) {
  AnyExecutable any;
  any.*what = object;
  executor.execute_any_executable(any);
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
  const auto waitable = std::make_shared<Waitable>();
  exclusive.add_waitable(waitable);
  added(exclusive, waitable, 4, 1);
  const auto client = std::make_shared<ClientBase>();
  exclusive.add_client(client);
  added(exclusive, client, 5, 1);

  Executor executor;
  executes(executor, &AnyExecutable::subscription);
  executes(executor, &AnyExecutable::timer);
  // Each callback of a service starts and ends once, whether it answers now or later, and whatever another executor does inside it.
  for (const bool later : {false, true}) {
    for (const bool inner_later : {false, true}) {
      const auto inner = std::make_shared<ServiceBase>(), outer = std::make_shared<ServiceBase>();
      inner->answers_later = inner_later;
      outer->answers_later = later;
      outer->callback = [&] { executes(executor, &AnyExecutable::service, inner); };
      executes(executor, &AnyExecutable::service, outer);
      called("start", outer);
      called("start", inner);
      called("end", inner);
      called("end", outer);
    }
  }
  executes(executor, &AnyExecutable::waitable);
  std::puts("rclcpp_executed");
  executes(executor, &AnyExecutable::client);
  std::puts("rclcpp_client_execute\nrclcpp_executed");
  executor.throws = true;
  try {
    executes(executor, &AnyExecutable::waitable);
  } catch (int) { // comes through the recorder as it was thrown
    return 0;
  }
  return 1;
}
