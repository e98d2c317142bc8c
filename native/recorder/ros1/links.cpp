// SPDX-License-Identifier: Apache-2.0
#include "links.h"

#include <ros/transport/transport_tcp.h>
#include <ros/transport/transport_udp.h>

#include <cstdlib>
#include <cstring>
#include <mutex>
#include <unordered_map>

#include "digest.h"
#include "originals.h"
#include "record.h"

namespace {

enum Transport : uint64_t { IN_PROCESS = 0, TCPROS = 1, UDPROS = 2 };

Transport transport_of(const char *type) {
  return !std::strcmp(type, "TCPROS") ? TCPROS : !std::strcmp(type, "UDPROS") ? UDPROS : IN_PROCESS;
}

// Both ends of a connection know these two: their own port and that of the other side. A port is 0 if UDPROS does not
// use it.
struct Ports {
  Transport transport = IN_PROCESS;
  uint64_t local = 0, remote = 0;
};

uint64_t port_of_uri(const std::string &uri) { return std::strtoul(uri.c_str() + uri.rfind(':') + 1, nullptr, 10); }

Ports of_publisher(ros::Transport &transport) {
  switch (transport_of(transport.getType())) {
    case TCPROS: {
      auto &tcp = static_cast<ros::TransportTCP &>(transport);
      return {TCPROS, static_cast<uint64_t>(tcp.getLocalPort()), port_of_uri(tcp.getClientURI())};
    }
    case UDPROS:
      return {UDPROS, 0, port_of_uri(static_cast<ros::TransportUDP &>(transport).getClientURI())};
    default:
      return {};
  }
}

Ports of_subscriber(ros::Transport &transport) {
  switch (transport_of(transport.getType())) {
    case TCPROS: {
      auto &tcp = static_cast<ros::TransportTCP &>(transport);
      return {TCPROS, static_cast<uint64_t>(tcp.getLocalPort()), static_cast<uint64_t>(tcp.getConnectedPort())};
    }
    case UDPROS:
      return {UDPROS, static_cast<uint64_t>(static_cast<ros::TransportUDP &>(transport).getServerPort()), 0};
    default:
      return {};
  }
}

// What was written to the connections that carry messages to subscribers. An address that is used again starts a new
// entry.
struct Written {
  uint64_t headers;  // still to be written: TCPROS sends its header as the first write
  uint64_t messages;
  bool digest;  // UDPROS loses messages, so counting them is not enough
};
std::mutex written_mutex;
auto &written = lasting<std::unordered_map<const ros::Connection *, Written>>();

// The connection of the link that this thread has just initialised. The following handleHeader says what it is for.
thread_local ros::TransportSubscriberLink *initialized_link = nullptr;
thread_local ros::ConnectionPtr *initialized_connection = nullptr;

// roscpp's own log has many messages and does not belong in a recording.
bool is_log(const std::string &topic) { return topic == "/rosout"; }

// A derived class may access the subscription that a link belongs to.
struct ParentOf : ros::PublisherLink {
  static ros::SubscriptionPtr of(ros::PublisherLink &link) { return (link.*&ParentOf::parent_).lock(); }
};

}  // namespace

bool hook_subscriber_link_initialize(ros::TransportSubscriberLink *link, const ros::ConnectionPtr &connection) {
  static thread_local ros::ConnectionPtr kept;
  kept = connection;
  initialized_link = link;
  initialized_connection = &kept;
  return original<decltype(hook_subscriber_link_initialize)>(ROS1_subscriber_link_initialize, link, connection);
}

bool hook_subscriber_link_handle_header(ros::TransportSubscriberLink *link, const ros::Header &header) {
  if (initialized_link == link) {
    const ros::ConnectionPtr connection = std::move(*initialized_connection);
    initialized_connection->reset();
    initialized_link = nullptr;
    std::string topic, subscriber;
    header.getValue("topic", topic);
    header.getValue("callerid", subscriber);
    if (!is_log(topic)) {
      ros::Transport &transport = *connection->getTransport();
      const Ports ports = of_publisher(transport);
      {
        std::lock_guard<std::mutex> lock(written_mutex);
        written[connection.get()] = {transport.requiresHeader() ? 1u : 0u, 0, ports.transport == UDPROS};
      }
      // This happens before roscpp continues, because that call enqueues a latched message.
      record_texts(TACHO_ROS1_SUBSCRIBER_LINK_INIT, topic, subscriber, link, connection.get(),
                   uint64_t{ports.transport}, ports.local, ports.remote);
    }
  }
  return original<decltype(hook_subscriber_link_handle_header)>(ROS1_subscriber_link_handle_header, link, header);
}

void hook_enqueue_message(ros::TransportSubscriberLink *link, const ros::SerializedMessage &message, bool serialized,
                          bool nocopy) {
  if (serialized && !is_log(link->getTopic())) record(TACHO_ROS1_ENQUEUE, link, message.buf.get());
  original<decltype(hook_enqueue_message)>(ROS1_enqueue_message, link, message, serialized, nocopy);
}

void hook_connection_write(ros::Connection *connection, const boost::shared_array<uint8_t> &buffer, uint32_t size,
                           const ros::WriteFinishedFunc &finished, bool immediate) {
  bool message = false, digested = false;
  uint64_t sequence = 0;
  {
    std::lock_guard<std::mutex> lock(written_mutex);
    const auto found = written.find(connection);
    if (found != written.end()) {
      Written &of = found->second;
      if (of.headers > 0) {
        of.headers--;
      } else {
        message = true;
        digested = of.digest;
        sequence = of.messages++;
      }
    }
  }
  if (message) {
    constexpr uint32_t length = 4;  // of the length before the message; the receiver reads the message without it
    const uint64_t digest = digested && size > length ? digest_of(buffer.get() + length, size - length) : 0;
    record(TACHO_ROS1_WRITE, connection, sequence, buffer.get(), digest);
  }
  original<decltype(hook_connection_write)>(ROS1_connection_write, connection, buffer, size, finished, immediate);
}

// roscpp calls this once for each connection of the link: the link connects again after it was cut off.
bool hook_publisher_link_initialize(ros::TransportPublisherLink *link, const ros::ConnectionPtr &connection) {
  if (const ros::SubscriptionPtr subscription = ParentOf::of(*link)) {
    const Ports ports = of_subscriber(*connection->getTransport());
    record_text(TACHO_ROS1_PUBLISHER_LINK_INIT, subscription->getName(), link, uint64_t{ports.transport}, ports.local,
                ports.remote, uint64_t{link->getStats().messages_received_});
  }
  return original<decltype(hook_publisher_link_initialize)>(ROS1_publisher_link_initialize, link, connection);
}

uint32_t hook_handle_message(ros::Subscription *subscription, const ros::SerializedMessage &message, bool serialized,
                             bool nocopy, const boost::shared_ptr<ros::M_string> &header,
                             const ros::PublisherLinkPtr &link) {
  const Transport transport = transport_of(link->getTransportType().c_str());
  // roscpp counted this message before the call.
  const uint64_t sequence = link->getStats().messages_received_ - 1;
  const uint64_t digest = transport == UDPROS ? digest_of(message.buf.get(), message.num_bytes) : 0;
  record(TACHO_ROS1_RECEIVE, link.get(), uint64_t{transport}, sequence, message.buf.get(), message.message.get(),
         digest);
  const uint32_t drops = original<decltype(hook_handle_message)>(ROS1_handle_message, subscription, message, serialized,
                                                                 nocopy, header, link);
  record(TACHO_ROS1_RECEIVED, link.get());
  return drops;
}
