// SPDX-License-Identifier: Apache-2.0
//
// Records subscriptions, their queues and their callbacks.
#ifndef TACHO_RECORDER_ROS1_SUBSCRIBING_H_
#define TACHO_RECORDER_ROS1_SUBSCRIBING_H_

#include <ros/message_deserializer.h>
#include <ros/subscribe_options.h>
#include <ros/subscription_queue.h>
#include <ros/topic_manager.h>

bool hook_subscribe(ros::TopicManager *topics, const ros::SubscribeOptions &options);
bool hook_unsubscribe(ros::TopicManager *topics, const std::string &topic,
                      const ros::SubscriptionCallbackHelperPtr &helper);
void hook_queue_push(ros::SubscriptionQueue *queue, const ros::SubscriptionCallbackHelperPtr &helper,
                     const ros::MessageDeserializerPtr &deserializer, bool has_tracked_object,
                     const ros::VoidConstWPtr &tracked_object, bool nonconst_need_copy, ros::Time receipt_time,
                     bool *was_full);
ros::CallbackInterface::CallResult hook_queue_call(ros::SubscriptionQueue *queue);
ros::VoidConstPtr hook_deserialize(ros::MessageDeserializer *deserializer);

#endif
