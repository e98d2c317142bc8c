// SPDX-License-Identifier: Apache-2.0
//
// managed EXECUTOR COUNT: a lifecycle node /filter that is configured, activated, and deactivated half-way; its lifecycle publisher is silent
// while it is inactive. The main thread publishes /raw, lent by the middleware where it lends.
#include <rclcpp/rclcpp.hpp>
#include <rclcpp_lifecycle/lifecycle_node.hpp>
#include <std_msgs/msg/u_int64.hpp>

#include "stamps.hpp"

using std_msgs::msg::UInt64;
using Result = rclcpp_lifecycle::node_interfaces::LifecycleNodeInterface::CallbackReturn;

namespace {

class Filter : public rclcpp_lifecycle::LifecycleNode {
 public:
  Filter() : LifecycleNode("filter") {}
  Result on_configure(const rclcpp_lifecycle::State &) override {
    publisher = create_publisher<UInt64>("smooth", 10);
    subscription = create_subscription<UInt64>("raw", 10, [this](const UInt64 &message) {
      const Inside inside("on_raw", message.data);
      publisher->publish(message);
    });
    return Result::SUCCESS;
  }
  rclcpp_lifecycle::LifecyclePublisher<UInt64>::SharedPtr publisher;
  rclcpp::Subscription<UInt64>::SharedPtr subscription;
};

}  // namespace

int main(int argc, char **argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: managed EXECUTOR COUNT\n");
    return 2;
  }
  const uint64_t count = std::strtoull(argv[2], nullptr, 10);
  rclcpp::init(argc, argv);
  {
    const auto filter = std::make_shared<Filter>();
    const auto source = std::make_shared<rclcpp::Node>("source"), sink = std::make_shared<rclcpp::Node>("sink");
    const auto publisher = source->create_publisher<UInt64>("raw", 10);
    const auto subscription = sink->create_subscription<UInt64>(
        "smooth", 10, [](const UInt64 &message) { const Inside inside("on_smooth", message.data); });
    filter->configure();
    await_match([&] { return publisher->get_subscription_count(); }, 1);
    await_match([&] { return subscription->get_publisher_count(); }, 1);
    const auto executor = executor_of(argv[1]);
    executor->add_node(filter->get_node_base_interface());
    executor->add_node(sink);
    std::thread spinning([&] { executor->spin(); });
    filter->activate();
    for (uint64_t i = 0; i < count; i++) {
      if (i == count / 2) filter->deactivate();
      publishes(publisher->can_loan_messages() ? "/raw lent" : "/raw", i);
      if (publisher->can_loan_messages()) {
        auto message = publisher->borrow_loaned_message();
        message.get().data = i;
        publisher->publish(std::move(message));
      } else {
        publisher->publish(UInt64().set__data(i));
      }
      stamps.await("on_raw", i + 1);
      if (i < count / 2) stamps.await("on_smooth", i + 1);
    }
    executor->cancel();
    spinning.join();
  }
  rclcpp::shutdown();
}
