// SPDX-License-Identifier: Apache-2.0
//
// The fastdds plugin: plain DDS on Fast DDS 3, below the rmw layer. A session is one participant.
//
// Participants have no listener, and must not get one: if a participant with a listener is deleted, Fast DDS 3.2 waits
// for callbacks of its discovery that may themselves wait for the deletion, and so hangs if several processes end at
// once.
#include <tacho/middleware.h>

#include <fastdds/config.hpp>
#include <fastdds/dds/core/LoanableSequence.hpp>
#include <fastdds/dds/domain/DomainParticipant.hpp>
#include <fastdds/dds/domain/DomainParticipantFactory.hpp>
#include <fastdds/dds/publisher/DataWriter.hpp>
#include <fastdds/dds/publisher/Publisher.hpp>
#include <fastdds/dds/publisher/qos/DataWriterQos.hpp>
#include <fastdds/dds/subscriber/DataReader.hpp>
#include <fastdds/dds/subscriber/DataReaderListener.hpp>
#include <fastdds/dds/subscriber/SampleInfo.hpp>
#include <fastdds/dds/subscriber/Subscriber.hpp>
#include <fastdds/dds/subscriber/qos/DataReaderQos.hpp>
#include <fastdds/dds/topic/Topic.hpp>
#include <fastdds/dds/topic/TypeSupport.hpp>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <mutex>
#include <seam/nodes.hpp>
#include <set>
#include <string>
#include <vector>

#include "greeting.h"
#include "transport.h"
#include "types.h"

namespace fast = eprosima::fastdds::dds;
namespace rtps = eprosima::fastdds::rtps;
using fast::ReturnCode_t;

namespace {

using seam::fail;
constexpr seam::Guard guarded{"fastdds"};

const char *words(ReturnCode_t code) {  // DDS 1.4, 2.2.1.1
  static const char *const names[] = {"OK",
                                      "ERROR",
                                      "UNSUPPORTED",
                                      "BAD_PARAMETER",
                                      "PRECONDITION_NOT_MET",
                                      "OUT_OF_RESOURCES",
                                      "NOT_ENABLED",
                                      "IMMUTABLE_POLICY",
                                      "INCONSISTENT_POLICY",
                                      "ALREADY_DELETED",
                                      "TIMEOUT",
                                      "NO_DATA",
                                      "ILLEGAL_OPERATION",
                                      "NOT_ALLOWED_BY_SECURITY"};
  return code >= 0 && code < static_cast<ReturnCode_t>(sizeof names / sizeof *names) ? names[code] : "unknown code";
}

class OnData : public fast::DataReaderListener {
 public:
  OnData(tacho_on_data function, void *context) : function_(function), context_(context) {}
  void on_data_available(fast::DataReader *) override {
    if (function_) function_(context_);
  }

 private:
  const tacho_on_data function_;
  void *const context_;
};

using Loans = fast::LoanableSequence<unsigned char>;  // of Arrays, as their first bytes

}  // namespace

struct tacho_publisher {
  Greeting *greeting = nullptr;  // over TCP
  std::string topic;
  NamedType type;
  size_t size;
  fast::DataWriter *writer = nullptr;
  Message message;  // filled by the caller and published again and again
  bool filled = false;
  void *loan = nullptr;           // of an Array
  std::set<void *> filled_loans;  // Fast DDS lends the same memory again, as it was
};

struct tacho_subscription {
  tacho_subscription(tacho_on_data on_data, void *context) : listener(on_data, context) {}
  Greeting *greeting = nullptr;  // over TCP
  std::string topic;
  NamedType type;
  size_t size;
  OnData listener;
  fast::DataReader *reader = nullptr;
  Message message;  // taken into, lent to the caller
  Loans loans;
  fast::SampleInfoSeq infos;
  bool lent = false;
};

struct tacho_session {
  Transport transport;
  std::mutex mutex;  // of what follows
  fast::DomainParticipant *participant = nullptr;
  fast::Publisher *publisher = nullptr;
  fast::Subscriber *subscriber = nullptr;
  std::unique_ptr<Greeting> greeting;  // over TCP
  seam::Nodes<> nodes;
  std::vector<std::unique_ptr<tacho_publisher>> publishers;
  std::vector<std::unique_ptr<tacho_subscription>> subscriptions;
};

