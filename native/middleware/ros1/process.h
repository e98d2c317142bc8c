// SPDX-License-Identifier: Apache-2.0
//
// roscpp in this process. It knows one node name, one master and one address a process, and keeps one publication and one
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

  // A session begins: with the first, a master is found or started. Throws where an open session has settled otherwise.
  void enter(uint32_t domain, Transport transport, const std::string &address);
  // A session ends: with the last, roscpp is shut down.
  void leave();

  // Starts roscpp as a node of this name, with a number behind it that makes it unique; the first name a process says stands.
  void start(const std::string &name);
  ros::NodeHandle &node() { return *node_; }
  // The name under which a topic is known: in process, one that other processes do not have.
  std::string resolved(const std::string &topic) const;

  // One endpoint more or less on this (resolved) topic, so that peers can count what shares one connection. All publishers
  // of a topic share one queue: `add_publisher` throws where its depth and durability differ from those that are there.
  void add_publisher(const std::string &topic, const tacho_qos &qos);
  void remove_publisher(const std::string &topic);
  void add_subscription(const std::string &topic);
  void remove_subscription(const std::string &topic);

  // Endpoints on the other side that are connected now, in this process and in others.
  int subscriptions_matched(const std::string &topic);
  int publishers_matched(const std::string &topic);

 private:
  struct Endpoints {
    int publishers = 0, subscriptions = 0;
    tacho_qos qos;  // of the publishers
  };

  Endpoints own(const std::string &topic);
  // Of the node with this XML-RPC URI: its endpoints on the topic, those of them that publish only if connected with us.
  Endpoints ask(const std::string &uri, const std::string &topic);
  // The reverse, called in roscpp's thread.
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
