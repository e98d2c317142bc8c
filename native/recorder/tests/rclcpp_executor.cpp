// SPDX-License-Identifier: Apache-2.0
//
// Calls what the recorder stands before in rclcpp, and prints the events that must come of it.
#include <cstdio>

#include "stand_in_rclcpp.hpp"

using namespace rclcpp;

namespace {

void added(const CallbackGroup &group, const std::shared_ptr<void> &object, int what, int is_exclusive) {
  std::printf("rclcpp_callback_group_add %zu %zu %d %d\n", reinterpret_cast<size_t>(&group), reinterpret_cast<size_t>(object.get()), what, is_exclusive);
}

template <class Type> void executes(Executor &executor, std::shared_ptr<Type> AnyExecutable::*what) {
  AnyExecutable any;
  any.*what = std::make_shared<Type>();
  executor.execute_any_executable(any);
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
  executes(executor, &AnyExecutable::service);
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
