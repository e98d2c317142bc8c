// SPDX-License-Identifier: Apache-2.0
//
// Records messages between processes. roscpp writes nothing into a message that says where it comes from, but a TCPROS
// connection keeps the order: the n-th message written to it is the n-th read from it. Both ends know the connection's
// two ports.
#ifndef TACHO_RECORDER_ROS1_LINKS_H_
#define TACHO_RECORDER_ROS1_LINKS_H_

#include <ros/connection.h>
#include <ros/header.h>
#include <ros/subscription.h>
#include <ros/transport_publisher_link.h>
#include <ros/transport_subscriber_link.h>

bool hook_subscriber_link_initialize(ros::TransportSubscriberLink *link, const ros::ConnectionPtr &connection);
bool hook_subscriber_link_handle_header(ros::TransportSubscriberLink *link, const ros::Header &header);
void hook_enqueue_message(ros::TransportSubscriberLink *link, const ros::SerializedMessage &message, bool serialized,
                          bool nocopy);
void hook_connection_write(ros::Connection *connection, const boost::shared_array<uint8_t> &buffer, uint32_t size,
                           const ros::WriteFinishedFunc &finished, bool immediate);
bool hook_publisher_link_initialize(ros::TransportPublisherLink *link, const ros::ConnectionPtr &connection);
uint32_t hook_handle_message(ros::Subscription *subscription, const ros::SerializedMessage &message, bool serialized,
                             bool nocopy, const boost::shared_ptr<ros::M_string> &header,
                             const ros::PublisherLinkPtr &link);

#endif
