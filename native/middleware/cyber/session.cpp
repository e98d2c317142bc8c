// SPDX-License-Identifier: Apache-2.0
//
// The part of the cyber plugin that is linked to Cyber RT: sessions, endpoints, messages. plugin.cpp loads it when the
// first session is opened.
//
// A subscription is a reader with a callback. Cyber RT's scheduler runs the callback in a coroutine on one of its
// threads, where it puts the message into a queue of the requested depth and calls on_data.
#include "session.h"

#include <tacho/middleware.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <seam/nodes.hpp>
#include <set>
#include <string>
#include <vector>

#include <unistd.h>

#include "configuration.h"
#include "cyber_rt.h"
#include "enabled.h"
#include "failure.h"
#include "payload.h"
#include "rtps_matches.h"
#include "segments.h"
#include "topology.h"

namespace cyber = apollo::cyber;
using Message = cyber::message::PyMessageWrap;
using Shared = std::shared_ptr<Message>;

namespace {

// The state that a subscription shares with its callback, which may run while the subscription is closed.
struct Queue {
  uint32_t depth = 1;
  std::mutex mutex;
  std::deque<Shared> messages;
  // Held while on_data runs, so that closing waits for it and none runs afterwards.
  std::mutex notifying;
  tacho_on_data on_data = nullptr;
  void *context = nullptr;

  void put(const Shared &message) {
    {
      std::lock_guard<std::mutex> lock(mutex);
      messages.push_back(message);
      if (messages.size() > depth) messages.pop_front();
    }
    std::lock_guard<std::mutex> lock(notifying);
    if (on_data) on_data(context);
  }
};

// In Cyber RT a node name is unique and a node has one reader a channel, so whatever clashes inside this process gets a
// name of its own.
class Names {
 public:
  std::string take(const std::string &wanted) {
    std::lock_guard<std::mutex> lock(mutex_);
    std::string name = wanted;
    for (unsigned number = 2; !taken_.insert(name).second; number++) name = wanted + "." + std::to_string(number);
    return name;
  }
  void give(const std::string &name) {
    std::lock_guard<std::mutex> lock(mutex_);
    taken_.erase(name);
  }

 private:
  std::mutex mutex_;
  std::set<std::string> taken_;
};

struct Process {
  std::mutex mutex;  // of `up` and the making of sessions
  bool up = false;
  Configuration configuration;
  std::string host_ip;
  Names names;
};

// Never destroyed, because threads of Cyber RT may outlive destructors.
Process &process = *new Process;

struct CyberNode {
  explicit CyberNode(const std::string &wanted) : name(process.names.take(wanted)), node(cyber::CreateNode(name, "")) {}
  ~CyberNode() {
    node.reset();
    process.names.give(name);
  }
  std::string name;
  std::unique_ptr<cyber::Node> node;
  std::set<std::string> read;  // channels
};

struct SessionNode {
  std::vector<std::unique_ptr<CyberNode>> parts;  // more than one if it reads a channel twice

  CyberNode &for_reader(const std::string &channel) {
    for (auto &part : parts)
      if (part->read.insert(channel).second) return *part;
    parts.push_back(make(parts.front()->name));
    parts.back()->read.insert(channel);
    return *parts.back();
  }

  static std::unique_ptr<CyberNode> make(const std::string &name) {
    auto made = std::make_unique<CyberNode>(name);
    if (!made->node) fail("cyber: no node \"%s\"; Cyber RT says why above", name.c_str());
    return made;
  }
};

}  // namespace

struct tacho_publisher {
  Role role;
  size_t size = 0;
  std::shared_ptr<cyber::Writer<Message>> writer;
  std::vector<Shared> pool;  // every message ever lent; one that only the pool holds is free
  std::set<const Message *> filled;
  Shared borrowed;
};

struct tacho_subscription {
  Role role;
  std::shared_ptr<Queue> queue;
  std::shared_ptr<cyber::Reader<Message>> reader;
  Shared lent;
};

struct tacho_session {
  std::mutex mutex;  // of what follows
  seam::Nodes<SessionNode> nodes;
  std::vector<std::unique_ptr<tacho_publisher>> publishers;
  std::vector<std::unique_ptr<tacho_subscription>> subscriptions;
};

