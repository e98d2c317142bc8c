// SPDX-License-Identifier: Apache-2.0
// tacho-micro as a middleware plugin: what a node on a microcontroller does, as a process at the speed of this machine (study C).
//
// A node has one participant for its publishers and one for its subscriptions, because a participant of tacho-micro
// does not receive its own messages. Messages are std_msgs/msg/UInt8MultiArray. The code of the microcontroller writes
// and reads them, so ROS 2 nodes receive them.
#include <arpa/inet.h>
#include <tacho/middleware.h>

#include <cstdio>
#include <cstring>
#include <deque>
#include <memory>
#include <seam/nodes.hpp>

#include "participant.h"

namespace {

const char *const transports[] = {"udp", nullptr};
const char *const types[] = {"Bytes", nullptr};
const micro_type bytes_type = {"std_msgs::msg::dds_::UInt8MultiArray_",
                               "RIHS01_5687e861b8d307a5e48b7515467ae7a5fc2daf805bd0ce6d8e9e604bade9f385"};
// Body of a UInt8MultiArray: no dimensions, data_offset, length of data; then data, the header first.
constexpr uint32_t BODY_HEAD = 12, HEADER = sizeof(tacho_header);
static_assert(HEADER == 24, "the header has no padding");
constexpr uint32_t FRAGMENT = 1344, ENCAPSULATION = 4;  // micro/src/writer.c
constexpr size_t LARGEST = size_t{MICRO_FRAGMENTS} * FRAGMENT - ENCAPSULATION - BODY_HEAD - HEADER;
constexpr uint32_t HIGHEST_DOMAIN = 230;
constexpr uint32_t DEEPEST = 1000;

using seam::fail;
constexpr seam::Guard guarded{"micro"};

struct Node {
  std::unique_ptr<Participant> writers, readers;
};

struct Message {
  tacho_header header;
  std::vector<uint8_t> data;
};

}  // namespace

struct tacho_publisher {
  Participant *participant;
  unsigned row;
  std::vector<uint8_t> data;
  bool filled = false;
};

struct tacho_subscription {
  Participant *participant = nullptr;
  unsigned row = 0;
  size_t depth = 0, size = 0;
  tacho_on_data on_data = nullptr;
  void *context = nullptr;
  std::mutex mutex;  // of the queue
  std::deque<Message> queue;
  std::vector<std::vector<uint8_t>> spare;
  Message out;

  void take_in(const micro_message &message);
};

struct tacho_session {
  uint8_t domain;
  uint32_t address;
  seam::Nodes<Node> nodes;
  // After the nodes, because participants call into subscriptions until they are gone; so `close` ends the participants
  // first.
  std::vector<std::unique_ptr<tacho_publisher>> publishers;
  std::vector<std::unique_ptr<tacho_subscription>> subscriptions;
  std::mutex mutex;
};

// KEEP_LAST: the oldest one is dropped. A message of another shape is not one of ours.
void tacho_subscription::take_in(const micro_message &message) {
  cdr_reader cdr = message.cdr;
  uint32_t head[3] = {};
  participant->cdr_read(&cdr, head, 4, 3);
  if (cdr.bad || head[0] != 0 || head[2] < HEADER || head[2] > cdr.size - cdr.at || head[2] - HEADER > size) return;
  const uint8_t *at = cdr.body + cdr.at;
  Message kept;
  std::memcpy(&kept.header, at, HEADER);
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (queue.size() == depth) {
      spare.push_back(std::move(queue.front().data));
      queue.pop_front();
    }
    if (!spare.empty()) {
      kept.data = std::move(spare.back());
      spare.pop_back();
    }
    kept.data.assign(at + HEADER, at + head[2]);
    queue.push_back(std::move(kept));
  }
  if (on_data) on_data(context);
}

