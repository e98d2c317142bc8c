// SPDX-License-Identifier: Apache-2.0
//
// The inproc plugin: threads of one process pass each other pointers. It serialises and copies nothing, so it is the
// lower bound for any middleware. Message types are names for byte arrays of the requested size.
#include <tacho/middleware.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <seam/nodes.hpp>
#include <string>
#include <utility>
#include <vector>

namespace {

using seam::fail;
constexpr seam::Guard guarded{"inproc"};

const char *const transports[] = {"pointer", nullptr};
const char *const types[] = {"Bytes", "PointCloud2", "PointCloud1m", "Image", "TwistStamped", nullptr};

struct Buffer {
  tacho_header header{};
  std::vector<unsigned char> data;
  bool filled = false;
};
using Shared = std::shared_ptr<Buffer>;

// The state that a subscription shares with the publishers that are matched with it.
struct Queue {
  std::string type;
  tacho_qos qos;
  std::mutex mutex;
  std::deque<Shared> messages;
  // Held while on_data runs, so that closing waits for it and no call follows.
  std::mutex notifying;
  tacho_on_data on_data = nullptr;
  void *context = nullptr;

  void put(const Shared &buffer) {
    {
      std::lock_guard<std::mutex> lock(mutex);
      messages.push_back(buffer);
      if (qos.history == TACHO_KEEP_LAST && messages.size() > qos.depth) messages.pop_front();
    }
    std::lock_guard<std::mutex> lock(notifying);
    if (on_data) on_data(context);
  }
};
using SharedQueue = std::shared_ptr<Queue>;

struct Topic {
  std::vector<tacho_publisher *> publishers;
  std::vector<SharedQueue> queues;
};

// All topics of the process by domain and name. The mutex also guards the matches.
std::mutex registry;
std::map<std::pair<uint32_t, std::string>, Topic> topics;

}  // namespace

struct tacho_publisher {
  std::pair<uint32_t, std::string> key;
  std::string type;
  tacho_qos qos;
  size_t size;
  std::vector<Shared> pool;  // every buffer ever lent; a buffer is free if only the pool holds it
  Shared borrowed;
  std::mutex mutex;  // of what follows; taken after `registry`, before any queue's
  std::vector<SharedQueue> queues;
  std::deque<Shared> history;  // for subscriptions that come later; transient local only
};

struct tacho_subscription {
  std::pair<uint32_t, std::string> key;
  SharedQueue queue;
  Shared lent;
};

struct tacho_session {
  uint32_t domain;
  std::mutex mutex;
  seam::Nodes<> nodes;
  std::vector<std::unique_ptr<tacho_publisher>> publishers;
  std::vector<std::unique_ptr<tacho_subscription>> subscriptions;
};

