// SPDX-License-Identifier: Apache-2.0
//
// A node process on rclcpp: takes its plan from stdin, makes its nodes, runs each on a thread of its own, and reports.
// crates/runner/src/protocol.rs defines the messages.
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <iostream>
#include <rclcpp/rclcpp.hpp>
#include <rclcpp/version.h>
#include <rmw/rmw.h>
#include <thread>

#include "bench_node.hpp"

namespace {

// The connection to the runner, which started this process. What a library prints on stdout goes to stderr instead, so
// that it cannot garble an answer.
class Runner {
 public:
  Runner() : answers(fdopen(dup(STDOUT_FILENO), "w")) { dup2(STDERR_FILENO, STDOUT_FILENO); }
  void say(const Json &answer) {
    std::fprintf(answers, "%s\n", answer.dump().c_str());
    std::fflush(answers);
  }
  Json plan() {
    std::string line;
    std::getline(std::cin, line);
    std::thread([this] {
      for (std::string text; std::getline(std::cin, text);) put(Json::parse(text));
      put(nullptr);
    }).detach();
    return Json::parse(line);
  }
  // Returns the next command; null if stdin is closed; absent if none came in time.
  std::optional<Json> command(int64_t until_ns) {
    std::unique_lock lock(mutex);
    const std::chrono::steady_clock::time_point until{std::chrono::nanoseconds(until_ns)};
    if (!changed.wait_until(lock, until, [this] { return !commands.empty(); })) return std::nullopt;
    Json first = commands.front();
    if (!first.is_null()) commands.pop_front();  // a closed stdin stays closed
    return first;
  }

 private:
  void put(Json command) {
    const std::lock_guard lock(mutex);
    commands.push_back(std::move(command));
    changed.notify_one();
  }
  FILE *answers;
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<Json> commands;
};

constexpr int NODE_FAILED = 3;  // the exit code if a task failed, as that of tacho-node
constexpr int64_t MATCHING_NS = 10'000'000, AN_HOUR_NS = 3'600'000'000'000;

// Returns the start; null if there will be none. If the start is there from the beginning, it waits for no peers.
Json wait_for_start(Runner &runner, const std::vector<std::unique_ptr<BenchNode>> &nodes) {
  bool matched = false;
  Json said;
  std::optional<Json> command = runner.command(now_ns());
  for (; !command; command = runner.command(now_ns() + (matched ? AN_HOUR_NS : MATCHING_NS))) {
    if (matched) continue;
    Json lacking;
    for (const auto &node : nodes)
      if (lacking.is_null()) lacking = node->unmatched();
    matched = lacking.is_null();
    if (matched)
      runner.say("matched");
    else if (lacking != said)
      runner.say({{"unmatched", lacking}});
    said = lacking;
  }
  return command->is_object() && command->contains("start") ? command->at("start") : Json();
}

Json run_nodes(Runner &runner, const std::vector<std::unique_ptr<BenchNode>> &nodes, const Json &window,
               int64_t ready_ns) {
  std::vector<Json> figures(nodes.size());
  std::vector<std::string> failures(nodes.size());
  std::vector<std::thread> threads;
  std::atomic<size_t> running{nodes.size()};
  const int64_t start_ns = std::max(window.at("start_ns").get<int64_t>(), ready_ns);
  for (size_t i = 0; i < nodes.size(); i++) {
    nodes[i]->end_ns = window.at(nodes[i]->has_inputs ? "end_ns" : "stop_ns").get<int64_t>();
    threads.emplace_back([&, i] {
      try {
        figures[i] = nodes[i]->run(start_ns);
      } catch (const std::exception &error) {
        failures[i] = error.what();
      }
    });
  }
  std::vector<BenchNode *> left;
  for (const auto &node : nodes) left.push_back(node.get());
  std::sort(left.begin(), left.end(), [](auto *a, auto *b) { return a->end_ns > b->end_ns; });
  while (!left.empty()) {
    if (runner.command(left.back()->end_ns)) {  // told to stop, or the runner is gone
      for (BenchNode *node : left) node->end_ns = std::min<int64_t>(node->end_ns, now_ns());
      for (BenchNode *node : left) node->end();
      break;
    }
    left.back()->end();
    left.pop_back();
  }
  for (std::thread &thread : threads) thread.join();
  for (const std::string &failure : failures)
    if (!failure.empty()) throw Refused(failure);
  return figures;
}

// Returns whether all nodes came to their end.
bool serve(Runner &runner, int64_t main_ns) {
  const Json plan = runner.plan();
  if (!plan.value("address", "").empty())
    throw Refused("rclcpp: address " + plan.at("address").get<std::string>() +
                  ": nodes on rclcpp use the network as ROS 2 is configured; "
                  "expected nodes on this machine alone");
  setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST", 1);  // a measurement must not disturb a vehicle network
  rclcpp::InitOptions options;
  options.set_domain_id(plan.at("domain"));
  rclcpp::init(0, nullptr, options, rclcpp::SignalHandlerOptions::None);
  std::vector<std::unique_ptr<BenchNode>> nodes;
  for (const Json &node : plan.at("nodes"))
    nodes.push_back(std::make_unique<BenchNode>(node, plan.at("transport"), !plan.at("clock").is_null(),
                                                plan.at("libraries").get<std::string>()));
  const int64_t ready_ns = now_ns();
  const std::string version = "rclcpp " RCLCPP_VERSION_STR;
  runner.say({{"ready",
               {{"version", version + ", rmw " + rmw_get_implementation_identifier()},
                {"main_ns", main_ns},
                {"ready_ns", ready_ns}}}});
  const Json window = wait_for_start(runner, nodes);
  Json failures = Json::array();
  if (!window.is_null()) {
    const Json figures = run_nodes(runner, nodes, window, ready_ns);
    for (const auto &node : nodes)
      if (!node->failure.empty()) failures.push_back(node->failure);
    runner.say({{"done", {{"nodes", figures}, {"failures", failures}}}});
    // Endpoints stay until the runner closes stdin, because other processes may still measure.
    for (std::optional<Json> command; !command || !command->is_null();) command = runner.command(now_ns() + AN_HOUR_NS);
  }
  nodes.clear();
  rclcpp::shutdown();
  return failures.empty();
}

}  // namespace

int main() {
  const int64_t main_ns = now_ns();
  Runner &runner = *new Runner;  // never deleted, because the thread that reads stdin runs until the process ends
  try {
    return serve(runner, main_ns) ? 0 : NODE_FAILED;
  } catch (const std::exception &error) {
    runner.say({{"failed", {{"cause", error.what()}}}});
    return 1;
  }
}
