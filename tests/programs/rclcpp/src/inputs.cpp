// SPDX-License-Identifier: Apache-2.0
//
// inputs EXECUTOR COUNT: nodes whose output is of more than the message that woke them. /left and /right come with equal stamps;
//   /exact      message_filters, ExactTime: publishes /both when the two stamps are there
//   /near       message_filters, ApproximateTime: publishes /about
//   /latest     a timer publishes /now of the newest /left
//   /polling    a timer takes /left itself and publishes /polled
#include <geometry_msgs/msg/point_stamped.hpp>
#if __has_include(<message_filters/subscriber.hpp>)
#include <message_filters/subscriber.hpp>
#include <message_filters/sync_policies/approximate_time.hpp>
#include <message_filters/sync_policies/exact_time.hpp>
#include <message_filters/synchronizer.hpp>
#else  // up to Jazzy
#include <message_filters/subscriber.h>
#include <message_filters/sync_policies/approximate_time.h>
#include <message_filters/sync_policies/exact_time.h>
#include <message_filters/synchronizer.h>
#endif
#include <rclcpp/rclcpp.hpp>

#include "stamps.hpp"

using geometry_msgs::msg::PointStamped;

namespace {

uint64_t count = 0;

PointStamped of(uint64_t sequence) {
  PointStamped message;
  message.header.stamp.sec = static_cast<int32_t>(sequence) + 1;
  message.point.x = static_cast<double>(sequence);
  return message;
}

uint64_t sequence_of(const PointStamped &message) { return static_cast<uint64_t>(message.point.x); }

class Source : public rclcpp::Node {
 public:
  explicit Source(const char *name) : Node(name), topic(std::string("/") + name) {
    publisher = create_publisher<PointStamped>(name, 10);
    timer = create_wall_timer(std::chrono::milliseconds(20), [this] {
      if (!goes || sent == count) return;
      publishes(topic.c_str(), sent);
      publisher->publish(of(sent++));
    });
  }
  rclcpp::Publisher<PointStamped>::SharedPtr publisher;
  bool goes = false;

 private:
  std::string topic;
  uint64_t sent = 0;
  rclcpp::TimerBase::SharedPtr timer;
};

template <class Policy>
class Fusion : public rclcpp::Node {
 public:
  Fusion(const char *name, const char *output, const char *callback)
      : Node(name),
        output(std::string("/") + output),
        callback(callback),
        left(this, "left", rmw_qos_profile_default),
        right(this, "right", rmw_qos_profile_default),
        both(Policy(10), left, right) {
    publisher = create_publisher<PointStamped>(output, 10);
    both.registerCallback(std::bind(&Fusion::on_both, this, std::placeholders::_1, std::placeholders::_2));
  }

 private:
  void on_both(const PointStamped::ConstSharedPtr &one, const PointStamped::ConstSharedPtr &other) {
    const Inside inside(callback, sequence_of(*one));
    if (sequence_of(*one) != sequence_of(*other)) std::_Exit(3);
    publishes(output.c_str(), sequence_of(*one));
    publisher->publish(*one);
  }
  std::string output;
  const char *callback;
  message_filters::Subscriber<PointStamped> left, right;
  message_filters::Synchronizer<Policy> both;
  rclcpp::Publisher<PointStamped>::SharedPtr publisher;
};

class Latest : public rclcpp::Node {
 public:
  Latest() : Node("latest") {
    publisher = create_publisher<PointStamped>("now", 10);
    subscription = create_subscription<PointStamped>("left", 1, [this](PointStamped::ConstSharedPtr message) {
      const Inside inside("on_left", sequence_of(*message));
      newest = message;
    });
    timer = create_wall_timer(std::chrono::milliseconds(50), [this] {
      if (!newest) return;
      const Inside inside("on_latest_timer", sequence_of(*newest));
      publishes("/now", sequence_of(*newest));
      publisher->publish(*newest);
    });
  }

 private:
  PointStamped::ConstSharedPtr newest;
  rclcpp::Publisher<PointStamped>::SharedPtr publisher;
  rclcpp::Subscription<PointStamped>::SharedPtr subscription;
  rclcpp::TimerBase::SharedPtr timer;
};

class Polling : public rclcpp::Node {
 public:
  Polling() : Node("polling") {
    publisher = create_publisher<PointStamped>("polled", 10);
    // In a group of no executor, so that nobody else takes it.
    rclcpp::SubscriptionOptions options;
    options.callback_group = create_callback_group(rclcpp::CallbackGroupType::MutuallyExclusive, false);
    subscription =
        create_subscription<PointStamped>("left", 1, [](PointStamped::ConstSharedPtr) { std::_Exit(4); }, options);
    timer = create_wall_timer(std::chrono::milliseconds(50), [this] {
      PointStamped message;
      rclcpp::MessageInfo info;
      if (!subscription->take(message, info)) return;
      const Inside inside("on_polling_timer", sequence_of(message));
      publishes("/polled", sequence_of(message));
      publisher->publish(message);
    });
  }

 private:
  rclcpp::Publisher<PointStamped>::SharedPtr publisher;
  rclcpp::Subscription<PointStamped>::SharedPtr subscription;
  rclcpp::TimerBase::SharedPtr timer;
};

class Sink : public rclcpp::Node {
 public:
  Sink() : Node("sink") {
    for (const char *topic : {"both", "about", "now", "polled"})
      subscriptions.push_back(create_subscription<PointStamped>(
          topic, 10, [name = std::string("sunk /") + topic](const PointStamped &message) {
            const Inside inside(name.c_str(), sequence_of(message));
          }));
  }
  std::vector<rclcpp::SubscriptionBase::SharedPtr> subscriptions;
};

}  // namespace

int main(int argc, char **argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: inputs EXECUTOR COUNT\n");
    return 2;
  }
  using Exact = message_filters::sync_policies::ExactTime<PointStamped, PointStamped>;
  using Approximate = message_filters::sync_policies::ApproximateTime<PointStamped, PointStamped>;
  count = std::strtoull(argv[2], nullptr, 10);
  rclcpp::init(argc, argv);
  {
    const auto left = std::make_shared<Source>("left"), right = std::make_shared<Source>("right");
    const auto exact = std::make_shared<Fusion<Exact>>("exact", "both", "on_both");
    const auto near = std::make_shared<Fusion<Approximate>>("near", "about", "on_about");
    const auto latest = std::make_shared<Latest>();
    const auto polling = std::make_shared<Polling>();
    const auto sink = std::make_shared<Sink>();
    await_match([&] { return left->publisher->get_subscription_count(); }, 4);
    await_match([&] { return right->publisher->get_subscription_count(); }, 2);
    for (const auto &subscription : sink->subscriptions)
      await_match([&] { return subscription->get_publisher_count(); }, 1);
    left->goes = right->goes = true;
    const auto executor = executor_of(argv[1]);
    for (const rclcpp::Node::SharedPtr &node :
         {rclcpp::Node::SharedPtr(left), rclcpp::Node::SharedPtr(right), rclcpp::Node::SharedPtr(exact),
          rclcpp::Node::SharedPtr(near), rclcpp::Node::SharedPtr(latest), rclcpp::Node::SharedPtr(polling),
          rclcpp::Node::SharedPtr(sink)})
      executor->add_node(node);
    std::thread spinning([&] { executor->spin(); });
    stamps.await("sunk /both", count);
    stamps.await("sunk /about", count - 1);  // the last set waits for what comes after it
    stamps.await("sunk /polled", 2);
    executor->cancel();
    spinning.join();
  }
  rclcpp::shutdown();
}