namespace {

// Session

// Cyber RT cannot be started again after it was stopped, so it stays up until the process ends.
void start(const Configuration &configuration) {
  reclaim_at_exit();
  cyber::common::GlobalData *global = cyber::common::GlobalData::Instance(true);
  if (!configuration.scheduler_group.empty()) global->SetProcessGroup(configuration.scheduler_group);
  if (!cyber::Init("tacho")) fail("cyber: Cyber RT does not start; it says why above");
  std::string description;
  append(description, 1, file_descriptor());  // apollo::cyber::proto::ProtoDesc
  if (!cyber::message::ProtobufFactory::Instance(true)->RegisterMessage(description))
    fail("cyber: Cyber RT does not take the description of the message types");
  process.host_ip = global->HostIp();
  process.configuration = configuration;
  process.up = true;
}

tacho_session *open(const tacho_session_config *config, char *error) {
  return guarded(error, [&] {
    std::lock_guard<std::mutex> lock(process.mutex);
    const Configuration &up = process.configuration;
    const char *transport = *config->transport ? config->transport : transport_names[0];
    if (!process.up) fail("cyber: Cyber RT is not up");
    if (up.transport != transport || up.domain != config->domain || up.address != config->address)
      fail(
          "cyber: this process uses transport %s in domain %u at \"%s\" already, and Cyber RT knows one a process; "
          "asked for %s in "
          "domain %u at \"%s\"",
          up.transport.c_str(), up.domain, up.address.c_str(), transport, config->domain, config->address);
    return new tacho_session;
  });
}

void close(tacho_session *session) {
  for (auto &subscription : session->subscriptions) {
    {
      std::lock_guard<std::mutex> wait(subscription->queue->notifying);
      subscription->queue->on_data = nullptr;
    }
    if (subscription->reader) subscription->reader->Shutdown();
  }
  for (auto &publisher : session->publishers) {
    if (!publisher->writer) continue;
    const void *transmitter = publisher->writer->transmitter();
    publisher->writer->Shutdown();
    forget(transmitter);  // receivers stay as long as the process
  }
  delete session;
}

int node(tacho_session *session, const char *name, const void **handle, int *traced, char *error) {
  return guarded(error, [&] {
    std::lock_guard<std::mutex> lock(session->mutex);
    const SessionNode &made = session->nodes.add(name, [&] {
      auto node = std::make_unique<SessionNode>();
      node->parts.push_back(SessionNode::make(name));
      return node;
    });
    *handle = made.parts.front()->node.get();
    *traced = 0;
    return 0;
  });
}

// Endpoints

Role acceptable(const tacho_session &session, const tacho_endpoint_config &config) {
  const tacho_qos &qos = config.qos;
  const char *topic = config.topic;
  session.nodes.of(config);
  if (topic[0] != '/') fail("cyber: topic \"%s\" is not fully qualified; expected \"/%s\"", topic, topic);
  Role role;
  role.message_type = full_type_name(config.type);
  if (role.message_type.empty())
    fail(
        "cyber: %s: message type \"%s\" is not known; expected Bytes, PointCloud2, PointCloud1m, Image or TwistStamped",
        topic, config.type);
  if (config.size > (size_t{1} << 31) - 1024)
    fail("cyber: %s: %zu bytes; expected less than 2 GiB, as protobuf does", topic, config.size);
  if (qos.reliability > TACHO_RELIABLE || qos.durability > TACHO_TRANSIENT_LOCAL || qos.history > TACHO_KEEP_ALL)
    fail("cyber: %s: unknown QoS policy: reliability %u, durability %u, history %u; expected 0 or 1 each", topic,
         qos.reliability, qos.durability, qos.history);
  if (qos.history == TACHO_KEEP_ALL)
    fail("cyber: %s: keep all, but Cyber RT's readers have a queue of fixed depth that overwrites; expected keep last",
         topic);
  if (qos.depth == 0 || qos.depth > 1000)
    fail("cyber: %s: keep last with depth %u; expected 1 to 1000, Cyber RT's max_history_depth", topic, qos.depth);
  role.host_ip = process.host_ip;
  role.process = getpid();
  role.channel = topic + process.configuration.suffix;
  role.qos = qos;
  return role;
}

tacho_publisher *advertise(tacho_session *session, const tacho_endpoint_config *config, const void **handle,
                           char *error) {
  return guarded(error, [&] {
    std::lock_guard<std::mutex> lock(session->mutex);
    auto made = std::make_unique<tacho_publisher>();
    made->role = acceptable(*session, *config);
    made->size = config->size;
    reclaim(cyber::common::GlobalData::RegisterChannel(made->role.channel));
    cyber::Node &node = *session->nodes.of(*config).parts.front()->node;
    made->writer = node.channels()->CreateWriter<Message>(attributes_of(made->role));
    if (!made->writer) fail("cyber: %s: no writer; Cyber RT says why above", config->topic);
    tacho_publisher *publisher = made.get();
    session->publishers.push_back(std::move(made));
    *handle = publisher->writer.get();
    return publisher;
  });
}

tacho_subscription *subscribe(tacho_session *session, const tacho_endpoint_config *config, tacho_on_data on_data,
                              void *context, const void **handle, char *error) {
  return guarded(error, [&] {
    std::lock_guard<std::mutex> lock(session->mutex);
    auto made = std::make_unique<tacho_subscription>();
    made->role = acceptable(*session, *config);
    made->queue = std::make_shared<Queue>();
    made->queue->depth = config->qos.depth;
    made->queue->on_data = on_data;
    made->queue->context = context;
    reclaim(cyber::common::GlobalData::RegisterChannel(made->role.channel));
    CyberNode &node = session->nodes.of(*config).for_reader(made->role.channel);
    made->reader = node.node->channels()->CreateReader<Message>(
        attributes_of(made->role), [queue = made->queue](const Shared &message) { queue->put(message); },
        config->qos.depth);
    if (!made->reader) fail("cyber: %s: no reader; Cyber RT says why above", config->topic);
    tacho_subscription *subscription = made.get();
    session->subscriptions.push_back(std::move(made));
    *handle = subscription->reader.get();
    return subscription;
  });
}

int publisher_matched(tacho_publisher *publisher, char *error) {
  return guarded(error, [&] {
    std::vector<cyber::proto::RoleAttributes> readers;
    publisher->writer->GetReaders(&readers);
    const Role &role = publisher->role;
    const Peers known =
        peers(role, true, readers, enabled_peers(publisher->writer->transmitter()), process.configuration.modes);
    const int found = rtps_readers(role.channel, qos_profile(role.qos));
    // All readers of a process share one endpoint of RTPS.
    return known.otherwise + (found >= known.rtps_processes ? known.by_rtps : std::min(known.by_rtps, found));
  });
}

int subscription_matched(tacho_subscription *subscription, char *error) {
  return guarded(error, [&] {
    std::vector<cyber::proto::RoleAttributes> writers;
    subscription->reader->GetWriters(&writers);
    const Role &role = subscription->role;
    const Peers known =
        peers(role, false, writers, enabled_peers(subscription->reader->receiver()), process.configuration.modes);
    return known.otherwise + std::min(known.by_rtps, rtps_writers(role.channel));
  });
}

// Messages

char *bytes_of(Message &message) { return const_cast<char *>(message.data().data()); }

void *borrow(tacho_publisher *publisher, int *kept, const void **message, char *error) {
  return guarded(error, [&]() -> void * {
    if (!publisher->borrowed) {
      for (const Shared &held : publisher->pool)
        if (held.use_count() == 1) {
          // use_count is a relaxed load: this pairs with the release of the last reader's reference.
          std::atomic_thread_fence(std::memory_order_acquire);
          publisher->borrowed = held;
          break;
        }
      if (!publisher->borrowed) {
        publisher->borrowed = std::make_shared<Message>(blank(publisher->size), publisher->role.message_type);
        publisher->pool.push_back(publisher->borrowed);
      }
    }
    *message = publisher->borrowed.get();
    *kept = !publisher->filled.insert(publisher->borrowed.get()).second;
    return bytes_of(*publisher->borrowed) + prefix_size(publisher->size);
  });
}

int publish(tacho_publisher *publisher, const tacho_header *header, char *error) {
  return guarded(error, [&] {
    if (!publisher->borrowed) fail("cyber: %s: publish without a borrowed buffer", publisher->role.channel.c_str());
    const Shared message = std::move(publisher->borrowed);
    publisher->borrowed.reset();
    put_header(*header, bytes_of(*message));
    if (!publisher->writer->Write(message))
      fail("cyber: %s: Cyber RT does not write; it says why above", publisher->role.channel.c_str());
    return 0;
  });
}

int take(tacho_subscription *subscription, tacho_message *message, char *error) {
  return guarded(error, [&] {
    const char *channel = subscription->role.channel.c_str();
    if (subscription->lent) fail("cyber: %s: take before the last message was given back", channel);
    Queue &queue = *subscription->queue;
    {
      std::lock_guard<std::mutex> lock(queue.mutex);
      if (queue.messages.empty()) return 0;
      subscription->lent = std::move(queue.messages.front());
      queue.messages.pop_front();
    }
    const std::string &payload = subscription->lent->data();
    if (!read(payload, message)) {
      subscription->lent.reset();
      fail("cyber: %s: a message of %zu bytes is none of ours; expected %s", channel, payload.size(),
           subscription->role.message_type.c_str());
    }
    message->loan = subscription->lent.get();
    return 1;
  });
}

void give_back(tacho_subscription *subscription, tacho_message *message) {
  subscription->lent.reset();
  message->loan = nullptr;
}

const struct tacho_middleware sessions = {TACHO_MIDDLEWARE_ABI,
                                          "cyber",
                                          transport_names,
                                          type_names,
                                          nullptr,
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

const struct tacho_middleware *tacho_cyber_start(const Configuration *configuration, char *error) {
  return guarded(error, [&] {
    std::lock_guard<std::mutex> lock(process.mutex);
    if (!process.up) start(*configuration);
    return &sessions;
  });
}
