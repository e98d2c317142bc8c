// SPDX-License-Identifier: Apache-2.0
//
// plain_fastdds ping|pong DOMAIN SIZE SECONDS: round trips on plain Fast DDS between two processes, written as usual:
// an IDL type of a number and a sequence of octets, reliable, keep last 1, over UDP on 127.0.0.1, with a thread that
// waits on a WaitSet. ping prints the median of each second after the first in us; pong runs until its standard input
// ends.
#include <fastcdr/Cdr.h>
#include <fastcdr/FastBuffer.h>
#include <fastdds/LibrarySettings.hpp>
#include <fastdds/dds/core/condition/WaitSet.hpp>
#include <fastdds/dds/domain/DomainParticipant.hpp>
#include <fastdds/dds/domain/DomainParticipantFactory.hpp>
#include <fastdds/dds/publisher/DataWriter.hpp>
#include <fastdds/dds/publisher/Publisher.hpp>
#include <fastdds/dds/subscriber/DataReader.hpp>
#include <fastdds/dds/subscriber/SampleInfo.hpp>
#include <fastdds/dds/subscriber/Subscriber.hpp>
#include <fastdds/dds/topic/Topic.hpp>
#include <fastdds/dds/topic/TopicDataType.hpp>
#include <fastdds/dds/topic/TypeSupport.hpp>
#include <fastdds/rtps/transport/UDPv4TransportDescriptor.hpp>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

using namespace eprosima::fastdds::dds;
using eprosima::fastcdr::Cdr;
using eprosima::fastdds::rtps::SerializedPayload_t;

namespace {

struct Message {
  uint64_t sequence = 0;
  int64_t stamp_ns = 0;
  uint64_t publisher = 0;  // so that it has as many bytes as our header
  std::vector<unsigned char> data;
};

class MessageType : public TopicDataType {
 public:
  explicit MessageType(size_t size) {
    set_name("plain::Message");
    max_serialized_type_size = static_cast<uint32_t>((4 + 24 + 4 + size + 3) & ~size_t{3});
  }
  bool serialize(const void *const data, SerializedPayload_t &payload, DataRepresentationId_t) override {
    const auto &message = *static_cast<const Message *>(data);
    eprosima::fastcdr::FastBuffer buffer(reinterpret_cast<char *>(payload.data), payload.max_size);
    Cdr cdr(buffer, Cdr::DEFAULT_ENDIAN, eprosima::fastcdr::CdrVersion::XCDRv1);
    cdr.set_encoding_flag(eprosima::fastcdr::EncodingAlgorithmFlag::PLAIN_CDR);
    payload.encapsulation = CDR_LE;
    cdr.serialize_encapsulation();
    cdr << message.sequence << message.stamp_ns << message.publisher << message.data;
    payload.length = static_cast<uint32_t>(cdr.get_serialized_data_length());
    return true;
  }
  bool deserialize(SerializedPayload_t &payload, void *data) override {
    auto &message = *static_cast<Message *>(data);
    eprosima::fastcdr::FastBuffer buffer(reinterpret_cast<char *>(payload.data), payload.length);
    Cdr cdr(buffer, Cdr::DEFAULT_ENDIAN);
    cdr.read_encapsulation();
    cdr >> message.sequence >> message.stamp_ns >> message.publisher >> message.data;
    return true;
  }
  uint32_t calculate_serialized_size(const void *const data, DataRepresentationId_t) override {
    return static_cast<uint32_t>(4 + 24 + 4 + static_cast<const Message *>(data)->data.size());
  }
  void *create_data() override { return new Message; }
  void delete_data(void *data) override { delete static_cast<Message *>(data); }
  bool compute_key(SerializedPayload_t &, eprosima::fastdds::rtps::InstanceHandle_t &, bool) override { return false; }
  bool compute_key(const void *const, eprosima::fastdds::rtps::InstanceHandle_t &, bool) override { return false; }
};

[[noreturn]] void fail(const char *what) {
  std::fprintf(stderr, "plain_fastdds: %s\n", what);
  std::exit(1);
}

int64_t now_ns() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000ll + now.tv_nsec;
}

struct Ends {
  DataWriter *out;
  DataReader *in;
  WaitSet wait;

  // Returns whether a message came within `seconds`.
  bool take(Message &message, int seconds) {
    for (;;) {
      SampleInfo info;
      const ReturnCode_t code = in->take_next_sample(&message, &info);
      if (code == RETCODE_OK && info.valid_data) return true;
      if (code == RETCODE_OK) continue;
      if (code != RETCODE_NO_DATA) fail("take");
      ConditionSeq active;
      if (wait.wait(active, Duration_t(seconds, 0)) != RETCODE_OK) return false;
    }
  }
  void send(Message &message) {
    if (out->write(&message) != RETCODE_OK) fail("write");
  }
};

