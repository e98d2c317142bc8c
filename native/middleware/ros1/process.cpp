// SPDX-License-Identifier: Apache-2.0
#include "process.h"

#include <ros/console.h>
#include <ros/init.h>
#include <ros/master.h>
#include <ros/publication.h>
#include <ros/this_node.h>
#include <ros/topic_manager.h>
#include <ros/xmlrpc_manager.h>
#include <unistd.h>

#include <boost/make_shared.hpp>
#include <chrono>
#include <cstdlib>
#include <future>

#include "call.h"
#include "failure.h"

namespace {

constexpr double PEER_S = 2;     // a peer that does not answer in this time is not there
constexpr double MASTER_S = 10;  // a master that does not answer in this time has ended
const char ENDPOINTS[] =
    "tachoEndpoints";  // beside the functions of ROS's Slave API: (topic, caller) -> [publishers, subscriptions]

// Connections of a publication, each as [id, node on the other side, direction, transport, topic, ...].
XmlRpc::XmlRpcValue connections(const std::string &topic) {
  XmlRpc::XmlRpcValue info;
  info.setSize(0);
  if (ros::PublicationPtr publication = ros::TopicManager::instance()->lookupPublication(topic))
    publication->getInfo(info);
  return info;
}

std::string text(XmlRpc::XmlRpcValue &value) {
  return value.getType() == XmlRpc::XmlRpcValue::TypeString ? static_cast<std::string &>(value) : std::string();
}

// The dispatcher of roscpp's XML-RPC server, which calls this in the server's thread.
class Dispatcher : public ros::ASyncXMLRPCConnection {
 public:
  void addToDispatch(XmlRpc::XmlRpcDispatch *dispatch) override { told_.set_value(dispatch); }
  void removeFromDispatch(XmlRpc::XmlRpcDispatch *) override {}
  bool check() override { return true; }  // that was all
  // NULL: the server has ended already, for example because the master asked for it.
  XmlRpc::XmlRpcDispatch *get() {
    std::future<XmlRpc::XmlRpcDispatch *> dispatch = told_.get_future();
    return dispatch.wait_for(std::chrono::seconds(2)) == std::future_status::ready ? dispatch.get() : nullptr;
  }

 private:
  std::promise<XmlRpc::XmlRpcDispatch *> told_;
};

}  // namespace

Process &Process::instance() {
  static Process *process = new Process;  // lives on: roscpp's own threads and exit handlers may outlive statics
  return *process;
}

void Process::enter(uint32_t domain, Transport transport, const std::string &address) {
  std::lock_guard<std::mutex> lock(life_);
  if (sessions_ && (domain != domain_ || transport != transport_ || address != address_))
    fail(
        "ros1: this process has a session of domain %u open; roscpp has one domain, transport and address a process, "
        "so "
        "expected the same, or another process",
        domain_);
  if (!sessions_) {
    master_ = std::make_unique<Master>(domain, address);
    if (!uri_.empty() && uri_ != master_->uri()) {
      master_.reset();
      fail(
          "ros1: this process has been at the master %s, and roscpp never takes another; expected domain %u, or "
          "another "
          "process",
          uri_.c_str(), domain_);
    }
    domain_ = domain;
    transport_ = transport;
    address_ = address;
  }
  sessions_++;
}

void Process::start(const std::string &name) {
  std::lock_guard<std::mutex> lock(life_);
  if (node_) return;
  const std::string ip = address_.empty() ? "127.0.0.1" : address_;
  // roscpp reads only from the environment whether it listens only on the loopback.
  setenv("ROS_IP", ip.c_str(), 1);
  unsetenv("ROS_HOSTNAME");
  uri_ = master_->uri();
  ros::init(ros::M_string{{"__master", uri_}, {"__ip", ip}}, name,
            ros::init_options::NoSigintHandler | ros::init_options::AnonymousName | ros::init_options::NoRosout);
  // Messages below a warning go to stdout, which belongs to the program.
  if (ros::console::set_logger_level(ROSCONSOLE_ROOT_LOGGER_NAME, ros::console::levels::Warn))
    ros::console::notifyLoggerLevelsChanged();
  ros::master::setRetryTimeout(ros::WallDuration(MASTER_S));
  // Before the start, because the server holds the lock that this needs nearly all the time.
  ros::XMLRPCManager::instance()->bind(
      ENDPOINTS, [this](XmlRpc::XmlRpcValue &parameters, XmlRpc::XmlRpcValue &result) { answer(parameters, result); });
  ros::start();
  node_ = std::make_unique<ros::NodeHandle>();
}

void Process::leave() {
  std::lock_guard<std::mutex> lock(life_);
  if (--sessions_) return;
  if (node_) {
    node_.reset();
    // roscpp 1.15 leaves the master's connections and the closed server itself in that dispatcher. If it is started
    // again, it accepts each connection twice, takes the second for a failure and receives nothing for a second.
    const auto dispatcher = boost::make_shared<Dispatcher>();
    ros::XMLRPCManager::instance()->addASyncConnection(dispatcher);
    XmlRpc::XmlRpcDispatch *dispatch = dispatcher->get();
    ros::shutdown();
    if (dispatch) dispatch->clear();
    std::lock_guard<std::mutex> hold(mutex_);
    endpoints_.clear();
    uris_.clear();
  }
  master_.reset();
}

