// SPDX-License-Identifier: Apache-2.0
//
// Components: /camera publishes /image, /detector works on it and publishes /objects, /tracker hears them. Loaded from a library into one
// process by `contain`, or by rclcpp's component_container.
#include <geometry_msgs/msg/point_stamped.hpp>
#include <rclcpp/rclcpp.hpp>
#include <rclcpp_components/register_node_macro.hpp>

#include "stamps.hpp"

using geometry_msgs::msg::PointStamped;

namespace parts {

class Camera : public rclcpp::Node {
 public:
  explicit Camera(const rclcpp::NodeOptions &options) : Node("camera", options) {
    publisher = create_publisher<PointStamped>("image", 10);
    timer = create_wall_timer(std::chrono::milliseconds(10), [this] {
      if (publisher->get_subscription_count() < 1) return;
      auto message = std::make_unique<PointStamped>();
      message->point.x = static_cast<double>(sent++);
      publisher->publish(std::move(message));
    });
  }

 private:
  uint64_t sent = 0;
  rclcpp::Publisher<PointStamped>::SharedPtr publisher;
  rclcpp::TimerBase::SharedPtr timer;
};

class Detector : public rclcpp::Node {
 public:
  explicit Detector(const rclcpp::NodeOptions &options) : Node("detector", options) {
    publisher = create_publisher<PointStamped>("objects", 10);
    subscription =
        create_subscription<PointStamped>("image", 10, std::bind(&Detector::on_image, this, std::placeholders::_1));
  }

 private:
  void on_image(PointStamped::UniquePtr message) {
    work_ms(2);
    publisher->publish(std::move(message));
  }
  rclcpp::Publisher<PointStamped>::SharedPtr publisher;
  rclcpp::Subscription<PointStamped>::SharedPtr subscription;
};

class Tracker : public rclcpp::Node {
 public:
  explicit Tracker(const rclcpp::NodeOptions &options) : Node("tracker", options) {
    subscription = create_subscription<PointStamped>("objects", 10, [this](const PointStamped &message) {
      const Inside inside("on_objects", static_cast<uint64_t>(message.point.x));
    });
  }

 private:
  rclcpp::Subscription<PointStamped>::SharedPtr subscription;
};

}  // namespace parts

RCLCPP_COMPONENTS_REGISTER_NODE(parts::Camera)
RCLCPP_COMPONENTS_REGISTER_NODE(parts::Detector)
RCLCPP_COMPONENTS_REGISTER_NODE(parts::Tracker)
