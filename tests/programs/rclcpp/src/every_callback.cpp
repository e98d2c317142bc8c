// SPDX-License-Identifier: Apache-2.0
//
// every_callback EXECUTOR COUNT: each kind of callback that rclcpp has; lambdas, bound methods and functions; generic endpoints and
// serialised messages. /source -/points-> /relay -/filtered-> /sink, which calls /ask of /server; /copier -/copy-> /reader.
#include <example_interfaces/srv/add_two_ints.hpp>
#include <geometry_msgs/msg/point_stamped.hpp>
#include <rclcpp/rclcpp.hpp>

#include "stamps.hpp"

using example_interfaces::srv::AddTwoInts;
using geometry_msgs::msg::PointStamped;
using std::placeholders::_1;

namespace {

uint64_t count = 0;  // of messages; queues are as deep, so that none is lost on a busy machine

class Source : public rclcpp::Node {
 public:
  Source() : Node("source") {
    publisher = create_publisher<PointStamped>("points", count);
    timer = create_wall_timer(std::chrono::milliseconds(10), [this] { on_timer(); });
  }
  rclcpp::Publisher<PointStamped>::SharedPtr publisher;
  bool goes = false;

 private:
  void on_timer() {
    const Inside inside("on_timer", sent);
    if (!goes || sent == count) return;
    PointStamped message;
    message.point.x = static_cast<double>(sent);
    publishes("/points", sent++);
    publisher->publish(message);
  }
  uint64_t sent = 0;
  rclcpp::TimerBase::SharedPtr timer;
};

class Relay : public rclcpp::Node {
 public:
  Relay() : Node("relay") {
    publisher = create_publisher<PointStamped>("filtered", count);
    subscription = create_subscription<PointStamped>("points", count, std::bind(&Relay::on_points, this, _1));
  }
  void on_points(PointStamped::ConstSharedPtr message) {
    const auto sequence = static_cast<uint64_t>(message->point.x);
    const Inside inside("on_points", sequence);
    work_ms(1);
    publishes("/filtered", sequence);
    publisher->publish(*message);
  }
  rclcpp::Publisher<PointStamped>::SharedPtr publisher;
  rclcpp::Subscription<PointStamped>::SharedPtr subscription;
};

class Server : public rclcpp::Node {
 public:
  Server() : Node("server") {
    service = create_service<AddTwoInts>("ask", &Server::on_request, rclcpp::ServicesQoS().keep_last(count));
  }

 private:
  static void on_request(AddTwoInts::Request::SharedPtr request, AddTwoInts::Response::SharedPtr response) {
    const Inside inside("on_request", request->a);
    work_ms(1);
    response->sum = request->a + request->b;
  }
  rclcpp::Service<AddTwoInts>::SharedPtr service;
};

class Sink : public rclcpp::Node {
 public:
  Sink() : Node("sink") {
    client = create_client<AddTwoInts>("ask", rclcpp::ServicesQoS().keep_last(count));
    subscription = create_subscription<PointStamped>("filtered", count, [this](PointStamped::UniquePtr message) {
      const auto sequence = static_cast<uint64_t>(message->point.x);
      const Inside inside("on_filtered", sequence);
      auto request = std::make_shared<AddTwoInts::Request>();
      request->a = static_cast<int64_t>(sequence);
      client->async_send_request(request, [](rclcpp::Client<AddTwoInts>::SharedFuture future) {
        const Inside inside("on_response", future.get()->sum);
        work_ms(1);
      });
    });
  }
  rclcpp::Client<AddTwoInts>::SharedPtr client;
  rclcpp::Subscription<PointStamped>::SharedPtr subscription;
};

// As a bag recorder and a bag player do: types by name, messages as bytes.
class Copier : public rclcpp::Node {
 public:
  Copier() : Node("copier") {
    publisher = create_generic_publisher("copy", "geometry_msgs/msg/PointStamped", count);
    subscription = create_generic_subscription("filtered", "geometry_msgs/msg/PointStamped", count,
                                               [this](std::shared_ptr<rclcpp::SerializedMessage> message) {
                                                 const Inside inside("on_anything", copied);
                                                 publishes("/copy", copied++);
                                                 publisher->publish(*message);
                                               });
  }
  uint64_t copied = 0;
  rclcpp::GenericPublisher::SharedPtr publisher;
  rclcpp::GenericSubscription::SharedPtr subscription;
};

void on_bytes(std::shared_ptr<rclcpp::SerializedMessage> message) { const Inside inside("on_bytes", message->size()); }

class Reader : public rclcpp::Node {
 public:
  Reader() : Node("reader") { subscription = create_subscription<PointStamped>("copy", count, &on_bytes); }
  rclcpp::Subscription<PointStamped>::SharedPtr subscription;
};

}  // namespace

int main(int argc, char **argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: every_callback EXECUTOR COUNT\n");
    return 2;
  }
  count = std::strtoull(argv[2], nullptr, 10);
  rclcpp::init(argc, argv);
  const auto executor = executor_of(argv[1]);
  {
    const auto source = std::make_shared<Source>();
    const auto relay = std::make_shared<Relay>();
    const auto server = std::make_shared<Server>();
    const auto sink = std::make_shared<Sink>();
    const auto copier = std::make_shared<Copier>();
    const auto reader = std::make_shared<Reader>();
    await_match([&] { return source->publisher->get_subscription_count(); }, 1);
    await_match([&] { return relay->publisher->get_subscription_count(); }, 2);
    await_match([&] { return copier->publisher->get_subscription_count(); }, 1);
    await_match([&] { return static_cast<size_t>(sink->client->service_is_ready()); }, 1);
    source->goes = true;
    for (const rclcpp::Node::SharedPtr &node :
         {rclcpp::Node::SharedPtr(source), rclcpp::Node::SharedPtr(relay), rclcpp::Node::SharedPtr(server),
          rclcpp::Node::SharedPtr(sink), rclcpp::Node::SharedPtr(copier), rclcpp::Node::SharedPtr(reader)})
      executor->add_node(node);
    std::thread spinning([&] { executor->spin(); });
    stamps.await("on_response", count);
    stamps.await("on_bytes", count);
    executor->cancel();
    spinning.join();
  }
  rclcpp::shutdown();
}
