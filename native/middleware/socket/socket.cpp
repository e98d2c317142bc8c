// SPDX-License-Identifier: Apache-2.0
//
// The socket plugin: raw UDP and TCP, over 127.0.0.1 or the interface of an address, which is the lower bound for every
// middleware that uses the network. Nothing is serialised: a frame is the header and the bytes after it. Message types
// are names for byte arrays of the requested size.
//
// A subscription without on_data has no thread: the thread that takes reads the socket, as in a plain program. Until
// then messages wait in the kernel's buffers; over TCP, a reliable publisher waits when they are full.
//
// UDP loses what does not fit into the receiving socket's buffer, so it offers only best effort.
#include <arpa/inet.h>
#include <sys/utsname.h>

#include <atomic>
#include <cstring>
#include <seam/nodes.hpp>

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

constexpr int OWN = 0;  // the peer number of endpoints of the same session

}  // namespace

// A subscription to which a publisher sends from now on, or a peer whose subscriptions have gone.
struct Change {
  int peer;
  bool is_gone;
  in_addr address;
  uint16_t port;
};

struct tacho_publisher {
  // Every message needs these, so they lie together.
  unsigned char *header = nullptr;  // in the frame
  std::unique_ptr<Sender> sender;   // of the one thread that uses the publisher
  std::atomic<bool> changed{false};
  bool filled = false;

  BufferPointer frame;
  Endpoint endpoint;
  std::mutex mutex;  // of what follows; taken after the session's
  std::vector<Change> changes;
};

struct tacho_subscription {
  tacho_session *session;
  Endpoint endpoint;
  std::unique_ptr<Queue> queue;
  std::unique_ptr<Poller> poller;  // of its connections; absent if the session's thread reads, and with UDP
  std::unique_ptr<Source> source;
  BlockingSource *blocking = nullptr;  // source, of UDP
  bool notified;
  BufferPointer lent;
};

struct tacho_session : Rendezvous::Listener {
  tacho_session(bool tcp, in_addr address, const std::string &domain)
      : tcp(tcp), address(address), rendezvous(new Rendezvous(domain, *this)) {}
  ~tacho_session() override {
    // Both threads end before the objects that they use.
    rendezvous.reset();
    receiver.reset();
  }

  void found(int peer, const Endpoint &endpoint) override;
  void lost(int peer) override;

  const bool tcp;
  const in_addr address;  // that it sends from and receives at
  std::mutex mutex;       // of what follows
  seam::Nodes<> nodes;
  std::vector<std::unique_ptr<tacho_publisher>> publishers;
  std::vector<std::unique_ptr<tacho_subscription>> subscriptions;
  std::multimap<int, Endpoint> others;  // by peer
  std::unique_ptr<Receiver> receiver;   // from the first subscription with on_data on
  std::unique_ptr<Rendezvous> rendezvous;
};

namespace {

// DDS 1.4, 2.2.3: a publisher must offer at least what is requested; the types must be equal, and the sizes must fit.
bool compatible(const Endpoint &publisher, const Endpoint &subscription) {
  return publisher.topic == subscription.topic && publisher.type == subscription.type &&
         publisher.qos.reliability >= subscription.qos.reliability && publisher.size <= subscription.size;
}

void tell(tacho_publisher &publisher, const Change &change) {
  std::lock_guard<std::mutex> lock(publisher.mutex);
  publisher.changes.push_back(change);
  publisher.changed.store(true, std::memory_order_release);
}

void match(tacho_publisher &publisher, int peer, const Endpoint &endpoint) {
  if (endpoint.kind != Endpoint::Subscription || !compatible(publisher.endpoint, endpoint)) return;
  tell(publisher, {peer, false, endpoint.address, endpoint.port});
}

// Applies changes on the thread that publishes, so that a message needs no lock.
void take_changes(tacho_publisher &publisher) {
  if (!publisher.changed.load(std::memory_order_acquire)) return;
  std::vector<Change> changes;
  {
    std::lock_guard<std::mutex> lock(publisher.mutex);
    changes.swap(publisher.changes);
    publisher.changed.store(false, std::memory_order_relaxed);
  }
  for (const Change &change : changes) try {
      if (change.is_gone)
        publisher.sender->remove(change.peer);
      else
        publisher.sender->add(change.peer, change.address, change.port);
    } catch (const std::exception &error) {  // it stays unmatched, which the caller sees; this prints the reason
      std::fprintf(stderr, "%s\n", error.what());
    }
}

}  // namespace

