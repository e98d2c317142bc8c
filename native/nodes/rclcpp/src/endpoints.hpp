// SPDX-License-Identifier: Apache-2.0
//
// Publications and subscriptions of each message type, with header and data where native/middleware/ros2/types.c puts
// them.
#pragma once

#include <tacho/middleware.h>

#include <functional>
#include <memory>
#include <mutex>
#include <rclcpp/node.hpp>

#include "plan.hpp"

class Publication {
 public:
  virtual ~Publication() = default;
  // Publishes the next message; `due_ns`: when it was due by the clock, or absent.
  void publish(std::optional<int64_t> due_ns);
  // Counts sends that were due and did not happen.
  void skip(int64_t count);
  virtual size_t matched() const = 0;
  Json figures() const;

  std::string topic;
  std::optional<double> rate_hz;
  size_t expected = 0;
  uint64_t sent = 0;
  uint64_t refused = 0;   // publish calls that failed
  uint64_t withheld = 0;  // activations of a timer in which its task published nothing, so nothing was due
  std::optional<int64_t> skipped;

  // Where a task writes the data of the next message.
  struct Room {
    void *data;
    size_t size;
  };
  virtual Room room() = 0;

 protected:
  virtual void send(const tacho_header &header) = 0;
  const void *handle = nullptr;
  uint32_t id = 0;
  uint64_t size = 0;

 private:
  // Refusals with one reason; the text is that of the first.
  struct Refusal {
    int32_t code;
    std::string reason;
    uint64_t count;
  };
  void refuse(uint64_t sequence, int32_t code, const std::string &reason);

  std::vector<Refusal> refusals;
  std::mutex one_at_a_time;  // callbacks of several threads may publish it
};

class Subscription {
 public:
  virtual ~Subscription() = default;
  virtual size_t matched() const = 0;

  std::string topic;
  size_t expected = 0;
  bool latest = false;
  const void *handle = nullptr;
};

// Called first in the callback of a message, with its header and its data.
using OnMessage = std::function<void(const tacho_header &, const void *data, size_t size)>;

std::unique_ptr<Publication> publication(rclcpp::Node &node, const Json &of, const Json &output);
std::unique_ptr<Subscription> subscription(rclcpp::Node &node, const Json &of, const Json &input, OnMessage on_message,
                                           rclcpp::CallbackGroup::SharedPtr group);
