// SPDX-License-Identifier: Apache-2.0
//
// Finds the owner of an entity: the node of this process, or the nodelet whose callback queue it uses.
#ifndef TACHO_RECORDER_ROS1_NODES_H_
#define TACHO_RECORDER_ROS1_NODES_H_

#include <map>
#include <ros/callback_queue_interface.h>
#include <string>
#include <vector>

// Returns the handle of the node that uses this queue, and records the node first if necessary. 0: roscpp itself uses
// it.
uint64_t node_of(const ros::CallbackQueueInterface *queue);

void hook_nodelet_init(void *nodelet, const std::string &name, const std::map<std::string, std::string> &remappings,
                       const std::vector<std::string> &arguments, ros::CallbackQueueInterface *single_threaded,
                       ros::CallbackQueueInterface *multi_threaded);

#endif
