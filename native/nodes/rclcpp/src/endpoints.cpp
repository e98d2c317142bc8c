// SPDX-License-Identifier: Apache-2.0
#include "endpoints.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <geometry_msgs/msg/twist_stamped.hpp>
#include <rclcpp/exceptions.hpp>
#include <sensor_msgs/msg/image.hpp>
#include <sensor_msgs/msg/point_cloud2.hpp>
#include <std_msgs/msg/u_int8_multi_array.hpp>
#include <vector>

#include "instant.hpp"
#include "trace.hpp"

namespace {

using geometry_msgs::msg::TwistStamped;
using sensor_msgs::msg::Image;
using sensor_msgs::msg::PointCloud2;
using std_msgs::msg::UInt8MultiArray;
constexpr size_t HEADER = sizeof(tacho_header), TWIST = 48;

std::vector<uint8_t> bytes(size_t size) {
  std::vector<uint8_t> data(HEADER + size);
  uint64_t i = 0;
  std::generate(data.begin() + HEADER, data.end(),
                [&] { return static_cast<uint8_t>((i++ * 2654435761u) >> 24); });  // not all alike
  return data;
}

void make(UInt8MultiArray &message, size_t size) { message.data = bytes(size); }
void make(PointCloud2 &message, size_t size) {  // one row of one-byte points
  message.header.frame_id = "lidar";
  message.fields.resize(1);
  message.fields[0].name = "intensity";
  message.fields[0].datatype = sensor_msgs::msg::PointField::UINT8;
  message.fields[0].count = message.point_step = message.height = 1;
  message.is_dense = true;
  message.data = bytes(size);
  message.width = message.row_step = static_cast<uint32_t>(message.data.size());
}
void make(Image &message, size_t size) {  // one row of mono8
  message.header.frame_id = "camera";
  message.encoding = "mono8";
  message.height = 1;
  message.data = bytes(size);
  message.width = message.step = static_cast<uint32_t>(message.data.size());
}
void make(TwistStamped &message, size_t) { message.twist.linear.x = 1; }

template <class Message>
void stamp(Message &message, const tacho_header &header) {
  std::memcpy(message.data.data(), &header, HEADER);
}
void stamp(TwistStamped &message, const tacho_header &header) {
  char text[48];
  std::snprintf(text, sizeof text, "%016llx.%08x.%08x", static_cast<unsigned long long>(header.sequence),
                header.publisher, header.reserved);
  message.header.stamp.sec = static_cast<int32_t>(header.stamp_ns / 1'000'000'000);
  message.header.stamp.nanosec = static_cast<uint32_t>(header.stamp_ns % 1'000'000'000);
  message.header.frame_id = text;
}

// The data of a message, behind the header.
template <class Message>
auto data_of(Message &message) {
  return message.data.data() + HEADER;
}
template <class Message>
size_t size_of(const Message &message) {
  return message.data.size() - HEADER;
}
// Its six numbers are all that a twist has.
static_assert(sizeof(TwistStamped::twist) == TWIST);
void *data_of(TwistStamped &message) { return &message.twist; }
const void *data_of(const TwistStamped &message) { return &message.twist; }
size_t size_of(const TwistStamped &) { return TWIST; }

[[noreturn]] void foreign() {
  throw std::runtime_error("a message without our header in it: another program publishes here");
}

template <class Message>
tacho_header header_of(const Message &message) {
  tacho_header header;
  if (message.data.size() < HEADER) foreign();
  std::memcpy(&header, message.data.data(), HEADER);
  return header;
}
tacho_header header_of(const TwistStamped &message) {
  tacho_header header{};
  unsigned long long sequence;
  if (std::sscanf(message.header.frame_id.c_str(), "%16llx.%8x.%8x", &sequence, &header.publisher, &header.reserved) !=
      3)
    foreign();
  header.sequence = sequence;
  header.stamp_ns = message.header.stamp.sec * 1'000'000'000ll + message.header.stamp.nanosec;
  return header;
}

template <class Message>
struct PublicationOf : Publication {
  PublicationOf(rclcpp::Node &node, const Json &of, const Json &output) {
    topic = of.at("topic");
    rate_hz = rate_of(of);
    expected = output.at("subscribers");
    id = output.at("publisher_id");
    size = of.at("size_bytes");
    make(message, size);
    publisher = node.create_publisher<Message>(topic, qos_of(of.at("qos")));
    handle = publisher->get_publisher_handle().get();
  }
  size_t matched() const override { return publisher->get_subscription_count(); }
  Room room() override { return {data_of(message), size_of(message)}; }
  void send(const tacho_header &header) override {
    stamp(message, header);
    publisher->publish(message);
  }
  Message message;
  typename rclcpp::Publisher<Message>::SharedPtr publisher;
};

template <class Message>
struct SubscriptionOf : Subscription {
  SubscriptionOf(rclcpp::Node &node, const Json &of, const Json &input, OnMessage on_message,
                 rclcpp::CallbackGroup::SharedPtr group) {
    topic = of.at("topic");
    latest = of.at("latest");
    expected = input.at("publishers");
    rclcpp::SubscriptionOptions options;
    options.callback_group = group;
    const auto callback = [on_message](const Message &message) {
      const tacho_header header = header_of(message);
      on_message(header, data_of(message), size_of(message));
    };
    subscription = node.create_subscription<Message>(topic, qos_of(of.at("qos")), callback, options);
    handle = subscription->get_subscription_handle().get();
  }
  size_t matched() const override { return subscription->get_publisher_count(); }
  typename rclcpp::Subscription<Message>::SharedPtr subscription;
};

template <template <class> class Endpoint, class Base, class... Arguments>
std::unique_ptr<Base> of_type(const std::string &asked, const std::string &topic, size_t size, bool exact,
                              Arguments &&...arguments) {
  const std::string name = !asked.empty() ? asked : size < 4096 ? "Bytes" : "PointCloud2";
  const size_t only = name == "PointCloud1m" ? 1 << 20 : name == "TwistStamped" ? TWIST : size;
  if (exact && size != only)
    throw Refused("rclcpp: " + topic + ": " + name + " carries " + std::to_string(only) + " bytes of data, not " +
                  std::to_string(size));
  if (name == "Bytes") return std::make_unique<Endpoint<UInt8MultiArray>>(arguments...);
  if (name == "PointCloud2" || name == "PointCloud1m") return std::make_unique<Endpoint<PointCloud2>>(arguments...);
  if (name == "Image") return std::make_unique<Endpoint<Image>>(arguments...);
  if (name == "TwistStamped") return std::make_unique<Endpoint<TwistStamped>>(arguments...);
  throw Refused("rclcpp: " + topic + ": message type \"" + name +
                "\" is not known; expected PointCloud2, PointCloud1m, Image, Bytes or TwistStamped");
}

}  // namespace

void Publication::publish(std::optional<int64_t> due_ns) {
  const std::lock_guard lock(one_at_a_time);
  const uint64_t sequence = sent + refused;  // a refused message keeps its number
  if (due_ns) record(TACHO_NODE_DUE, {word(handle), sequence, static_cast<uint64_t>(*due_ns)});
  const tacho_header header{sequence, now_ns(), id, 0};
  record(TACHO_NODE_PUBLISH, {word(handle), id, sequence, size});
  try {
    send(header);
    sent++;
  } catch (const rclcpp::exceptions::RCLError &error) {
    refuse(sequence, error.ret, error.formatted_message);
  }
}

void Publication::refuse(uint64_t sequence, int32_t code, const std::string &reason) {
  refused++;
  record(TACHO_NODE_REFUSED, {word(handle), sequence, static_cast<uint64_t>(code)}, reason.c_str());
  const auto alike = std::find_if(refusals.begin(), refusals.end(), [&](const Refusal &of) { return of.code == code; });
  if (alike == refusals.end())
    refusals.push_back({code, reason, 1});
  else
    alike->count++;
}

void Publication::skip(int64_t count) {
  skipped = skipped.value_or(0) + count;
  if (count > 0) record(TACHO_NODE_SKIPPED, {word(handle), static_cast<uint64_t>(count)});
}

Json Publication::figures() const {
  Json figures{{"topic", topic}, {"sent", sent}};
  if (skipped) figures["skipped"] = *skipped;
  for (const Refusal &of : refusals)
    figures["refused"].push_back({{"code", of.code}, {"reason", of.reason}, {"count", of.count}});
  return figures;
}

std::unique_ptr<Publication> publication(rclcpp::Node &node, const Json &of, const Json &output) {
  return of_type<PublicationOf, Publication>(of.at("message_type"), of.at("topic"), of.at("size_bytes"), true, node, of,
                                             output);
}

std::unique_ptr<Subscription> subscription(rclcpp::Node &node, const Json &of, const Json &input, OnMessage on_message,
                                           rclcpp::CallbackGroup::SharedPtr group) {
  return of_type<SubscriptionOf, Subscription>(input.at("message_type"), of.at("topic"), input.at("size_bytes"), false,
                                               node, of, input, on_message, group);
}
