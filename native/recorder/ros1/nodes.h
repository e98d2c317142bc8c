// SPDX-License-Identifier: Apache-2.0
//
// Whose an entity is: the node of this process, or the nodelet whose callback queue it uses.
#ifndef TACHO_RECORDER_ROS1_NODES_H_
#define TACHO_RECORDER_ROS1_NODES_H_

#include <map>
#include <ros/callback_queue_interface.h>
#include <string>
#include <vector>

// Handle of the node that uses this queue, which is recorded first where it was not yet; 0: roscpp itself.
uint64_t node_of(const ros::CallbackQueueInterface *queue);

void hook_nodelet_init(void *nodelet, const std::string &name, const std::map<std::string, std::string> &remappings,
                       const std::vector<std::string> &arguments, ros::CallbackQueueInterface *single_threaded,
                       ros::CallbackQueueInterface *multi_threaded);

#endif
