// SPDX-License-Identifier: Apache-2.0
//
// deferred EXECUTOR COUNT: a service whose callback keeps each request; those with an even number a timer answers later, the others a thread.
// /calling asks from a timer, one request after the other's response.
#include <atomic>
#include <deque>
#include <example_interfaces/srv/add_two_ints.hpp>
#include <rclcpp/rclcpp.hpp>

#include "stamps.hpp"

using example_interfaces::srv::AddTwoInts;
using Service = rclcpp::Service<AddTwoInts>;

int main(int argc, char **argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: deferred EXECUTOR COUNT\n");
    return 2;
  }
  const uint64_t count = std::strtoull(argv[2], nullptr, 10);
  rclcpp::init(argc, argv);
  {
    const auto serving = std::make_shared<rclcpp::Node>("serving"), calling = std::make_shared<rclcpp::Node>("calling");
    struct Kept {
      std::shared_ptr<Service> service;
      rmw_request_id_t id;
      int64_t number;
    };
    std::mutex mutex;
    std::deque<Kept> for_timer;
    std::vector<std::thread> answering;
    const auto answer = [](Kept kept) {
      AddTwoInts::Response response;
      response.sum = kept.number;
      const int64_t before = now_ns();
      kept.service->send_response(kept.id, response);
      stamps.add("answered", static_cast<uint64_t>(kept.number), before, now_ns());
    };
    const auto service = serving->create_service<AddTwoInts>(
        "ask", [&](std::shared_ptr<Service> of, std::shared_ptr<rmw_request_id_t> id,
                   std::shared_ptr<AddTwoInts::Request> request) {
          const Inside inside("on_request", static_cast<uint64_t>(request->a));
          Kept kept{of, *id, request->a};
          if (request->a % 2 == 0) {
            const std::lock_guard lock(mutex);
            for_timer.push_back(kept);
          } else {
            answering.emplace_back([=] {
              work_ms(3);
              answer(kept);
            });
          }
        });
    const auto later = serving->create_wall_timer(std::chrono::milliseconds(7), [&] {
      std::deque<Kept> now;
      {
        const std::lock_guard lock(mutex);
        now.swap(for_timer);
      }
      for (const Kept &kept : now) answer(kept);
    });
    const auto client = calling->create_client<AddTwoInts>("ask");
    uint64_t next = 0;
    bool waits = false;
    const auto asking = calling->create_wall_timer(std::chrono::milliseconds(5), [&] {
      if (waits || next == count || !client->service_is_ready()) return;
      waits = true;
      const auto request = std::make_shared<AddTwoInts::Request>();
      request->a = static_cast<int64_t>(next);
      publishes("asked", next);
      client->async_send_request(request, [&, number = next](rclcpp::Client<AddTwoInts>::SharedFuture) {
        const Inside inside("on_response", number);
        waits = false;
      });
      next++;
    });
    const auto executor = executor_of(argv[1]);
    executor->add_node(serving);
    executor->add_node(calling);
    std::thread spinning([&] { executor->spin(); });
    stamps.await("on_response", count);
    executor->cancel();
    spinning.join();
    for (std::thread &thread : answering) thread.join();
  }
  rclcpp::shutdown();
}
