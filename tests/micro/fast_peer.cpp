/* SPDX-License-Identifier: Apache-2.0
 * A plain DDS program on Fast DDS 2 (without ROS 2), with the arguments and the output of cyclone_peer.c:
 *
 *   fast_peer DOMAIN (best_effort|reliable|durable) (pub TOPIC SIZE COUNT PERIOD_MS | sub TOPIC)...
 *
 * PEER_ADDRESS is the address of the one interface to use. Ends with its standard input. */
#include <fastdds/dds/domain/DomainParticipant.hpp>
#include <fastdds/dds/domain/DomainParticipantFactory.hpp>
#include <fastdds/dds/publisher/DataWriter.hpp>
#include <fastdds/dds/publisher/Publisher.hpp>
#include <fastdds/dds/subscriber/DataReader.hpp>
#include <fastdds/dds/subscriber/SampleInfo.hpp>
#include <fastdds/dds/subscriber/Subscriber.hpp>
#include <fastdds/dds/topic/TopicDataType.hpp>
#include <fastdds/dds/topic/TypeSupport.hpp>
#include <fastdds/rtps/transport/UDPv4TransportDescriptor.h>

#include <poll.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

using namespace eprosima::fastdds::dds;
using Clock = std::chrono::steady_clock;

/* std_msgs/String as CDR: encapsulation, length with NUL, text, NUL. */
class StringType : public TopicDataType {
 public:
  static constexpr uint32_t LARGEST = 300000;
  StringType() {
    setName("std_msgs::msg::dds_::String_");
    m_typeSize = LARGEST;
    m_isGetKeyDefined = false;
  }
  bool serialize(void *data, eprosima::fastrtps::rtps::SerializedPayload_t *payload) override {
    const auto &text = *static_cast<std::string *>(data);
    uint32_t size = static_cast<uint32_t>(text.size()) + 1;
    payload->encapsulation = CDR_LE;
    payload->length = size + 8;
    memcpy(payload->data, "\0\1\0\0", 4);
    memcpy(payload->data + 4, &size, 4);
    memcpy(payload->data + 8, text.c_str(), size);
    return true;
  }
  bool deserialize(eprosima::fastrtps::rtps::SerializedPayload_t *payload, void *data) override {
    uint32_t size = 0;
    if (payload->length < 9 || payload->data[1] != 1) return false;
    memcpy(&size, payload->data + 4, 4);
    if (size == 0 || size > payload->length - 8) return false;
    static_cast<std::string *>(data)->assign(reinterpret_cast<char *>(payload->data) + 8, size - 1);
    return true;
  }
  std::function<uint32_t()> getSerializedSizeProvider(void *data) override {
    return [data] { return static_cast<uint32_t>(static_cast<std::string *>(data)->size()) + 9; };
  }
  bool getKey(void *, eprosima::fastrtps::rtps::InstanceHandle_t *, bool) override { return false; }
  void *createData() override { return new std::string; }
  void deleteData(void *data) override { delete static_cast<std::string *>(data); }
};

struct Writing {
  DataWriter *writer;
  size_t size;
  int count, period_ms, sent = 0;
  Clock::time_point last{};
};
struct Reading {
  DataReader *reader;
  std::string topic;
  int matched = 0;
};

template <typename T>
static T *made(T *it, const char *what) {
  if (!it) {
    fprintf(stderr, "fast_peer: no %s\n", what);
    exit(1);
  }
  return it;
}

template <typename Qos>
static Qos with(Qos qos, const std::string &name) {
  qos.reliability().kind = name == "best_effort" ? BEST_EFFORT_RELIABILITY_QOS : RELIABLE_RELIABILITY_QOS;
  qos.durability().kind = name == "durable" ? TRANSIENT_LOCAL_DURABILITY_QOS : VOLATILE_DURABILITY_QOS;
  qos.history().kind = KEEP_LAST_HISTORY_QOS;
  qos.history().depth = 200;
  qos.endpoint().history_memory_policy = eprosima::fastrtps::rtps::PREALLOCATED_WITH_REALLOC_MEMORY_MODE;
  return qos;
}

static void publish(Writing &w, bool durable) {
  PublicationMatchedStatus status;
  w.writer->get_publication_matched_status(status);
  if (w.sent == w.count || (!durable && !status.current_count) ||
      Clock::now() - w.last < std::chrono::milliseconds(w.period_ms))
    return;
  w.last = Clock::now();
  std::string text = std::to_string(++w.sent) + " ";
  text.resize(w.size, '.');
  if (!w.writer->write(&text)) exit(1);
  printf("sent %d\n", w.sent);
}

static void take(Reading &r) {
  SubscriptionMatchedStatus status;
  r.reader->get_subscription_matched_status(status);
  if (status.current_count != r.matched) printf("matched %d\n", r.matched = status.current_count);
  std::string text;
  SampleInfo info;
  while (r.reader->take_next_sample(&text, &info) == ReturnCode_t::RETCODE_OK)
    if (info.valid_data) printf("got %s %lu %zu\n", r.topic.c_str(), strtoul(text.c_str(), nullptr, 10), text.size());
}

int main(int argc, char **argv) {
  const char *address = getenv("PEER_ADDRESS");
  if (argc < 3 || !address) return 2;
  setvbuf(stdout, nullptr, _IOLBF, 0);
  DomainParticipantQos participant_qos;
  auto udp = std::make_shared<eprosima::fastdds::rtps::UDPv4TransportDescriptor>();
  udp->interfaceWhiteList.emplace_back(address);
  participant_qos.transport().use_builtin_transports = false;
  participant_qos.transport().user_transports.push_back(udp);
  auto *factory = DomainParticipantFactory::get_instance();
  auto *participant =
      made(factory->create_participant(static_cast<DomainId_t>(atoi(argv[1])), participant_qos), "participant");
  TypeSupport type(new StringType);
  type.register_type(participant);
  auto *publisher = made(participant->create_publisher(PUBLISHER_QOS_DEFAULT), "publisher");
  auto *subscriber = made(participant->create_subscriber(SUBSCRIBER_QOS_DEFAULT), "subscriber");
  std::vector<Writing> writers;
  std::vector<Reading> readers;
  std::string qos = argv[2];
  for (int i = 3; i + 1 < argc;) {
    auto *topic = made(participant->create_topic(argv[i + 1], type.get_type_name(), TOPIC_QOS_DEFAULT), argv[i + 1]);
    if (!strcmp(argv[i], "pub") && i + 4 < argc) {
      DataWriterQos writer_qos = with(DataWriterQos(), qos);
      writer_qos.publish_mode().kind = ASYNCHRONOUS_PUBLISH_MODE; /* what is larger than a datagram needs it */
      writers.push_back({made(publisher->create_datawriter(topic, writer_qos), "writer"),
                         static_cast<size_t>(atoi(argv[i + 2])), atoi(argv[i + 3]), atoi(argv[i + 4])});
      i += 5;
    } else if (!strcmp(argv[i], "sub")) {
      readers.push_back(
          {made(subscriber->create_datareader(topic, with(DataReaderQos(), qos)), "reader"), argv[i + 1]});
      i += 2;
    } else {
      return 2;
    }
  }
  printf("up\n");
  for (;;) {
    pollfd input = {0, POLLIN, 0};
    char c;
    if (poll(&input, 1, 2) > 0 && read(0, &c, 1) <= 0) break;
    for (auto &writer : writers) publish(writer, qos == "durable");
    for (auto &reader : readers) take(reader);
  }
  participant->delete_contained_entities();
  factory->delete_participant(participant);
}