std::string Process::resolved(const std::string &topic) const {
  return transport_ == Transport::InProcess ? "/in_process_" + std::to_string(getpid()) + topic : topic;
}

// Endpoints

void Process::add_publisher(const std::string &topic, const tacho_qos &qos) {
  std::lock_guard<std::mutex> lock(mutex_);
  Endpoints &there = endpoints_[topic];
  const bool same =
      there.qos.durability == qos.durability && there.qos.history == qos.history && there.qos.depth == qos.depth;
  if (there.publishers && !same)
    fail(
        "ros1: %s: durability %u, history %u, depth %u; expected %u, %u, %u, as another publisher of this process has: "
        "they "
        "share one queue",
        topic.c_str(), qos.durability, qos.history, qos.depth, there.qos.durability, there.qos.history,
        there.qos.depth);
  there.qos = qos;
  there.publishers++;
}

void Process::remove_publisher(const std::string &topic) {
  std::lock_guard<std::mutex> lock(mutex_);
  endpoints_[topic].publishers--;
}

void Process::add_subscription(const std::string &topic) {
  std::lock_guard<std::mutex> lock(mutex_);
  endpoints_[topic].subscriptions++;
}

void Process::remove_subscription(const std::string &topic) {
  std::lock_guard<std::mutex> lock(mutex_);
  endpoints_[topic].subscriptions--;
}

Process::Endpoints Process::own(const std::string &topic) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto there = endpoints_.find(topic);
  return there == endpoints_.end() ? Endpoints{} : there->second;
}

// Matching. One connection of roscpp joins two processes, however many endpoints they have on the topic, so each side
// asks the other for the number. This also shows a subscription that a publisher was killed, whose connection roscpp
// keeps trying.

int Process::subscriptions_matched(const std::string &topic) {
  XmlRpc::XmlRpcValue info = connections(topic);
  int count = 0;
  for (int i = 0; i < info.size(); i++) {
    const std::string node = text(info[i][1]);
    count += node == ros::this_node::getName() ? own(topic).subscriptions : ask(uri_of(node), topic).subscriptions;
  }
  return count;
}

int Process::publishers_matched(const std::string &topic) {
  // Only the Slave API lists connections of subscriptions: [id, URI of the publishing node, "i", transport, topic,
  // ...].
  const std::string self = ros::XMLRPCManager::instance()->getServerURI();
  XmlRpc::XmlRpcValue caller, info;
  caller[0] = ros::this_node::getName();
  if (call(self, "getBusInfo", caller, PEER_S, &info) != Called::Answered)
    fail("ros1: %s: roscpp of this process does not answer at %s", topic.c_str(), self.c_str());
  int count = 0;
  for (int i = 0; i < info.size(); i++) {
    if (text(info[i][2]) != "i" || text(info[i][4]) != topic) continue;
    const std::string uri = text(info[i][1]);
    count += uri == self ? own(topic).publishers : ask(uri, topic).publishers;
  }
  return count;
}

std::string Process::uri_of(const std::string &node) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto known = uris_.find(node);
    if (known != uris_.end()) return known->second;
  }
  XmlRpc::XmlRpcValue parameters, uri;
  parameters[0] = ros::this_node::getName();
  parameters[1] = node;
  if (call(ros::master::getURI(), "lookupNode", parameters, PEER_S, &uri) != Called::Answered) return "";
  std::lock_guard<std::mutex> lock(mutex_);
  return uris_[node] = text(uri);
}

Process::Endpoints Process::ask(const std::string &uri, const std::string &topic) {
  XmlRpc::XmlRpcValue parameters, counts;
  parameters[0] = topic;
  parameters[1] = ros::this_node::getName();
  Endpoints there;
  switch (call(uri, ENDPOINTS, parameters, PEER_S, &counts)) {
    case Called::NoAnswer:
      break;
    case Called::Refused:  // a node that is not ours
      there.publishers = there.subscriptions = 1;
      break;
    case Called::Answered:
      there.publishers = counts[0];
      there.subscriptions = counts[1];
  }
  return there;
}

void Process::answer(XmlRpc::XmlRpcValue &parameters, XmlRpc::XmlRpcValue &result) {
  const std::string topic = text(parameters[0]), caller = text(parameters[1]);
  const Endpoints here = own(topic);
  XmlRpc::XmlRpcValue info = connections(topic);
  bool connected = false;
  for (int i = 0; i < info.size(); i++) connected = connected || text(info[i][1]) == caller;
  result[0] = 1;
  result[1] = "";
  result[2][0] = connected ? here.publishers : 0;
  result[2][1] = here.subscriptions;
}
