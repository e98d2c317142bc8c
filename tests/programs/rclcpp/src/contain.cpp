// SPDX-License-Identifier: Apache-2.0
//
// contain LIBRARY EXECUTOR MS [intra]: all components of a library in this process, on one executor, for that long.
#include <class_loader/class_loader.hpp>
#include <rclcpp/rclcpp.hpp>
#include <rclcpp_components/node_factory.hpp>

#include "stamps.hpp"

int main(int argc, char **argv) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: contain LIBRARY EXECUTOR MS [intra]\n");
    return 2;
  }
  rclcpp::init(argc, argv);
  class_loader::ClassLoader loader(argv[1]);
  {
    const auto executor = executor_of(argv[2]);
    std::vector<rclcpp_components::NodeInstanceWrapper> nodes;
    for (const std::string &name : loader.getAvailableClasses<rclcpp_components::NodeFactory>()) {
      nodes.push_back(loader.createInstance<rclcpp_components::NodeFactory>(name)->create_node_instance(
          rclcpp::NodeOptions().use_intra_process_comms(argc > 4)));
      executor->add_node(nodes.back().get_node_base_interface());
    }
    std::thread spinning([&] { executor->spin(); });
    std::this_thread::sleep_for(std::chrono::milliseconds(std::atoi(argv[3])));
    executor->cancel();
    spinning.join();
  }
  rclcpp::shutdown();
}
