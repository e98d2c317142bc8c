// SPDX-License-Identifier: Apache-2.0
//
// The socket plugin: raw UDP and TCP over 127.0.0.1, the floor under every middleware that uses the network. Nothing is
// serialised: a frame is the header and the bytes behind it. Message types are names for byte arrays of the asked size.
//
// UDP loses what does not fit into the receiving socket's buffer, so only best effort is offered there.
#include <sys/utsname.h>

#include <cstring>
#include <type_traits>

#include "failure.h"
#include "receive.h"
#include "rendezvous.h"
#include "send.h"
#include "wire.h"

namespace {

const char *const transports[] = {"udp", "tcp", nullptr};
const char *const types[] = {"Bytes", "PointCloud2", "PointCloud1m", "Image", "TwistStamped", nullptr};

template <size_t N>
bool listed(const char *const (&list)[N], const char *name) {
  for (const char *entry : list)
    if (entry && !std::strcmp(entry, name)) return true;
  return false;
}

constexpr int OWN = 0; // the peer number of endpoints of the same session

}  // namespace

struct tacho_publisher {
  Endpoint endpoint;
  std::vector<unsigned char> frame;
  bool filled = false;
  std::mutex mutex; // of the sender; taken after the session's
  std::unique_ptr<Sender> sender;
};

struct tacho_subscription {
  tacho_session *session;
  Endpoint endpoint;
  std::unique_ptr<Queue> queue;
  std::unique_ptr<Source> source;
  BufferPointer lent;
};

struct tacho_session : Rendezvous::Listener {
  tacho_session(bool tcp, const std::string &domain) : tcp(tcp), rendezvous(new Rendezvous(domain, *this)) {}
  ~tacho_session() override {
    // Both threads end before what they look at.
    rendezvous.reset();
    receiver.reset();
  }

  void found(int peer, const Endpoint &endpoint) override;
  void lost(int peer) override;

  const bool tcp;
  std::mutex mutex; // of what follows
  std::map<std::string, std::unique_ptr<char>> nodes; // the address is the handle
  std::vector<std::unique_ptr<tacho_publisher>> publishers;
  std::vector<std::unique_ptr<tacho_subscription>> subscriptions;
  std::multimap<int, Endpoint> others; // by peer
  std::unique_ptr<Receiver> receiver;  // from the first subscription on
  std::unique_ptr<Rendezvous> rendezvous;
};

namespace {

// DDS 1.4, 2.2.3: what is offered must be at least what is requested; and the type must be the same, and fit.
bool compatible(const Endpoint &publisher, const Endpoint &subscription) {
  return publisher.topic == subscription.topic && publisher.type == subscription.type &&
         publisher.qos.reliability >= subscription.qos.reliability && publisher.size <= subscription.size;
}

void match(tacho_publisher &publisher, int peer, const Endpoint &endpoint) {
  if (endpoint.kind != Endpoint::Subscription || !compatible(publisher.endpoint, endpoint)) return;
  std::lock_guard<std::mutex> lock(publisher.mutex);
  publisher.sender->add(peer, endpoint.port);
}

}  // namespace

void tacho_session::found(int peer, const Endpoint &endpoint) {
  std::lock_guard<std::mutex> lock(mutex);
  others.emplace(peer, endpoint);
  for (auto &publisher : publishers) try {
      match(*publisher, peer, endpoint);
    } catch (const std::exception &error) { // it stays unmatched, which the caller sees; here is why
      std::fprintf(stderr, "%s\n", error.what());
    }
}

void tacho_session::lost(int peer) {
  std::lock_guard<std::mutex> lock(mutex);
  others.erase(peer);
  for (auto &publisher : publishers) {
    std::lock_guard<std::mutex> hold(publisher->mutex);
    publisher->sender->remove(peer);
  }
}

