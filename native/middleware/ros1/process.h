// SPDX-License-Identifier: Apache-2.0
//
// roscpp in this process. It has one node name, one master and one address a process, and one publication and one
// subscription for each topic; all sessions of the process share them.
#ifndef TACHO_ROS1_PROCESS_H_
#define TACHO_ROS1_PROCESS_H_

#include <ros/node_handle.h>
#include <tacho/middleware.h>

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "master.h"

enum class Transport { Tcpros, Udpros, InProcess };

class Process {
 public:
  static Process &instance();

  // A session begins: the first one finds or starts a master. Throws if an open session has other settings.
  void enter(uint32_t domain, Transport transport, const std::string &address);
  // A session ends: the last one shuts roscpp down.
  void leave();

  // Starts roscpp as a node of this name, with a number after it that makes it unique; the first name of a process
  // stays in force.
  void start(const std::string &name);
  ros::NodeHandle &node() { return *node_; }
  // The resolved name of a topic: in process, one that other processes do not have.
  std::string resolved(const std::string &topic) const;

  // Adds or removes an endpoint on this (resolved) topic, so that peers can count the endpoints that share one
  // connection. All publishers of a topic share one queue: `add_publisher` throws if its depth and durability differ
  // from theirs.
  void add_publisher(const std::string &topic, const tacho_qos &qos);
  void remove_publisher(const std::string &topic);
  void add_subscription(const std::string &topic);
  void remove_subscription(const std::string &topic);

  // Number of endpoints on the other side that are connected now, in this process and in others.
  int subscriptions_matched(const std::string &topic);
  int publishers_matched(const std::string &topic);

 private:
  struct Endpoints {
    int publishers = 0, subscriptions = 0;
    tacho_qos qos;  // of the publishers
  };

  Endpoints own(const std::string &topic);
  // Asks the node with this XML-RPC URI for its endpoints on the topic; its publishers count only if they are connected
  // with us.
  Endpoints ask(const std::string &uri, const std::string &topic);
  // Answers the same question, in roscpp's thread.
  void answer(XmlRpc::XmlRpcValue &parameters, XmlRpc::XmlRpcValue &result);
  std::string uri_of(const std::string &node);

  std::mutex life_;  // of what follows, up to the next mutex
  int sessions_ = 0;
  uint32_t domain_ = 0;
  Transport transport_ = Transport::Tcpros;
  std::string address_;
  std::string uri_;  // of the first master: roscpp never takes another
  std::unique_ptr<Master> master_;
  std::unique_ptr<ros::NodeHandle> node_;

  std::mutex mutex_;                            // of what follows
  std::map<std::string, Endpoints> endpoints_;  // by resolved topic
  std::map<std::string, std::string> uris_;     // by node
};

#endif
