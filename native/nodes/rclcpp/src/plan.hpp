// SPDX-License-Identifier: Apache-2.0
//
// The plan and the report of a node process in JSON, as crates/runner/src/protocol.rs defines them.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <rclcpp/qos.hpp>
#include <stdexcept>
#include <string>

using Json = nlohmann::json;

// A request that cannot be fulfilled, in words for the user.
struct Refused : std::runtime_error {
  using std::runtime_error::runtime_error;
};

inline std::optional<double> rate_of(const Json &publication) {
  const Json &rate = publication.at("rate_hz");
  return rate.is_null() ? std::nullopt : std::optional<double>(rate.get<double>());
}

inline rclcpp::QoS qos_of(const Json &asked) {
  const size_t depth = asked.at("depth");
  rclcpp::QoS qos = asked.at("keep_all") ? rclcpp::QoS(rclcpp::KeepAll()) : rclcpp::QoS(rclcpp::KeepLast(depth));
  asked.at("reliable") ? qos.reliable() : qos.best_effort();
  asked.at("transient_local") ? qos.transient_local() : qos.durability_volatile();
  return qos;
}
