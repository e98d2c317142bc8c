// SPDX-License-Identifier: Apache-2.0
#include "greeting.h"

#include <fastdds/dds/subscriber/SampleInfo.hpp>
#include <fastdds/dds/topic/Topic.hpp>
#include <fastdds/dds/topic/TypeSupport.hpp>
#include <fastdds/rtps/builtin/data/SubscriptionBuiltinTopicData.hpp>
#include <fastdds/utils/IPLocator.hpp>

#include <dirent.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>
#include <stdexcept>

#include "types.h"

namespace fast = eprosima::fastdds::dds;
namespace rtps = eprosima::fastdds::rtps;
using namespace std::chrono_literals;

namespace {

constexpr auto AGAIN = 200ms;   // between greetings, while one is not answered
constexpr auto PATIENCE = 2s;   // from the first word of a peer to its answer
constexpr int32_t MOST = 1000;  // greetings that wait until somebody asks

rtps::GuidPrefix_t prefix_of(const rtps::InstanceHandle_t &handle) { return rtps::iHandle2GUID(handle).guidPrefix; }

// Shuts down this process's connections to an endpoint; a socket that it accepted has a peer with another port.
int shut_down(const sockaddr_in &place) {
  DIR *const folder = opendir("/proc/self/fd");
  if (!folder) throw std::runtime_error("fastdds: /proc/self/fd cannot be read");
  int count = 0;
  while (const dirent *entry = readdir(folder)) {
    sockaddr_in peer{};
    socklen_t length = sizeof peer;
    const int fd = std::atoi(entry->d_name);  // . and .. are 0, which is no socket of ours
    const bool is_socket = fd > 0 && getpeername(fd, reinterpret_cast<sockaddr *>(&peer), &length) == 0;
    if (is_socket && peer.sin_family == AF_INET && peer.sin_port == place.sin_port &&
        peer.sin_addr.s_addr == place.sin_addr.s_addr)
      count += shutdown(fd, SHUT_RDWR) == 0;
  }
  closedir(folder);
  return count;
}

}  // namespace

Greeting::Greeting(fast::DomainParticipant &participant, fast::Publisher &publisher, fast::Subscriber &subscriber)
    : own_(participant.guid().guidPrefix) {
  fast::TypeSupport type(new MessageType(Shape::Bytes, 0));
  fast::Topic *topic = nullptr;
  if (participant.register_type(type) == fast::RETCODE_OK)
    topic = participant.create_topic("tachograph/greeting", type.get_type_name(), fast::TOPIC_QOS_DEFAULT);
  fast::DataWriterQos writing = fast::DATAWRITER_QOS_DEFAULT;  // reliable, keep last 1
  fast::DataReaderQos reading = fast::DATAREADER_QOS_DEFAULT;
  reading.reliability().kind = fast::RELIABLE_RELIABILITY_QOS;
  reading.history().depth = MOST;
  writing.endpoint().history_memory_policy = reading.endpoint().history_memory_policy =
      rtps::PREALLOCATED_WITH_REALLOC_MEMORY_MODE;
  writing.data_sharing().off();
  reading.data_sharing().off();
  writer_ = topic ? publisher.create_datawriter(topic, writing) : nullptr;
  reader_ = topic ? subscriber.create_datareader(topic, reading) : nullptr;
  if (!writer_ || !reader_) throw std::runtime_error("fastdds: no greeting over TCP; Fast DDS says why above");
}

int Greeting::answered(const Handles &endpoints) {
  std::lock_guard<std::mutex> lock(mutex_);
  listen();
  int count = 0;
  bool is_silent = false;
  for (const auto &endpoint : endpoints) {
    Peer &peer = peers_[prefix_of(endpoint)];
    if (peer.heard && peer.hears) {
      count++;
      continue;
    }
    is_silent = true;
    if (peer.heard && Clock::now() - peer.since > PATIENCE) {
      connect_anew(prefix_of(endpoint));
      peer.since = Clock::now();
    }
  }
  if (is_silent && Clock::now() - greeted_ > AGAIN) greet();
  return count;
}

// A peer that is heard for the first time gets an answer at once, because it may wait for nothing else.
void Greeting::listen() {
  Message greeting;
  fast::SampleInfo info;
  bool is_new = false;
  while (reader_->take_next_sample(&greeting, &info) == fast::RETCODE_OK) {
    if (!info.valid_data) continue;
    Peer &peer = peers_[prefix_of(info.publication_handle)];
    if (!peer.heard) peer.since = Clock::now();
    is_new |= !peer.heard;
    peer.heard = true;
    peer.hears = false;
    for (size_t at = 0; at + rtps::GuidPrefix_t::size <= greeting.data.size(); at += rtps::GuidPrefix_t::size)
      peer.hears |= std::memcmp(&greeting.data[at], own_.value, rtps::GuidPrefix_t::size) == 0;
  }
  if (is_new) greet();
}

void Greeting::greet() {
  Message greeting;
  for (const auto &[prefix, peer] : peers_)
    if (peer.heard) greeting.data.insert(greeting.data.end(), prefix.value, prefix.value + rtps::GuidPrefix_t::size);
  // A greeting that cannot be written now is written again, as long as a peer does not answer.
  const fast::ReturnCode_t code = writer_->write(&greeting);
  if (code != fast::RETCODE_OK) std::fprintf(stderr, "fastdds: greeting over TCP: write: code %d\n", code);
  greeted_ = Clock::now();
}

void Greeting::connect_anew(const Prefix &peer) {
  Handles matched;
  writer_->get_matched_subscriptions(matched);
  for (const auto &handle : matched) {
    rtps::SubscriptionBuiltinTopicData data;
    if (prefix_of(handle) != peer || writer_->get_matched_subscription_data(data, handle) != fast::RETCODE_OK) continue;
    for (const rtps::Locator_t &locator : data.remote_locators.unicast) {
      if (locator.kind != LOCATOR_KIND_TCPv4) continue;
      sockaddr_in place{};
      place.sin_port = htons(rtps::IPLocator::getPhysicalPort(locator));
      std::memcpy(&place.sin_addr, rtps::IPLocator::getIPv4(locator), sizeof place.sin_addr);
      const int count = shut_down(place);
      std::fprintf(stderr, "fastdds: %s does not hear us over TCP: %d connections to it are made anew\n",
                   rtps::IPLocator::to_string(locator).c_str(), count);
    }
  }
}