namespace {

int version(char *out, size_t size, char *) {
  std::snprintf(out, size, "Fast DDS %s", FASTDDS_VERSION_STR);
  return 0;
}

// Session

// Inside a process, Fast DDS passes messages on without any transport unless it was told not to before the first
// participant was made. So one process can use either the default, which does so, or one of the others.
void set_intraprocess(bool wanted) {
  fast::DomainParticipantFactory *factory = fast::DomainParticipantFactory::get_instance();
  const auto kind = wanted ? eprosima::fastdds::INTRAPROCESS_FULL : eprosima::fastdds::INTRAPROCESS_OFF;
  eprosima::fastdds::LibrarySettings settings;
  ReturnCode_t code = factory->get_library_settings(settings);
  if (code == fast::RETCODE_OK && settings.intraprocess_delivery == kind) return;
  settings.intraprocess_delivery = kind;
  code = factory->set_library_settings(settings);
  if (code != fast::RETCODE_OK)
    fail("fastdds: the transport cannot be changed between the default and another while sessions are open (%s)",
         words(code));
}

// Closing cannot report a failure to the caller, so what Fast DDS reports is printed.
void closed(ReturnCode_t code, const char *what) {
  if (code != fast::RETCODE_OK) std::fprintf(stderr, "fastdds: %s while closing: %s\n", what, words(code));
}

void give_back(tacho_subscription *subscription, tacho_message *message) {
  if (subscription->type.shape == Shape::Array && subscription->lent)
    closed(subscription->reader->return_loan(subscription->loans, subscription->infos), "return_loan");
  subscription->lent = false;
  if (message) message->loan = nullptr;
}

void close(tacho_session *session) {
  if (session->participant) {
    for (auto &subscription : session->subscriptions)
      if (subscription->reader) {
        give_back(subscription.get(), nullptr);
        closed(subscription->reader->set_listener(nullptr), "taking back on_data");
      }
    for (auto &publisher : session->publishers)
      if (publisher->loan) closed(publisher->writer->discard_loan(publisher->loan), "discard_loan");
    closed(session->participant->delete_contained_entities(), "delete_contained_entities");
    closed(fast::DomainParticipantFactory::get_instance()->delete_participant(session->participant),
           "delete_participant");
  }
  delete session;
}

tacho_session *open(const tacho_session_config *config, char *error) {
  return guarded(error, [&] {
    Transport transport;
    if (!transport_of(config->transport, &transport))
      fail("fastdds: transport \"%s\" is not known; expected default, udp, tcp, shm or data-sharing",
           config->transport);
    if (config->domain > 232)  // DDSI-RTPS 2.5, 9.6.2.3: higher domains have no ports
      fail("fastdds: domain %u is too high; expected 0 to 232", config->domain);
    const std::string address = config->address;
    if (!address.empty() && !is_usable(address))
      fail("fastdds: address \"%s\" is of no interface that is up; expected one of `ip -4 address`", config->address);
    if (!address.empty() && (transport == Transport::Shm || transport == Transport::DataSharing))
      fail(
          "fastdds: transport \"%s\" does not leave this machine, but an address (%s) was given; expected udp, tcp or "
          "default",
          config->transport, config->address);
    set_intraprocess(transport == Transport::Default);
    std::unique_ptr<tacho_session, void (*)(tacho_session *)> session(new tacho_session, close);
    session->transport = transport;
    fast::DomainParticipantQos qos;
    qos.name("tacho");
    set_up(transport, address, qos);
    // The time after which a killed peer counts as gone; Fast DDS announces itself every 3 s.
    qos.wire_protocol().builtin.discovery_config.leaseDuration = fast::Duration_t(10, 0);
    // No thread may ask peers for their types: see the plugin ros2 (transport.c).
    qos.properties().properties().emplace_back("fastdds.type_propagation", "disabled");
    session->participant = fast::DomainParticipantFactory::get_instance()->create_participant(config->domain, qos);
    if (!session->participant)
      fail("fastdds: no participant in domain %u over %s; Fast DDS says why above", config->domain,
           transport_names[static_cast<int>(transport)]);
    session->publisher = session->participant->create_publisher(fast::PUBLISHER_QOS_DEFAULT);
    session->subscriber = session->participant->create_subscriber(fast::SUBSCRIBER_QOS_DEFAULT);
    if (!session->publisher || !session->subscriber) fail("fastdds: no publisher and subscriber in the participant");
    if (transport == Transport::Tcp)
      session->greeting = std::make_unique<Greeting>(*session->participant, *session->publisher, *session->subscriber);
    return session.release();
  });
}

int node(tacho_session *session, const char *name, const void **handle, int *traced, char *error) {
  return guarded(error, [&] {
    std::lock_guard<std::mutex> lock(session->mutex);
    *handle = &session->nodes.add(name);
    *traced = 0;
    return 0;
  });
}

// Endpoints

NamedType acceptable(const tacho_session &session, const tacho_endpoint_config &config, bool exact) {
  const tacho_qos &qos = config.qos;
  const char *topic = config.topic;
  session.nodes.of(config);
  if (topic[0] != '/') fail("fastdds: topic \"%s\" is not fully qualified; expected \"/%s\"", topic, topic);
  const bool sharing = session.transport == Transport::DataSharing;
  const NamedType *type = named_type(*config.type ? config.type : sharing ? "Array" : "Bytes");
  if (!type)
    fail(
        "fastdds: %s: message type \"%s\" is not known; expected Bytes, Array, PointCloud2, PointCloud1m, Image or "
        "TwistStamped",
        topic, config.type);
  if (sharing && type->shape != Shape::Array)
    fail(
        "fastdds: %s: %s has no fixed size, or fields in other places than in memory; expected Array with data sharing",
        topic, type->name);
  if (exact && type->only_size && config.size != type->only_size)
    fail("fastdds: %s: %s carries %zu bytes of data, not %zu", topic, type->name, type->only_size, config.size);
  if (config.size > (size_t{1} << 31) - 1024)  // Fast DDS counts payloads in 32 bits
    fail("fastdds: %s: %zu bytes; expected less than 2 GiB", topic, config.size);
  if (qos.reliability > TACHO_RELIABLE || qos.durability > TACHO_TRANSIENT_LOCAL || qos.history > TACHO_KEEP_ALL)
    fail("fastdds: %s: unknown QoS policy: reliability %u, durability %u, history %u; expected 0 or 1 each", topic,
         qos.reliability, qos.durability, qos.history);
  if (qos.history == TACHO_KEEP_LAST && qos.depth == 0)
    fail("fastdds: %s: keep last with depth 0; expected at least 1", topic);
  return *type;
}

// A participant does not connect to itself over TCP: its own writers and readers would match, and no message would
// arrive.
template <class Endpoints>
void check_not_own(const tacho_session &session, const char *topic, const Endpoints &others) {
  for (const auto &other : others)
    if (session.transport == Transport::Tcp && other->topic == topic)
      fail(
          "fastdds: %s: published and subscribed to in one process over tcp, where Fast DDS carries nothing to itself; "
          "expected processes "
          "of their own, or another transport",
          topic);
}

fast::Topic *topic_of(tacho_session &session, const tacho_endpoint_config &config, const NamedType &type) {
  const size_t size = type.only_size ? type.only_size : config.size;
  fast::TypeSupport support(new MessageType(type.shape, size));
  if (fast::TopicDescription *known = session.participant->lookup_topicdescription(config.topic)) {
    if (known->get_type_name() != support.get_type_name())
      fail("fastdds: %s: %s here, and %s in another endpoint of this session", config.topic,
           support.get_type_name().c_str(), known->get_type_name().c_str());
    return static_cast<fast::Topic *>(known);
  }
  // Another topic may have registered the type with another reserved size; that size is then used and grows as needed.
  if (session.participant->find_type(support.get_type_name()).empty()) {
    const ReturnCode_t code = session.participant->register_type(support);
    if (code != fast::RETCODE_OK)
      fail("fastdds: %s: type %s: %s", config.topic, support.get_type_name().c_str(), words(code));
  }
  fast::Topic *topic =
      session.participant->create_topic(config.topic, support.get_type_name(), fast::TOPIC_QOS_DEFAULT);
  if (!topic) fail("fastdds: %s: no topic; Fast DDS says why above", config.topic);
  return topic;
}

// The QoS that readers and writers share.
template <class Qos>
void apply(const tacho_session &session, const tacho_endpoint_config &config, const NamedType &type, Qos &qos) {
  const tacho_qos &asked = config.qos;
  qos.reliability().kind =
      asked.reliability == TACHO_RELIABLE ? fast::RELIABLE_RELIABILITY_QOS : fast::BEST_EFFORT_RELIABILITY_QOS;
  qos.durability().kind =
      asked.durability == TACHO_TRANSIENT_LOCAL ? fast::TRANSIENT_LOCAL_DURABILITY_QOS : fast::VOLATILE_DURABILITY_QOS;
  qos.history().kind = asked.history == TACHO_KEEP_ALL ? fast::KEEP_ALL_HISTORY_QOS : fast::KEEP_LAST_HISTORY_QOS;
  fast::ResourceLimitsQosPolicy &limits = qos.resource_limits();
  limits.extra_samples = 1;  // the one that is lent
  if (asked.history == TACHO_KEEP_LAST) {
    qos.history().depth = static_cast<int32_t>(asked.depth);
    limits.max_samples = std::max(limits.max_samples, qos.history().depth);
    limits.max_samples_per_instance = limits.max_samples;
    limits.allocated_samples = std::min(limits.allocated_samples, qos.history().depth);
  } else {
    limits.max_samples_per_instance = limits.max_samples;
    limits.allocated_samples = 1;
    if (session.transport == Transport::DataSharing) {  // all of it is set aside at once
      constexpr size_t ROOM = 256 << 20;
      limits.max_samples = static_cast<int32_t>(std::clamp<size_t>(ROOM / (config.size + 64), 16, 5000));
      limits.max_samples_per_instance = limits.max_samples;
    }
  }
  qos.endpoint().history_memory_policy =
      type.shape == Shape::Array ? rtps::PREALLOCATED_MEMORY_MODE : rtps::PREALLOCATED_WITH_REALLOC_MEMORY_MODE;
  if (session.transport == Transport::DataSharing)
    qos.data_sharing().on("");
  else if (session.transport != Transport::Default)
    qos.data_sharing().off();
}

tacho_publisher *advertise(tacho_session *session, const tacho_endpoint_config *config, const void **handle,
                           char *error) {
  return guarded(error, [&] {
    std::lock_guard<std::mutex> lock(session->mutex);
    auto made = std::make_unique<tacho_publisher>();
    made->type = acceptable(*session, *config, true);
    check_not_own(*session, config->topic, session->subscriptions);
    made->topic = config->topic;
    made->size = config->size;
    if (made->type.shape != Shape::Array) made->message.data.resize(config->size);
    fast::DataWriterQos qos = fast::DATAWRITER_QOS_DEFAULT;
    apply(*session, *config, made->type, qos);
    // DDS 1.4, 2.2.3.14: a reliable writer that keeps all waits for room; ROS leaves the limit to the system.
    if (config->qos.history == TACHO_KEEP_ALL) qos.reliability().max_blocking_time = fast::c_TimeInfinite;
    made->writer = session->publisher->create_datawriter(topic_of(*session, *config, made->type), qos);
    if (!made->writer) fail("fastdds: %s: no writer; Fast DDS says why above", config->topic);
    made->greeting = session->greeting.get();
    tacho_publisher *publisher = made.get();
    session->publishers.push_back(std::move(made));
    *handle = publisher->writer;
    return publisher;
  });
}

tacho_subscription *subscribe(tacho_session *session, const tacho_endpoint_config *config, tacho_on_data on_data,
                              void *context, const void **handle, char *error) {
  return guarded(error, [&] {
    std::lock_guard<std::mutex> lock(session->mutex);
    auto made = std::make_unique<tacho_subscription>(on_data, context);
    made->type = acceptable(*session, *config, false);
    check_not_own(*session, config->topic, session->publishers);
    made->topic = config->topic;
    made->size = config->size;
    fast::DataReaderQos qos = fast::DATAREADER_QOS_DEFAULT;
    apply(*session, *config, made->type, qos);
    fast::Topic *topic = topic_of(*session, *config, made->type);
    made->reader =
        session->subscriber->create_datareader(topic, qos, &made->listener, fast::StatusMask::data_available());
    if (!made->reader) fail("fastdds: %s: no reader; Fast DDS says why above", config->topic);
    made->greeting = session->greeting.get();
    tacho_subscription *subscription = made.get();
    session->subscriptions.push_back(std::move(made));
    *handle = subscription->reader;
    return subscription;
  });
}

int publisher_matched(tacho_publisher *publisher, char *error) {
  return guarded(error, [&] {
    fast::PublicationMatchedStatus status;
    const ReturnCode_t code = publisher->writer->get_publication_matched_status(status);
    if (code != fast::RETCODE_OK) fail("fastdds: %s: counting readers: %s", publisher->topic.c_str(), words(code));
    Greeting::Handles readers;
    if (!publisher->greeting) return status.current_count;
    publisher->writer->get_matched_subscriptions(readers);
    return publisher->greeting->answered(readers);
  });
}

int subscription_matched(tacho_subscription *subscription, char *error) {
  return guarded(error, [&] {
    fast::SubscriptionMatchedStatus status;
    const ReturnCode_t code = subscription->reader->get_subscription_matched_status(status);
    if (code != fast::RETCODE_OK) fail("fastdds: %s: counting writers: %s", subscription->topic.c_str(), words(code));
    Greeting::Handles writers;
    if (!subscription->greeting) return status.current_count;
    subscription->reader->get_matched_publications(writers);
    return subscription->greeting->answered(writers);
  });
}

// Messages

void *borrow(tacho_publisher *publisher, int *kept, const void **message, char *error) {
  return guarded(error, [&]() -> void * {
    if (publisher->type.shape != Shape::Array) {
      static unsigned char nothing;  // of an empty message
      *kept = publisher->filled;
      publisher->filled = true;
      *message = &publisher->message;
      return publisher->message.data.empty() ? &nothing : publisher->message.data.data();
    }
    if (!publisher->loan) {
      const ReturnCode_t code = publisher->writer->loan_sample(publisher->loan);
      if (code != fast::RETCODE_OK) fail("fastdds: %s: borrowing a sample: %s", publisher->topic.c_str(), words(code));
    }
    *kept = !publisher->filled_loans.insert(publisher->loan).second;
    *message = publisher->loan;
    return static_cast<unsigned char *>(publisher->loan) + ARRAY_HEADER;
  });
}

int publish(tacho_publisher *publisher, const tacho_header *header, char *error) {
  return guarded(error, [&] {
    ReturnCode_t code;
    if (publisher->type.shape == Shape::Array) {
      if (!publisher->loan) fail("fastdds: %s: publish without a borrowed buffer", publisher->topic.c_str());
      std::memcpy(publisher->loan, header, sizeof *header);
      code = publisher->writer->write(publisher->loan);
      if (code == fast::RETCODE_OK) publisher->loan = nullptr;
    } else {
      publisher->message.header = *header;
      code = publisher->writer->write(&publisher->message);
    }
    if (code == fast::RETCODE_OK) return 0;
    std::snprintf(error, TACHO_ERROR_SIZE, "fastdds: %s: write: %s", publisher->topic.c_str(), words(code));
    return -code;
  });
}

// Takes one sample with data, because those without data report the end of a writer.
bool take_sample(tacho_subscription &subscription) {
  for (;;) {
    ReturnCode_t code;
    bool valid;
    if (subscription.type.shape == Shape::Array) {
      code = subscription.reader->take(subscription.loans, subscription.infos, 1);
      if (code == fast::RETCODE_NO_DATA) return false;
      valid = code == fast::RETCODE_OK && subscription.infos[0].valid_data;
      subscription.lent = code == fast::RETCODE_OK;
      if (!valid) give_back(&subscription, nullptr);
    } else {
      fast::SampleInfo info;
      code = subscription.reader->take_next_sample(&subscription.message, &info);
      if (code == fast::RETCODE_NO_DATA) return false;
      valid = code == fast::RETCODE_OK && info.valid_data;
      subscription.lent = valid;
    }
    if (code != fast::RETCODE_OK) fail("fastdds: %s: take: %s", subscription.topic.c_str(), words(code));
    if (valid) return true;
  }
}

int take(tacho_subscription *subscription, tacho_message *message, char *error) {
  return guarded(error, [&] {
    if (subscription->lent)
      fail("fastdds: %s: take before the last message was given back", subscription->topic.c_str());
    for (;;) {
      if (!take_sample(*subscription)) return 0;
      if (subscription->type.shape != Shape::Array) {
        message->header = subscription->message.header;
        message->data = subscription->message.data.data();
        message->size = subscription->message.data.size();
        message->loan = &subscription->message;
        return 1;
      }
      unsigned char *sample = &subscription->loans[0];
      std::memcpy(&message->header, sample, sizeof message->header);
      message->data = sample + ARRAY_HEADER;
      message->size = subscription->size;
      message->loan = sample;
      // In shared memory the writer may already have overwritten this place of its history; the message is then lost,
      // as any overwritten one.
      if (subscription->reader->is_sample_valid(sample, &subscription->infos[0])) return 1;
      give_back(subscription, nullptr);
    }
  });
}

const struct tacho_middleware middleware = {TACHO_MIDDLEWARE_ABI,
                                            "fastdds",
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

extern "C" __attribute__((visibility("default"))) const struct tacho_middleware *tacho_middleware(void) {
  return &middleware;
}
