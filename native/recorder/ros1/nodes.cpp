// SPDX-License-Identifier: Apache-2.0
#include "nodes.h"

#include <ros/callback_queue.h>
#include <ros/this_node.h>

#include <mutex>
#include <unordered_map>

#include "originals.h"
#include "record.h"

namespace ros {
CallbackQueuePtr getInternalCallbackQueue();  // roscpp exports it, but declares it in no header
}

namespace {

std::mutex mutex;        // protects the variables below
uint64_t next_node = 1;  // handles are numbers because a name has no lasting address
uint64_t own_node = 0;   // 0: not recorded yet
auto &nodelets = lasting<
    std::unordered_map<const ros::CallbackQueueInterface *, uint64_t>>();  // key: either of the nodelet's queues

uint64_t new_node(const std::string &name) {
  const uint64_t node = next_node++;
  record_text(TACHO_ROS1_NODE_INIT, name, node);
  return node;
}

}  // namespace

uint64_t node_of(const ros::CallbackQueueInterface *queue) {
  if (queue == ros::getInternalCallbackQueue().get()) return 0;
  std::lock_guard<std::mutex> lock(mutex);
  const auto nodelet = nodelets.find(queue);
  if (nodelet != nodelets.end()) return nodelet->second;
  if (own_node == 0) own_node = new_node(ros::this_node::getName());
  return own_node;
}

void hook_nodelet_init(void *nodelet, const std::string &name, const std::map<std::string, std::string> &remappings,
                       const std::vector<std::string> &arguments, ros::CallbackQueueInterface *single_threaded,
                       ros::CallbackQueueInterface *multi_threaded) {
  {
    std::lock_guard<std::mutex> lock(mutex);
    const uint64_t node = new_node(name);
    nodelets[single_threaded] = node;
    nodelets[multi_threaded] = node;
  }
  original<decltype(hook_nodelet_init)>(ROS1_nodelet_init, nodelet, name, remappings, arguments, single_threaded,
                                        multi_threaded);
}
