// SPDX-License-Identifier: Apache-2.0
//
// Records services, and the items that wait in a callback queue themselves: calls of timers and of services. Messages
// wait in queues of their own.
#ifndef TACHO_RECORDER_ROS1_QUEUES_H_
#define TACHO_RECORDER_ROS1_QUEUES_H_

#include <ros/advertise_service_options.h>
#include <ros/callback_queue.h>
#include <ros/service_manager.h>

#include "originals.h"
#include "record.h"

void hook_add_callback(ros::CallbackQueue *queue, const ros::CallbackInterfacePtr &item, uint64_t owner);
bool hook_advertise_service(ros::ServiceManager *services, const ros::AdvertiseServiceOptions &options);

// Hooks CallResult TimerQueueCallback::call() and ServiceCallback::call().
template <ros1_hook Hook>
ros::CallbackInterface::CallResult hook_call(ros::CallbackInterface *item) {
  record(TACHO_ROS1_CALLBACK_CALL, item);
  return original<ros::CallbackInterface::CallResult(ros::CallbackInterface *)>(Hook, item);
}

#endif
