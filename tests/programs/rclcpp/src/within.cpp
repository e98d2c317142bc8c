// SPDX-License-Identifier: Apache-2.0
//
// within EXECUTOR COUNT: messages handed over inside the process, by unique_ptr to one subscription, by shared_ptr to two, copied out to a
// subscription that takes them from the middleware; and a buffer of two that is overrun: four messages a burst, so that two are overwritten.
#include <geometry_msgs/msg/point_stamped.hpp>
#include <rclcpp/rclcpp.hpp>

#include "stamps.hpp"

using geometry_msgs::msg::PointStamped;

namespace {

uint64_t count = 0;  // of messages; queues are as deep, but that of the bursts, so that none is lost on a busy machine

PointStamped::UniquePtr point(uint64_t sequence) {
  auto message = std::make_unique<PointStamped>();
  message->point.x = static_cast<double>(sequence);
  return message;
}

rclcpp::NodeOptions within(bool is_within) { return rclcpp::NodeOptions().use_intra_process_comms(is_within); }

class Source : public rclcpp::Node {
 public:
  Source() : Node("source", within(true)) {
    moved = create_publisher<PointStamped>("moved", count);
    shared = create_publisher<PointStamped>("shared", count);
    burst = create_publisher<PointStamped>("burst", 10);
    timer = create_wall_timer(std::chrono::milliseconds(10), [this] {
      const Inside inside("on_timer", sent);
      if (!goes || sent == count) return;
      publishes("/moved", sent);
      moved->publish(point(sent));
      publishes("/shared", sent);
      shared->publish(point(sent));
      for (int i = 0; i < 4; i++) {
        publishes("/burst", 4 * sent + i);
        burst->publish(point(4 * sent + i));
      }
      sent++;
    });
  }
  rclcpp::Publisher<PointStamped>::SharedPtr moved, shared, burst;
  bool goes = false;

 private:
  uint64_t sent = 0;
  rclcpp::TimerBase::SharedPtr timer;
};

class Sink : public rclcpp::Node {
 public:
  explicit Sink(const char *name, bool is_within = true) : Node(name, within(is_within)) {}
  template <class Pointer>
  void subscribe(const char *topic, const char *callback, size_t depth) {
    subscriptions.push_back(create_subscription<PointStamped>(topic, depth, [callback](Pointer message) {
      const Inside inside(callback, static_cast<uint64_t>(message->point.x));
    }));
  }
  std::vector<rclcpp::SubscriptionBase::SharedPtr> subscriptions;
};

}  // namespace

int main(int argc, char **argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: within EXECUTOR COUNT\n");
    return 2;
  }
  count = std::strtoull(argv[2], nullptr, 10);
  rclcpp::init(argc, argv);
  {
    const auto source = std::make_shared<Source>();
    const auto one = std::make_shared<Sink>("one"), other = std::make_shared<Sink>("other"),
               outside = std::make_shared<Sink>("outside", false);
    one->subscribe<PointStamped::UniquePtr>("moved", "on_moved", count);
    one->subscribe<PointStamped::ConstSharedPtr>("shared", "on_shared", count);
    other->subscribe<PointStamped::ConstSharedPtr>("shared", "on_shared_too", count);
    other->subscribe<PointStamped::UniquePtr>("burst", "on_burst", 2);
    outside->subscribe<PointStamped::ConstSharedPtr>("shared", "on_shared_outside", count);
    await_match([&] { return source->shared->get_subscription_count(); }, 3);
    source->goes = true;
    const auto executor = executor_of(argv[1]);
    for (const rclcpp::Node::SharedPtr &node : {rclcpp::Node::SharedPtr(source), rclcpp::Node::SharedPtr(one),
                                                rclcpp::Node::SharedPtr(other), rclcpp::Node::SharedPtr(outside)})
      executor->add_node(node);
    std::thread spinning([&] { executor->spin(); });
    for (const char *callback : {"on_moved", "on_shared", "on_shared_too", "on_shared_outside", "on_burst"})
      stamps.await(callback, count);
    executor->cancel();
    spinning.join();
  }
  rclcpp::shutdown();
}
