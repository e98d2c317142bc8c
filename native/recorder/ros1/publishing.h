// SPDX-License-Identifier: Apache-2.0
//
// Records publishers and publish calls.
#ifndef TACHO_RECORDER_ROS1_PUBLISHING_H_
#define TACHO_RECORDER_ROS1_PUBLISHING_H_

#include <ros/node_handle.h>
#include <ros/publication.h>

ros::Publisher hook_advertise(ros::NodeHandle *node, ros::AdvertiseOptions &options);
void hook_publish(const ros::Publisher *publisher, const boost::function<ros::SerializedMessage()> &serialize,
                  ros::SerializedMessage &message);
void hook_publication_publish(ros::Publication *publication, ros::SerializedMessage &message);

#endif