namespace {

// DDS 1.4, 2.2.3: a publisher must offer at least what is requested, and the types must be equal.
bool compatible(const tacho_publisher &publisher, const Queue &queue) {
  return publisher.type == queue.type && publisher.qos.reliability >= queue.qos.reliability &&
         publisher.qos.durability >= queue.qos.durability;
}

// Call with `registry` held.
void match(tacho_publisher &publisher, const SharedQueue &queue) {
  if (!compatible(publisher, *queue)) return;
  std::lock_guard<std::mutex> lock(publisher.mutex);
  publisher.queues.push_back(queue);
  if (queue->qos.durability == TACHO_TRANSIENT_LOCAL)
    for (const Shared &buffer : publisher.history) queue->put(buffer);
}

// Checks an endpoint's request and returns its message type.
std::string acceptable(const tacho_session &session, const tacho_endpoint_config &config) {
  const tacho_qos &qos = config.qos;
  const char *topic = config.topic;
  const std::string type = *config.type ? config.type : types[0];
  session.nodes.of(config);
  if (std::none_of(types, std::end(types) - 1, [&](const char *t) { return type == t; }))
    fail("%s: message type \"%s\" is not known; expected Bytes, PointCloud2, PointCloud1m, Image or TwistStamped",
         topic, config.type);
  if (qos.reliability > TACHO_RELIABLE || qos.durability > TACHO_TRANSIENT_LOCAL || qos.history > TACHO_KEEP_ALL)
    fail("%s: unknown QoS policy: reliability %u, durability %u, history %u; expected 0 or 1 each", topic,
         qos.reliability, qos.durability, qos.history);
  if (qos.history == TACHO_KEEP_LAST && qos.depth == 0) fail("%s: keep last with depth 0; expected at least 1", topic);
  if (topic[0] != '/') fail("topic \"%s\" is not fully qualified; expected \"/%s\"", topic, topic);
  return type;
}

int version(char *out, size_t size, char *) {
  std::snprintf(out, size, "inproc %u", TACHO_MIDDLEWARE_ABI);
  return 0;
}

tacho_session *open(const tacho_session_config *config, char *error) {
  return guarded(error, [&] {
    if (*config->transport && std::strcmp(config->transport, transports[0]))
      fail("transport \"%s\" is not known; expected \"%s\"", config->transport, transports[0]);
    if (*config->address)
      fail("an address (%s) was given, but messages never leave this process; expected \"\"", config->address);
    tacho_session *session = new tacho_session;
    session->domain = config->domain;
    return session;
  });
}

void close(tacho_session *session) {
  {
    std::lock_guard<std::mutex> lock(registry);
    for (auto &subscription : session->subscriptions) {
      Topic &topic = topics[subscription->key];
      const SharedQueue &queue = subscription->queue;
      for (tacho_publisher *publisher : topic.publishers) {
        std::lock_guard<std::mutex> hold(publisher->mutex);
        auto &queues = publisher->queues;
        queues.erase(std::remove(queues.begin(), queues.end(), queue), queues.end());
      }
      topic.queues.erase(std::remove(topic.queues.begin(), topic.queues.end(), queue), topic.queues.end());
      std::lock_guard<std::mutex> wait(queue->notifying);
      queue->on_data = nullptr;
    }
    for (auto &publisher : session->publishers) {
      auto &publishers = topics[publisher->key].publishers;
      publishers.erase(std::remove(publishers.begin(), publishers.end(), publisher.get()), publishers.end());
    }
    for (auto topic = topics.begin(); topic != topics.end();)
      topic = topic->second.publishers.empty() && topic->second.queues.empty() ? topics.erase(topic) : std::next(topic);
  }
  delete session;
}

int node(tacho_session *session, const char *name, const void **handle, int *traced, char *error) {
  return guarded(error, [&] {
    std::lock_guard<std::mutex> lock(session->mutex);
    *handle = &session->nodes.add(name);
    *traced = 0;
    return 0;
  });
}

tacho_publisher *advertise(tacho_session *session, const tacho_endpoint_config *config, const void **handle,
                           char *error) {
  return guarded(error, [&]() -> tacho_publisher * {
    std::lock_guard<std::mutex> hold(session->mutex);
    auto made = std::make_unique<tacho_publisher>();
    made->type = acceptable(*session, *config);
    made->key = {session->domain, config->topic};
    made->qos = config->qos;
    made->size = config->size;
    tacho_publisher *publisher = made.get();
    session->publishers.push_back(std::move(made));
    std::lock_guard<std::mutex> lock(registry);
    Topic &topic = topics[publisher->key];
    topic.publishers.push_back(publisher);
    for (const SharedQueue &queue : topic.queues) match(*publisher, queue);
    *handle = publisher;
    return publisher;
  });
}

tacho_subscription *subscribe(tacho_session *session, const tacho_endpoint_config *config, tacho_on_data on_data,
                              void *context, const void **handle, char *error) {
  return guarded(error, [&]() -> tacho_subscription * {
    std::lock_guard<std::mutex> hold(session->mutex);
    auto made = std::make_unique<tacho_subscription>();
    made->queue = std::make_shared<Queue>();
    made->queue->type = acceptable(*session, *config);
    made->key = {session->domain, config->topic};
    made->queue->qos = config->qos;
    made->queue->on_data = on_data;
    made->queue->context = context;
    tacho_subscription *subscription = made.get();
    session->subscriptions.push_back(std::move(made));
    std::lock_guard<std::mutex> lock(registry);
    Topic &topic = topics[subscription->key];
    topic.queues.push_back(subscription->queue);
    for (tacho_publisher *publisher : topic.publishers) match(*publisher, subscription->queue);
    *handle = subscription;
    return subscription;
  });
}

int publisher_matched(tacho_publisher *publisher, char *) {
  std::lock_guard<std::mutex> lock(publisher->mutex);
  return static_cast<int>(publisher->queues.size());
}

int subscription_matched(tacho_subscription *subscription, char *) {
  std::lock_guard<std::mutex> lock(registry);
  const auto topic = topics.find(subscription->key);
  return static_cast<int>(std::count_if(topic->second.publishers.begin(), topic->second.publishers.end(),
                                        [&](tacho_publisher *p) { return compatible(*p, *subscription->queue); }));
}

void *borrow(tacho_publisher *publisher, int *kept, const void **message, char *error) {
  return guarded(error, [&]() -> void * {
    if (!publisher->borrowed) {
      for (const Shared &buffer : publisher->pool)
        if (buffer.use_count() == 1) {
          // use_count is a relaxed load: this pairs with the release of the last reader's reference.
          std::atomic_thread_fence(std::memory_order_acquire);
          publisher->borrowed = buffer;
          break;
        }
      if (!publisher->borrowed) {
        auto buffer = std::make_shared<Buffer>();
        // One byte more, so that an empty message has an address, too.
        buffer->data.resize(publisher->size + 1);
        publisher->pool.push_back(buffer);
        publisher->borrowed = buffer;
      }
    }
    *kept = publisher->borrowed->filled;
    publisher->borrowed->filled = true;
    *message = publisher->borrowed.get();
    return publisher->borrowed->data.data();
  });
}

int publish(tacho_publisher *publisher, const tacho_header *header, char *error) {
  return guarded(error, [&] {
    if (!publisher->borrowed) fail("publish on %s without a borrowed buffer", publisher->key.second.c_str());
    const Shared buffer = std::move(publisher->borrowed);
    publisher->borrowed.reset();
    buffer->header = *header;
    std::lock_guard<std::mutex> lock(publisher->mutex);
    if (publisher->qos.durability == TACHO_TRANSIENT_LOCAL) {
      publisher->history.push_back(buffer);
      if (publisher->qos.history == TACHO_KEEP_LAST && publisher->history.size() > publisher->qos.depth)
        publisher->history.pop_front();
    }
    for (const SharedQueue &queue : publisher->queues) queue->put(buffer);
    return 0;
  });
}

int take(tacho_subscription *subscription, tacho_message *message, char *error) {
  return guarded(error, [&] {
    if (subscription->lent) fail("%s: take before the last message was given back", subscription->key.second.c_str());
    Queue &queue = *subscription->queue;
    {
      std::lock_guard<std::mutex> lock(queue.mutex);
      if (queue.messages.empty()) return 0;
      subscription->lent = std::move(queue.messages.front());
      queue.messages.pop_front();
    }
    const Buffer &buffer = *subscription->lent;
    message->header = buffer.header;
    message->data = buffer.data.data();
    message->size = buffer.data.size() - 1;
    message->loan = subscription->lent.get();
    return 1;
  });
}

void give_back(tacho_subscription *subscription, tacho_message *message) {
  subscription->lent.reset();
  message->loan = nullptr;
}

const struct tacho_middleware middleware = {TACHO_MIDDLEWARE_ABI,
                                            "inproc",
                                            transports,
                                            types,
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

extern "C" __attribute__((visibility("default"))) const struct tacho_middleware *tacho_middleware(void) {
  return &middleware;
}
