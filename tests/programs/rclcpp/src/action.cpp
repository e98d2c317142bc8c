// SPDX-License-Identifier: Apache-2.0
//
// action EXECUTOR COUNT: a client that sends goals one after the other to a server, which answers each with two pieces of feedback and a result.
#include <example_interfaces/action/fibonacci.hpp>
#include <rclcpp/rclcpp.hpp>
#include <rclcpp_action/rclcpp_action.hpp>

#include "stamps.hpp"

using example_interfaces::action::Fibonacci;
using ServerGoal = rclcpp_action::ServerGoalHandle<Fibonacci>;
using ClientGoal = rclcpp_action::ClientGoalHandle<Fibonacci>;

int main(int argc, char **argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: action EXECUTOR COUNT\n");
    return 2;
  }
  const uint64_t count = std::strtoull(argv[2], nullptr, 10);
  rclcpp::init(argc, argv);
  {
    const auto serving = std::make_shared<rclcpp::Node>("serving"), calling = std::make_shared<rclcpp::Node>("calling");
    const auto server = rclcpp_action::create_server<Fibonacci>(
        serving, "count",
        [](const rclcpp_action::GoalUUID &, std::shared_ptr<const Fibonacci::Goal> goal) {
          const Inside inside("on_goal", static_cast<uint64_t>(goal->order));
          return rclcpp_action::GoalResponse::ACCEPT_AND_EXECUTE;
        },
        [](std::shared_ptr<ServerGoal>) { return rclcpp_action::CancelResponse::ACCEPT; },
        [](std::shared_ptr<ServerGoal> goal) {
          const Inside inside("on_accepted", static_cast<uint64_t>(goal->get_goal()->order));
          const auto feedback = std::make_shared<Fibonacci::Feedback>();
          for (int i = 0; i < 2; i++) {
            feedback->sequence.push_back(i);
            goal->publish_feedback(feedback);
          }
          goal->succeed(std::make_shared<Fibonacci::Result>());
        });
    const auto client = rclcpp_action::create_client<Fibonacci>(calling, "count");
    const auto executor = executor_of(argv[1]);
    executor->add_node(serving);
    executor->add_node(calling);
    std::thread spinning([&] { executor->spin(); });
    if (!client->wait_for_action_server(std::chrono::seconds(60))) return 1;
    for (uint64_t i = 0; i < count; i++) {
      rclcpp_action::Client<Fibonacci>::SendGoalOptions options;
      options.feedback_callback = [i](ClientGoal::SharedPtr, std::shared_ptr<const Fibonacci::Feedback>) {
        const Inside inside("on_feedback", i);
      };
      options.result_callback = [i](const ClientGoal::WrappedResult &) { const Inside inside("on_result", i); };
      Fibonacci::Goal goal;
      goal.order = static_cast<int32_t>(i);
      client->async_send_goal(goal, options);
      stamps.await("on_result", i + 1);
    }
    executor->cancel();
    spinning.join();
  }
  rclcpp::shutdown();
}