namespace {

int version(char *out, size_t size, char *) {
  snprintf(out, size, "tacho-micro RTPS 2.3");
  return 0;
}

tacho_session *open(const tacho_session_config *config, char *error) {
  return guarded(error, [&] {
    if (*config->transport && std::strcmp(config->transport, transports[0]))
      fail("transport \"%s\" is not known; expected \"udp\"", config->transport);
    if (config->domain > HIGHEST_DOMAIN)
      fail("domain %u is too high; expected 0 to %u", config->domain, HIGHEST_DOMAIN);
    in_addr address = {htonl(INADDR_LOOPBACK)};
    if (*config->address && inet_pton(AF_INET, config->address, &address) != 1)
      fail("address \"%s\": expected the IPv4 address of an interface", config->address);
    auto session = std::make_unique<tacho_session>();
    session->domain = static_cast<uint8_t>(config->domain);
    session->address = ntohl(address.s_addr);
    return session.release();
  });
}

void close(tacho_session *session) {
  session->nodes.clear();
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

// Returns the node of an endpoint, after refusing everything that tacho-micro cannot do.
Node &checked(tacho_session *session, const tacho_endpoint_config *config) {
  Node &node = session->nodes.of(*config);
  if (*config->type && std::strcmp(config->type, types[0]))
    fail("type \"%s\" on %s is not known; expected \"Bytes\"", config->type, config->topic);
  if (config->topic[0] != '/') fail("topic \"%s\": expected a fully qualified one, such as /chatter", config->topic);
  if (config->size > LARGEST) fail("%zu bytes on %s; expected at most %zu", config->size, config->topic, LARGEST);
  if (config->qos.reliability > TACHO_RELIABLE || config->qos.durability > TACHO_TRANSIENT_LOCAL ||
      config->qos.history > TACHO_KEEP_ALL)
    fail("QoS %u, %u, %u on %s: expected values of middleware.h", config->qos.reliability, config->qos.durability,
         config->qos.history, config->topic);
  if (config->qos.history == TACHO_KEEP_ALL)
    fail("history keep_all on %s: memory of tacho-micro is set aside beforehand; expected keep_last", config->topic);
  if (config->qos.depth < 1 || config->qos.depth > DEEPEST)
    fail("depth %u on %s; expected 1 to %u", config->qos.depth, config->topic, DEEPEST);
  if (config->qos.durability == TACHO_TRANSIENT_LOCAL && config->qos.reliability != TACHO_RELIABLE)
    fail("transient local and best effort on %s; expected transient local with reliable alone", config->topic);
  return node;
}

Participant &made(std::unique_ptr<Participant> &participant, tacho_session *session, const char *name) {
  if (!participant) participant = std::make_unique<Participant>(name, session->domain, session->address);
  return *participant;
}

uint8_t qos_of(const tacho_qos &qos) {
  return static_cast<uint8_t>((qos.reliability == TACHO_RELIABLE ? MICRO_RELIABLE : 0) |
                              (qos.durability == TACHO_TRANSIENT_LOCAL ? MICRO_TRANSIENT_LOCAL : 0));
}

uint32_t body_size(size_t size) { return BODY_HEAD + HEADER + static_cast<uint32_t>(size); }

tacho_publisher *advertise(tacho_session *session, const tacho_endpoint_config *config, const void **handle,
                           char *error) {
  return guarded(error, [&] {
    std::lock_guard<std::mutex> lock(session->mutex);
    Participant &participant = made(checked(session, config).writers, session, config->node);
    auto publisher = std::make_unique<tacho_publisher>();
    publisher->participant = &participant;
    publisher->data.resize(config->size);
    publisher->row =
        participant.add_writer(std::string(MICRO_TOPIC("")) + config->topic, bytes_type, qos_of(config->qos),
                               static_cast<uint16_t>(config->qos.depth), body_size(config->size));
    *handle = publisher.get();
    session->publishers.push_back(std::move(publisher));
    return session->publishers.back().get();
  });
}

tacho_subscription *subscribe(tacho_session *session, const tacho_endpoint_config *config, tacho_on_data on_data,
                              void *context, const void **handle, char *error) {
  return guarded(error, [&] {
    std::lock_guard<std::mutex> lock(session->mutex);
    Participant &participant = made(checked(session, config).readers, session, config->node);
    auto owned = std::make_unique<tacho_subscription>();
    tacho_subscription *subscription = owned.get();
    subscription->participant = &participant;
    subscription->depth = config->qos.depth;
    subscription->size = config->size;
    subscription->on_data = on_data;
    subscription->context = context;
    session->subscriptions.push_back(std::move(owned));
    subscription->row = participant.add_reader(
        std::string(MICRO_TOPIC("")) + config->topic, bytes_type, qos_of(config->qos), body_size(config->size),
        [subscription](const micro_message &message) { subscription->take_in(message); });
    *handle = subscription;
    return subscription;
  });
}

int publisher_matched(tacho_publisher *publisher, char *) {
  return static_cast<int>(publisher->participant->matched(publisher->row));
}

int subscription_matched(tacho_subscription *subscription, char *) {
  return static_cast<int>(subscription->participant->matched(subscription->row));
}

void *borrow(tacho_publisher *publisher, int *kept, const void **message, char *) {
  *kept = publisher->filled;
  publisher->filled = true;
  *message = publisher->data.data() ? publisher->data.data() : reinterpret_cast<uint8_t *>(publisher);
  return const_cast<void *>(*message);
}

int publish(tacho_publisher *publisher, const tacho_header *header, char *error) {
  return guarded(error, [&] {
    const Participant &participant = *publisher->participant;
    const auto size = static_cast<uint32_t>(publisher->data.size());
    const uint32_t head[3] = {0, 0, HEADER + size};
    bool sent = publisher->participant->publish(publisher->row, [&](cdr_writer &cdr) {
      participant.cdr_write(&cdr, head, 4, 3);
      participant.cdr_write(&cdr, header, 1, HEADER);
      participant.cdr_write(&cdr, publisher->data.data(), 1, size);
    });
    if (!sent) fail("a message of %u bytes does not fit", size);
    return 0;
  });
}

int take(tacho_subscription *subscription, tacho_message *message, char *) {
  std::lock_guard<std::mutex> lock(subscription->mutex);
  if (subscription->queue.empty()) return 0;
  subscription->spare.push_back(std::move(subscription->out.data));
  subscription->out = std::move(subscription->queue.front());
  subscription->queue.pop_front();
  *message = {subscription->out.header, subscription->out.data.data(), subscription->out.data.size(),
              subscription->out.data.data()};
  return 1;
}

void give_back(tacho_subscription *, tacho_message *) {}

const struct tacho_middleware middleware = {
    TACHO_MIDDLEWARE_ABI,
    "micro",
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
    nullptr,
};

}  // namespace

extern "C" __attribute__((visibility("default"))) const struct tacho_middleware *tacho_middleware(void) {
  return &middleware;
}
