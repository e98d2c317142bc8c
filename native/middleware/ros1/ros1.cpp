// SPDX-License-Identifier: Apache-2.0
//
// The ros1 plugin: roscpp of ROS 1 Noetic.
//
// ROS 1 has only queue sizes and latching as QoS. TCPROS is reliable up to the outgoing queue, from which roscpp drops
// the oldest message when it is full, as keep last does. UDPROS never sends a message again, so reliable is refused
// there. A process is one node of ROS, named after the first of our nodes in it; ROS does not know the others.
#include <tacho/middleware.h>

#include <ros/common.h>

#include <cstdio>
#include <cstring>
#include <seam/nodes.hpp>
#include <vector>

#include "endpoint.h"
#include "failure.h"
#include "process.h"

struct tacho_publisher {
  std::string topic;
  std::unique_ptr<Writer> writer;
  ~tacho_publisher() {
    if (writer) Process::instance().remove_publisher(topic);
  }
};

struct tacho_subscription {
  std::string topic;
  std::unique_ptr<Reader> reader;
  ~tacho_subscription() {
    if (reader) Process::instance().remove_subscription(topic);
  }
};

struct tacho_session {
  Transport transport;
  std::mutex mutex;  // of what follows
  seam::Nodes<> nodes;
  std::vector<std::unique_ptr<tacho_publisher>> publishers;
  std::vector<std::unique_ptr<tacho_subscription>> subscriptions;
};

