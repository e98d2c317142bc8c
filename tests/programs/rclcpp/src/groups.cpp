// SPDX-License-Identifier: Apache-2.0
//
// groups ROUNDS: what a callback may wait for on a multi-threaded executor of two threads, one after the other. The main thread publishes, and
// knows what goes on in the callbacks when it does. Node /worker has
//   on_slow, on_wanted   in one mutually exclusive group: wanted waits for its group while a thread is idle
//   on_first, on_second, on_third   in groups of their own: the third waits for a thread, both are busy
//   on_shared   in a reentrant group: two at once
#include <geometry_msgs/msg/point_stamped.hpp>
#include <rclcpp/rclcpp.hpp>

#include "stamps.hpp"

using geometry_msgs::msg::PointStamped;

namespace {

struct Begun {
  void add() {
    const std::lock_guard lock(mutex);
    count++;
    changed.notify_all();
  }
  void await(uint64_t expected) {
    std::unique_lock lock(mutex);
    if (changed.wait_for(lock, std::chrono::seconds(60), [&] { return count >= expected; })) return;
    std::fprintf(stderr, "a callback did not begin within 60 s\n");
    std::_Exit(1);
  }
  std::mutex mutex;
  std::condition_variable changed;
  uint64_t count = 0;
};

class Worker : public rclcpp::Node {
 public:
  Worker() : Node("worker") {
    const auto exclusive = create_callback_group(rclcpp::CallbackGroupType::MutuallyExclusive);
    subscribe("slow", "on_slow", 30, exclusive);
    subscribe("wanted", "on_wanted", 1, exclusive);
    for (const auto &[topic, name, ms] :
         {std::tuple("first", "on_first", 30), {"second", "on_second", 40}, {"third", "on_third", 1}})
      subscribe(topic, name, ms, create_callback_group(rclcpp::CallbackGroupType::MutuallyExclusive));
    subscribe("shared", "on_shared", 20, create_callback_group(rclcpp::CallbackGroupType::Reentrant));
  }
  Begun begun;

 private:
  void subscribe(const std::string &topic, const char *name, int ms, rclcpp::CallbackGroup::SharedPtr group) {
    rclcpp::SubscriptionOptions options;
    options.callback_group = group;
    const auto callback = [this, name, ms](const PointStamped &message) {
      const Inside inside(name, static_cast<uint64_t>(message.point.x));
      begun.add();
      // Sleeping leaves the CPU to others: what is waited for is the callback, on any machine.
      std::this_thread::sleep_for(std::chrono::milliseconds(ms));
    };
    subscriptions.push_back(create_subscription<PointStamped>(topic, 10, callback, options));
  }
  std::vector<rclcpp::SubscriptionBase::SharedPtr> subscriptions;
};

class Driver : public rclcpp::Node {
 public:
  explicit Driver(Begun &begun) : Node("driver"), begun(begun) {
    for (const char *topic : {"slow", "wanted", "first", "second", "third", "shared"})
      publishers[topic] = create_publisher<PointStamped>(topic, 10);
    for (const auto &[_, publisher] : publishers)
      await_match([p = publisher] { return p->get_subscription_count(); }, 1);
  }
  void publish(const char *topic, uint64_t sequence) {
    PointStamped message;
    message.point.x = static_cast<double>(sequence);
    publishes((std::string("/") + topic).c_str(), sequence);
    publishers.at(topic)->publish(message);
    expected++;
  }
  // The same, and the callback has begun.
  void publish_and_see_begin(const char *topic, uint64_t sequence) {
    publish(topic, sequence);
    begun.await(expected);
  }

 private:
  Begun &begun;
  uint64_t expected = 0;
  std::map<std::string, rclcpp::Publisher<PointStamped>::SharedPtr> publishers;
};

}  // namespace

int main(int argc, char **argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: groups ROUNDS\n");
    return 2;
  }
  rclcpp::init(argc, argv);
  const uint64_t rounds = std::strtoull(argv[1], nullptr, 10);
  {
    const auto worker = std::make_shared<Worker>();
    const auto executor = executor_of("multi");
    executor->add_node(worker);
    std::thread spinning([&] { executor->spin(); });
    const auto driver = std::make_shared<Driver>(worker->begun);
    for (uint64_t round = 0; round < rounds; round++) {
      driver->publish_and_see_begin("slow", round);
      driver->publish("wanted", round);
      stamps.await("on_wanted", round + 1);
      driver->publish_and_see_begin("first", round);
      driver->publish_and_see_begin("second", round);
      driver->publish("third", round);
      stamps.await("on_third", round + 1);
      stamps.await("on_second", round + 1);
      driver->publish("shared", 2 * round);
      driver->publish("shared", 2 * round + 1);
      stamps.await("on_shared", 2 * round + 2);
    }
    executor->cancel();
    spinning.join();
  }
  rclcpp::shutdown();
}
