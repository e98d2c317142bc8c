// SPDX-License-Identifier: Apache-2.0
//
// A node of a workload on an executor of rclcpp: its callbacks and how it runs.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <rclcpp/executor.hpp>
#include <rclcpp/timer.hpp>
#include <string>
#include <vector>

#include "draws.hpp"
#include "endpoints.hpp"
#include "instant.hpp"
#include "node_task.hpp"

// On what an activation publishes, and when each was due by the clock.
using Due = std::vector<std::pair<Publication *, std::optional<int64_t>>>;

// A timer of rcl on the steady clock. rcl calls a late timer once and skips the periods that passed; these count as
// skipped sends (study A).
class BenchTimer {
 public:
  BenchTimer(rclcpp::Node &node, double hz, std::vector<Publication *> publications,
             rclcpp::CallbackGroup::SharedPtr group, std::function<bool()> begins,
             std::function<void(const Due &)> activates);
  void start(const Grid &grid);
  // Counts the due times before `end_ns` that were not served.
  void end(int64_t end_ns);

  double hz;
  std::atomic<uint64_t> calls{0};

 private:
  void call();
  int64_t due_ns() const;  // time of the next call on CLOCK_MONOTONIC, as exact as reading two clocks allows
  int64_t advance();       // periods since the previous query

  int64_t period_ns, reached = 0, next_due_ns = 0;
  std::vector<Publication *> publications;
  std::function<bool()> begins;
  std::function<void(const Due &)> activates;
  rclcpp::TimerBase::SharedPtr timer;
};

class BenchNode {
 public:
  BenchNode(const Json &plan, const std::string &executor, bool clock, const std::string &libraries);
  // The first endpoint that lacks peers, as the answer `unmatched`; null if there is none.
  Json unmatched() const;
  // Runs on the calling thread until end(), and returns the node's report.
  Json run(int64_t start_ns);
  void end();

  std::string name;
  bool has_inputs;
  std::atomic<int64_t> end_ns{INT64_MAX};
  std::string failure;  // why its task failed; read it after run()

 private:
  void on_message(size_t index, const tacho_header &header, const void *data, size_t size);
  // Does the work of a callback, which took this message or none, and then publishes; of a task what it filled in.
  void activate(const Due &due, const tacho_lent *message);
  void spin(const Grid &wakes);
  void compute();

  Json plan;
  std::mutex drawing;  // so an executor of several threads draws the same as a single-threaded one
  Draws draws;
  rclcpp::Node::SharedPtr node;
  std::vector<rclcpp::CallbackGroup::SharedPtr> groups;  // because a node does not keep them
  std::unique_ptr<rclcpp::Executor> executor;
  std::vector<std::unique_ptr<Subscription>> subscriptions;
  std::vector<std::unique_ptr<Publication>> publications;
  std::vector<std::unique_ptr<BenchTimer>> timers;
  std::vector<std::atomic<uint64_t>> taken;
  std::atomic<int64_t> first_message_ns{0};
  std::atomic<bool> ended{false}, over{false}, failed{false};
  std::unique_ptr<NodeTask> task;
  double spin_hz = 0;
  uint64_t wakes = 0, computed = 0;
};