void ping(Ends &ends, size_t size, int seconds) {
  Message message, answer;
  message.data.resize(size);
  std::vector<double> samples;
  int64_t end_of_second = now_ns() + 1000000000ll;
  for (int second = 0; second < seconds;) {
    message.sequence++;
    const int64_t sent = message.stamp_ns = now_ns();
    ends.send(message);
    do
      if (!ends.take(answer, 5)) fail("no pong within 5 s");
    while (answer.sequence != message.sequence);
    const int64_t now = now_ns();
    samples.push_back(static_cast<double>(now - sent) / 1e3);
    if (now >= end_of_second) {
      std::sort(samples.begin(), samples.end());
      if (second++) std::printf("%.3f\n", samples[samples.size() / 2]);
      samples.clear();
      end_of_second = now_ns() + 1000000000ll;
    }
  }
}

void pong(Ends &ends) {
  Message message;
  std::atomic<bool> ended{false};
  // This has a thread of its own, as in round_trip.c, so that it needs no system call in each round trip.
  std::thread input([&ended] {
    for (char byte; read(STDIN_FILENO, &byte, 1) > 0;) {
    }
    ended = true;
  });
  while (!ended)
    if (ends.take(message, 1)) ends.send(message);
  input.join();
}

}  // namespace

int main(int count, char **arguments) {
  if (count != 5) {
    std::fprintf(stderr, "usage: plain_fastdds ping|pong DOMAIN SIZE SECONDS\n");
    return 2;
  }
  const bool pings = std::string(arguments[1]) == "ping";
  const size_t size = std::strtoul(arguments[3], nullptr, 10);
  DomainParticipantQos qos;
  auto udp = std::make_shared<eprosima::fastdds::rtps::UDPv4TransportDescriptor>();
  udp->interfaceWhiteList.push_back("127.0.0.1");
  qos.transport().use_builtin_transports = false;
  qos.transport().user_transports = {udp};
  DomainParticipant *participant =
      DomainParticipantFactory::get_instance()->create_participant(std::strtoul(arguments[2], nullptr, 10), qos);
  if (!participant) fail("no participant");
  TypeSupport type(new MessageType(size));
  participant->register_type(type);
  Topic *topics[] = {participant->create_topic("ping", type.get_type_name(), TOPIC_QOS_DEFAULT),
                     participant->create_topic("pong", type.get_type_name(), TOPIC_QOS_DEFAULT)};
  DataWriterQos writer = DATAWRITER_QOS_DEFAULT;
  writer.reliability().kind = RELIABLE_RELIABILITY_QOS;
  writer.durability().kind = VOLATILE_DURABILITY_QOS;
  writer.history().depth = 1;
  writer.endpoint().history_memory_policy = eprosima::fastdds::rtps::PREALLOCATED_WITH_REALLOC_MEMORY_MODE;
  writer.data_sharing().off();
  DataReaderQos reader = DATAREADER_QOS_DEFAULT;
  reader.reliability().kind = RELIABLE_RELIABILITY_QOS;
  reader.durability().kind = VOLATILE_DURABILITY_QOS;
  reader.history().depth = 1;
  reader.endpoint().history_memory_policy = eprosima::fastdds::rtps::PREALLOCATED_WITH_REALLOC_MEMORY_MODE;
  reader.data_sharing().off();
  Ends ends;
  ends.out = participant->create_publisher(PUBLISHER_QOS_DEFAULT)->create_datawriter(topics[!pings], writer);
  ends.in = participant->create_subscriber(SUBSCRIBER_QOS_DEFAULT)->create_datareader(topics[pings], reader);
  if (!ends.out || !ends.in) fail("no endpoints");
  ends.in->get_statuscondition().set_enabled_statuses(StatusMask::data_available());
  ends.wait.attach_condition(ends.in->get_statuscondition());
  if (pings) {
    PublicationMatchedStatus out;
    SubscriptionMatchedStatus in;
    do {
      usleep(1000);
      ends.out->get_publication_matched_status(out);
      ends.in->get_subscription_matched_status(in);
    } while (out.current_count < 1 || in.current_count < 1);
    ping(ends, size, std::atoi(arguments[4]));
  } else {
    pong(ends);
  }
  ends.wait.detach_condition(ends.in->get_statuscondition());
  participant->delete_contained_entities();
  DomainParticipantFactory::get_instance()->delete_participant(participant);
}