void tacho_session::found(int peer, const Endpoint &endpoint) {
  std::lock_guard<std::mutex> lock(mutex);
  others.emplace(peer, endpoint);
  for (auto &publisher : publishers) match(*publisher, peer, endpoint);
}

void tacho_session::lost(int peer) {
  std::lock_guard<std::mutex> lock(mutex);
  others.erase(peer);
  for (auto &publisher : publishers) tell(*publisher, {peer, true, {}, 0});
}

namespace {

constexpr seam::Guard guarded{"socket"};

int version(char *out, size_t size, char *error) {
  utsname kernel;
  if (uname(&kernel) != 0) {
    std::snprintf(error, TACHO_ERROR_SIZE, "socket: uname: %s", std::strerror(errno));
    return -1;
  }
  std::snprintf(out, size, "sockets of %s %s", kernel.sysname, kernel.release);
  return 0;
}

in_addr own_address(const char *text) {
  in_addr address{htonl(INADDR_LOOPBACK)};
  if (!*text) return address;
  if (inet_pton(AF_INET, text, &address) != 1)
    fail("socket: \"%s\" is no IPv4 address; expected one of an interface of this host, such as 192.168.1.2", text);
  const Descriptor probe(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const sockaddr_in here{AF_INET, 0, address, {}};
  if (probe < 0 || bind(probe, reinterpret_cast<const sockaddr *>(&here), sizeof here) != 0)
    fail("socket: address %s: %m; expected the IPv4 address of an interface of this host (ip address)", text);
  return address;
}

tacho_session *open(const tacho_session_config *config, char *error) {
  return guarded(error, [&] {
    const char *transport = *config->transport ? config->transport : transports[0];
    if (!listed(transports, transport))
      fail("socket: transport \"%s\" is not known; expected \"udp\" or \"tcp\"", transport);
    // Sessions that stay on this machine do not match those that do not.
    const char *const reach = *config->address ? "-network" : "";
    return new tacho_session(!std::strcmp(transport, "tcp"), own_address(config->address),
                             std::to_string(config->domain) + "." + transport + reach);
  });
}

void close(tacho_session *session) { delete session; }

int node(tacho_session *session, const char *name, const void **handle, int *traced, char *error) {
  return guarded(error, [&] {
    std::lock_guard<std::mutex> lock(session->mutex);
    *handle = &session->nodes.add(name);
    *traced = 0;
    return 0;
  });
}

Endpoint acceptable(const tacho_session &session, const tacho_endpoint_config &config, Endpoint::Kind kind) {
  const tacho_qos &qos = config.qos;
  const char *topic = config.topic;
  session.nodes.of(config);
  const char *type = *config.type ? config.type : types[0];
  if (!listed(types, type))
    fail(
        "socket: %s: message type \"%s\" is not known; expected Bytes, PointCloud2, PointCloud1m, Image or "
        "TwistStamped",
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
  return {kind, qos, config.size, session.address, 0, topic, type};
}

tacho_publisher *advertise(tacho_session *session, const tacho_endpoint_config *config, const void **handle,
                           char *error) {
  return guarded(error, [&] {
    std::lock_guard<std::mutex> lock(session->mutex);
    auto made = std::make_unique<tacho_publisher>();
    made->endpoint = acceptable(*session, *config, Endpoint::Publisher);
    made->frame = std::make_unique<Buffer>(FRAME_HEADER + config->size);
    made->frame->size = made->frame->capacity;
    made->header = made->frame->frame();
    std::memset(made->header, 0, made->frame->size);
    made->sender = session->tcp ? tcp_sender(session->address, *made->frame, config->qos.reliability == TACHO_RELIABLE)
                                : udp_sender(session->address, *made->frame);
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
    made->notified = on_data != nullptr;
    if (made->notified && !session->receiver) session->receiver = std::make_unique<Receiver>();
    if (!made->notified && session->tcp) made->poller = std::make_unique<Poller>();
    Poller *const poller = made->notified ? &session->receiver->poller() : made->poller.get();
    if (session->tcp) {
      made->source = tcp_source(*made->queue, *poller, session->address, &made->endpoint.port);
    } else {
      auto source = udp_source(*made->queue, session->address, &made->endpoint.port);
      made->blocking = source.get();
      made->source = std::move(source);
    }
    if (poller) poller->add(*made->source);
    tacho_subscription *subscription = made.get();
    session->subscriptions.push_back(std::move(made));
    for (auto &publisher : session->publishers) match(*publisher, OWN, subscription->endpoint);
    session->rendezvous->announce(subscription->endpoint);
    *handle = subscription;
    return subscription;
  });
}

int publisher_matched(tacho_publisher *publisher, char *) {
  take_changes(*publisher);
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
  static unsigned char nothing;  // of an empty message
  *kept = publisher->filled;
  publisher->filled = true;
  *message = publisher->frame->frame();
  return publisher->endpoint.size ? publisher->frame->frame() + FRAME_HEADER : &nothing;
}

ON_THE_WAY int publish(tacho_publisher *publisher, const tacho_header *header, char *error) {
  return guarded(error, [&] {
    std::memcpy(publisher->header, header, sizeof *header);
    take_changes(*publisher);
    try {
      publisher->sender->send();
    } catch (const Refused &refused) {
      std::snprintf(error, TACHO_ERROR_SIZE, "%s", refused.what());
      return -refused.number;
    }
    return 0;
  });
}

void check_not_notified(const tacho_subscription &subscription) {
  if (subscription.notified)
    fail("socket: %s: a subscription with on_data is read by a thread; expected one without",
         subscription.endpoint.topic.c_str());
}

void check_nothing_lent(const tacho_subscription &subscription) {
  if (subscription.lent)
    fail("socket: %s: take before the last message was given back", subscription.endpoint.topic.c_str());
}

ON_THE_WAY tacho_message message_in(const Buffer &buffer) {
  tacho_message message;
  std::memcpy(&message.header, buffer.frame(), sizeof message.header);
  message.data = buffer.frame() + FRAME_HEADER;
  message.size = buffer.size - FRAME_HEADER;
  message.loan = const_cast<Buffer *>(&buffer);
  return message;
}

int take(tacho_subscription *subscription, tacho_message *message, char *error) {
  return guarded(error, [&] {
    check_nothing_lent(*subscription);
    // Takes everything that came: keep last keeps the newest messages, which the kernel's buffer would not.
    if (subscription->poller)
      while (subscription->poller->wait(0)) {
      }
    else if (!subscription->notified)
      while (subscription->source->ready()) {
      }
    subscription->lent = subscription->queue->take();
    if (!subscription->lent) return 0;
    *message = message_in(*subscription->lent);
    return 1;
  });
}

void give_back(tacho_subscription *subscription, tacho_message *message) {
  if (subscription->lent) subscription->queue->recycle(std::move(subscription->lent));
  message->loan = nullptr;
}

int descriptor(tacho_subscription *subscription, char *error) {
  return guarded(error, [&] {
    check_not_notified(*subscription);
    return subscription->poller ? subscription->poller->descriptor() : subscription->source->descriptor();
  });
}

const struct tacho_middleware middleware = {TACHO_MIDDLEWARE_ABI,
                                            "socket",
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
                                            descriptor};

// Waits once, for at most this time; counts a message that came, or was there, in its result.
ON_THE_WAY const Buffer *wait_once(tacho_subscription &subscription, std::chrono::nanoseconds limit, bool is_limited) {
  using namespace std::chrono;
  if ((subscription.lent = subscription.queue->take())) return subscription.lent.get();
  if (subscription.blocking)
    return subscription.blocking->receive(is_limited ? ceil<microseconds>(limit) : BlockingSource::NO_LIMIT);
  subscription.poller->wait(is_limited ? static_cast<int>(ceil<milliseconds>(limit).count()) : -1);
  subscription.lent = subscription.queue->take();
  return subscription.lent.get();
}

}  // namespace

extern "C" __attribute__((visibility("default"))) ON_THE_WAY int tacho_call_within(tacho_subscription *subscription,
                                                                                   int64_t limit_ns,
                                                                                   tacho_on_message on_message,
                                                                                   void *context, char *error) {
  using namespace std::chrono;
  return guarded(error, [&] {
    check_not_notified(*subscription);
    check_nothing_lent(*subscription);
    const bool is_limited = limit_ns != INT64_MAX;
    const auto until = is_limited ? steady_clock::now() + nanoseconds(limit_ns) : steady_clock::time_point::max();
    nanoseconds left(limit_ns);
    do {
      if (const Buffer *buffer = wait_once(*subscription, left, is_limited)) {
        tacho_message message = message_in(*buffer);
        on_message(context, &message);
        give_back(subscription, &message);
        return 1;
      }
      if (is_limited) left = until - steady_clock::now();
    } while (is_limited && left.count() > 0);
    return 0;
  });
}

extern "C" __attribute__((visibility("default"))) void tacho_wake(tacho_subscription *subscription) {
  if (subscription->blocking)
    subscription->blocking->wake();
  else
    subscription->poller->wake();
}

extern "C" __attribute__((visibility("default"))) const struct tacho_middleware *tacho_middleware(void) {
  return &middleware;
}