namespace {

// No exception may leave a C function.
template <class Function>
auto guarded(char *error, Function function) -> decltype(function()) {
  try {
    return function();
  } catch (const std::bad_alloc &) {
    std::snprintf(error, TACHO_ERROR_SIZE, "socket: no memory");
  } catch (const std::exception &failure) {
    std::snprintf(error, TACHO_ERROR_SIZE, "%s", failure.what());
  }
  if constexpr (std::is_pointer_v<decltype(function())>) return nullptr;
  else return -1;
}

int version(char *out, size_t size, char *error) {
  utsname kernel;
  if (uname(&kernel) != 0) {
    std::snprintf(error, TACHO_ERROR_SIZE, "socket: uname: %s", std::strerror(errno));
    return -1;
  }
  std::snprintf(out, size, "sockets of %s %s", kernel.sysname, kernel.release);
  return 0;
}

tacho_session *open(const tacho_session_config *config, char *error) {
  return guarded(error, [&] {
    const char *transport = *config->transport ? config->transport : transports[0];
    if (!listed(transports, transport))
      fail("socket: transport \"%s\" is not known; expected \"udp\" or \"tcp\"", transport);
    return new tacho_session(!std::strcmp(transport, "tcp"), std::to_string(config->domain) + "." + transport);
  });
}

void close(tacho_session *session) { delete session; }

int node(tacho_session *session, const char *name, const void **handle, int *traced, char *error) {
  return guarded(error, [&] {
    std::lock_guard<std::mutex> lock(session->mutex);
    auto added = session->nodes.emplace(name, std::make_unique<char>());
    if (!added.second) fail("socket: this session already has a node \"%s\"", name);
    *handle = added.first->second.get();
    *traced = 0;
    return 0;
  });
}

Endpoint acceptable(const tacho_session &session, const tacho_endpoint_config &config, Endpoint::Kind kind) {
  const tacho_qos &qos = config.qos;
  const char *topic = config.topic;
  if (!session.nodes.count(config.node)) fail("socket: %s: this session has no node \"%s\"", topic, config.node);
  const char *type = *config.type ? config.type : types[0];
  if (!listed(types, type))
    fail("socket: %s: message type \"%s\" is not known; expected Bytes, PointCloud2, PointCloud1m, Image or TwistStamped",
         topic, type);
  if (qos.reliability > TACHO_RELIABLE || qos.durability > TACHO_TRANSIENT_LOCAL || qos.history > TACHO_KEEP_ALL)
    fail("socket: %s: unknown QoS policy: reliability %u, durability %u, history %u; expected 0 or 1 each", topic,
         qos.reliability, qos.durability, qos.history);
  if (qos.durability == TACHO_TRANSIENT_LOCAL)
    fail("socket: %s: transient local: sockets keep nothing for those that come later; expected volatile", topic);
  if (qos.reliability == TACHO_RELIABLE && !session.tcp)
    fail("socket: %s: reliable: UDP sends nothing again; expected best effort, or transport \"tcp\"", topic);
  if (qos.history == TACHO_KEEP_LAST && qos.depth == 0)
    fail("socket: %s: keep last with depth 0; expected at least 1", topic);
  if (topic[0] != '/') fail("socket: topic \"%s\" is not fully qualified; expected \"/%s\"", topic, topic);
  if (config.size > MAX_DATA) fail("socket: %s: %zu bytes; expected at most %zu", topic, config.size, MAX_DATA);
  return {kind, qos, config.size, 0, topic, type};
}

tacho_publisher *advertise(tacho_session *session, const tacho_endpoint_config *config, const void **handle,
                           char *error) {
  return guarded(error, [&] {
    std::lock_guard<std::mutex> lock(session->mutex);
    auto made = std::make_unique<tacho_publisher>();
    made->endpoint = acceptable(*session, *config, Endpoint::Publisher);
    made->frame.resize(FRAME_HEADER + config->size);
    made->sender = session->tcp
                       ? tcp_sender(made->frame.data(), made->frame.size(), config->qos.reliability == TACHO_RELIABLE)
                       : udp_sender(made->frame.data(), made->frame.size());
    for (const auto &[peer, endpoint] : session->others) match(*made, peer, endpoint);
    for (const auto &subscription : session->subscriptions) match(*made, OWN, subscription->endpoint);
    tacho_publisher *publisher = made.get();
    session->publishers.push_back(std::move(made));
    session->rendezvous->announce(publisher->endpoint);
    *handle = publisher;
    return publisher;
  });
}

tacho_subscription *subscribe(tacho_session *session, const tacho_endpoint_config *config, tacho_on_data on_data,
                              void *context, const void **handle, char *error) {
  return guarded(error, [&] {
    std::lock_guard<std::mutex> lock(session->mutex);
    auto made = std::make_unique<tacho_subscription>();
    made->session = session;
    made->endpoint = acceptable(*session, *config, Endpoint::Subscription);
    made->queue = std::make_unique<Queue>(FRAME_HEADER + config->size, config->qos, on_data, context);
    if (!session->receiver) session->receiver = std::make_unique<Receiver>();
    made->source = session->tcp ? tcp_source(*made->queue, *session->receiver, &made->endpoint.port)
                                : udp_source(*made->queue, &made->endpoint.port);
    session->receiver->add(*made->source);
    tacho_subscription *subscription = made.get();
    session->subscriptions.push_back(std::move(made));
    for (auto &publisher : session->publishers) match(*publisher, OWN, subscription->endpoint);
    session->rendezvous->announce(subscription->endpoint);
    *handle = subscription;
    return subscription;
  });
}

int publisher_matched(tacho_publisher *publisher, char *) {
  std::lock_guard<std::mutex> lock(publisher->mutex);
  return publisher->sender->matched();
}

int subscription_matched(tacho_subscription *subscription, char *) {
  const tacho_session &session = *subscription->session;
  std::lock_guard<std::mutex> lock(subscription->session->mutex);
  int count = 0;
  for (const auto &[peer, endpoint] : session.others)
    count += endpoint.kind == Endpoint::Publisher && compatible(endpoint, subscription->endpoint);
  for (const auto &publisher : session.publishers) count += compatible(publisher->endpoint, subscription->endpoint);
  return count;
}

void *borrow(tacho_publisher *publisher, int *kept, const void **message, char *) {
  static unsigned char nothing; // of an empty message
  *kept = publisher->filled;
  publisher->filled = true;
  *message = publisher->frame.data();
  return publisher->endpoint.size ? publisher->frame.data() + FRAME_HEADER : &nothing;
}

int publish(tacho_publisher *publisher, const tacho_header *header, char *error) {
  return guarded(error, [&] {
    std::memcpy(publisher->frame.data(), header, sizeof *header);
    std::lock_guard<std::mutex> lock(publisher->mutex);
    publisher->sender->send();
    return 0;
  });
}

int take(tacho_subscription *subscription, tacho_message *message, char *error) {
  return guarded(error, [&] {
    if (subscription->lent)
      fail("socket: %s: take before the last message was given back", subscription->endpoint.topic.c_str());
    BufferPointer buffer = subscription->queue->take();
    if (!buffer) return 0;
    std::memcpy(&message->header, buffer->bytes.get(), sizeof message->header);
    message->data = buffer->bytes.get() + FRAME_HEADER;
    message->size = buffer->size - FRAME_HEADER;
    message->loan = buffer.get();
    subscription->lent = std::move(buffer);
    return 1;
  });
}

void give_back(tacho_subscription *subscription, tacho_message *message) {
  if (subscription->lent) subscription->queue->recycle(std::move(subscription->lent));
  message->loan = nullptr;
}

const struct tacho_middleware middleware = {TACHO_MIDDLEWARE_ABI, "socket", transports, types, version, open, close, node,
                                            advertise, subscribe, publisher_matched, subscription_matched, borrow, publish,
                                            take, give_back};

}  // namespace

extern "C" __attribute__((visibility("default"))) const struct tacho_middleware *tacho_middleware(void) {
  return &middleware;
}