namespace {

const char *const transport_names[] = {"tcpros", "udpros", "in-process", nullptr};

constexpr seam::Guard guarded{"ros1", "roscpp"};

int version(char *out, size_t size, char *) {
  std::snprintf(out, size, "roscpp %d.%d.%d", ROS_VERSION_MAJOR, ROS_VERSION_MINOR, ROS_VERSION_PATCH);
  return 0;
}

Transport transport_of(const char *name) {
  if (!*name) return Transport::Tcpros;
  for (int i = 0; transport_names[i]; i++)
    if (!std::strcmp(name, transport_names[i])) return static_cast<Transport>(i);
  fail("ros1: transport \"%s\" is not known; expected \"tcpros\", \"udpros\" or \"in-process\"", name);
}

tacho_session *open(const tacho_session_config *config, char *error) {
  return guarded(error, [&] {
    auto session = std::make_unique<tacho_session>();
    session->transport = transport_of(config->transport);
    Process::instance().enter(config->domain, session->transport, config->address);
    return session.release();
  });
}

void close(tacho_session *session) {
  delete session;
  Process::instance().leave();
}

int node(tacho_session *session, const char *name, const void **handle, int *traced, char *error) {
  return guarded(error, [&] {
    std::lock_guard<std::mutex> lock(session->mutex);
    *handle = &session->nodes.add(name, [&] {
      Process::instance().start(name);
      return std::make_unique<char>();
    });
    *traced = 0;
    return 0;
  });
}

// Endpoints

const NamedType &acceptable(const tacho_session &session, const tacho_endpoint_config &config, bool exact) {
  const tacho_qos &qos = config.qos;
  const char *topic = config.topic;
  session.nodes.of(config);
  if (topic[0] != '/') fail("ros1: topic \"%s\" is not fully qualified; expected \"/%s\"", topic, topic);
  const NamedType *type = named_type(config.type, config.size);
  if (!type)
    fail("ros1: %s: message type \"%s\" is not known; expected Bytes, PointCloud2, PointCloud1m, Image or TwistStamped",
         topic, config.type);
  if (exact && type->only_size && config.size != type->only_size)
    fail("ros1: %s: %s carries %zu bytes of data, not %zu", topic, type->name, type->only_size, config.size);
  if (config.size > 1000000000 - 1024)  // roscpp drops a connection that announces more
    fail("ros1: %s: %zu bytes; expected at most 1 GB", topic, config.size);
  if (qos.reliability > TACHO_RELIABLE || qos.durability > TACHO_TRANSIENT_LOCAL || qos.history > TACHO_KEEP_ALL)
    fail("ros1: %s: unknown QoS policy: reliability %u, durability %u, history %u; expected 0 or 1 each", topic,
         qos.reliability, qos.durability, qos.history);
  if (qos.reliability == TACHO_RELIABLE && session.transport == Transport::Udpros)
    fail("ros1: %s: reliable: UDPROS sends nothing again; expected best effort, or transport \"tcpros\"", topic);
  if (qos.history == TACHO_KEEP_LAST && (qos.depth == 0 || qos.depth > INT32_MAX))
    fail("ros1: %s: keep last with depth %u; expected 1 to 2^31 - 1", topic, qos.depth);
  if (qos.durability == TACHO_TRANSIENT_LOCAL && (qos.history != TACHO_KEEP_LAST || qos.depth != 1))
    fail(
        "ros1: %s: transient local with more than one message: ROS 1 latches the last alone; expected keep last, depth "
        "1",
        topic);
  return *type;
}

uint32_t queue_size(const tacho_qos &qos) { return qos.history == TACHO_KEEP_ALL ? 0 : qos.depth; }

tacho_publisher *advertise(tacho_session *session, const tacho_endpoint_config *config, const void **handle,
                           char *error) {
  return guarded(error, [&] {
    std::lock_guard<std::mutex> lock(session->mutex);
    const NamedType &type = acceptable(*session, *config, true);
    Process &process = Process::instance();
    auto made = std::make_unique<tacho_publisher>();
    made->topic = process.resolved(config->topic);
    process.add_publisher(made->topic, config->qos);
    try {
      made->writer = type.writer(process.node(), made->topic, config->size, queue_size(config->qos),
                                 config->qos.durability == TACHO_TRANSIENT_LOCAL);
    } catch (...) {
      process.remove_publisher(made->topic);
      throw;
    }
    session->publishers.push_back(std::move(made));
    *handle = session->publishers.back().get();
    return session->publishers.back().get();
  });
}

tacho_subscription *subscribe(tacho_session *session, const tacho_endpoint_config *config, tacho_on_data on_data,
                              void *context, const void **handle, char *error) {
  return guarded(error, [&] {
    std::lock_guard<std::mutex> lock(session->mutex);
    const NamedType &type = acceptable(*session, *config, false);
    Process &process = Process::instance();
    auto made = std::make_unique<tacho_subscription>();
    made->topic = process.resolved(config->topic);
    ros::TransportHints hints;
    if (session->transport == Transport::Udpros)
      hints.udp();
    else
      hints.tcp();
    // Counted before publishers can ask for it.
    process.add_subscription(made->topic);
    try {
      made->reader = type.reader(process.node(), {made->topic, queue_size(config->qos), hints, on_data, context});
    } catch (...) {
      process.remove_subscription(made->topic);
      throw;
    }
    *handle = made->reader->handle();
    session->subscriptions.push_back(std::move(made));
    return session->subscriptions.back().get();
  });
}

int publisher_matched(tacho_publisher *publisher, char *error) {
  return guarded(error, [&] { return Process::instance().subscriptions_matched(publisher->topic); });
}

int subscription_matched(tacho_subscription *subscription, char *error) {
  return guarded(error, [&] { return Process::instance().publishers_matched(subscription->topic); });
}

// Messages

void *borrow(tacho_publisher *publisher, int *kept, const void **message, char *error) {
  return guarded(error, [&]() -> void * {
    bool was_kept;
    void *data = publisher->writer->borrow(&was_kept, message);
    *kept = was_kept;
    return data;
  });
}

int publish(tacho_publisher *publisher, const tacho_header *header, char *error) {
  return guarded(error, [&] {
    publisher->writer->publish(*header);
    return 0;
  });
}

int take(tacho_subscription *subscription, tacho_message *message, char *error) {
  return guarded(error, [&] { return subscription->reader->take(message) ? 1 : 0; });
}

void give_back(tacho_subscription *subscription, tacho_message *message) {
  subscription->reader->give_back();
  message->loan = nullptr;
}

const struct tacho_middleware middleware = {TACHO_MIDDLEWARE_ABI,
                                            "ros1",
                                            transport_names,
                                            type_names,
                                            version,
                                            open,
                                            close,
                                            node,
                                            advertise,
                                            subscribe,
                                            publisher_matched,
                                            subscription_matched,
                                            borrow,
                                            publish,
                                            take,
                                            give_back,
                                            nullptr};

}  // namespace

extern "C" __attribute__((visibility("default"))) int tacho_call_within(tacho_subscription *subscription,
                                                                        int64_t limit_ns, tacho_on_message on_message,
                                                                        void *context, char *error) {
  return guarded(error, [&] { return subscription->reader->call_within(limit_ns, on_message, context) ? 1 : 0; });
}

extern "C" __attribute__((visibility("default"))) const struct tacho_middleware *tacho_middleware(void) {
  return &middleware;
}
