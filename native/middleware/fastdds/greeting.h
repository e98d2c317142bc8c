// SPDX-License-Identifier: Apache-2.0
//
// Whether TCP carries messages between participants that have matched, and new connections where it does not.
//
// Participants find each other by UDP, so Fast DDS counts endpoints as matched whatever becomes of their connection. Fast DDS (3.2.2,
// and its sources since: TCPTransportInterface::OpenOutputChannel) begins to connect and only then notes which logical port it connects for. If the
// thread that does so loses its CPU in between, the peer's answer finds none noted and is thrown away; that side then never sends, and the
// other does. So each participant greets the others over TCP, telling whom it has heard: an endpoint counts as matched when its
// participant was heard and has heard this one. Where it was heard and does not hear, our connection to it is shut down, whereupon Fast DDS
// connects anew, with the port noted.
#ifndef TACHO_FASTDDS_GREETING_H_
#define TACHO_FASTDDS_GREETING_H_

#include <fastdds/dds/domain/DomainParticipant.hpp>
#include <fastdds/dds/publisher/DataWriter.hpp>
#include <fastdds/dds/publisher/Publisher.hpp>
#include <fastdds/dds/subscriber/DataReader.hpp>
#include <fastdds/dds/subscriber/Subscriber.hpp>

#include <chrono>
#include <map>
#include <mutex>
#include <vector>

class Greeting {
 public:
  using Handles = std::vector<eprosima::fastdds::rtps::InstanceHandle_t>;

  // Its writer and reader are deleted with what the participant contains.
  Greeting(eprosima::fastdds::dds::DomainParticipant &participant, eprosima::fastdds::dds::Publisher &publisher,
           eprosima::fastdds::dds::Subscriber &subscriber);
  // How many of these endpoints messages reach, and come from. Greets, and connects anew, where that is not all; so it is asked again.
  int answered(const Handles &endpoints);

 private:
  using Prefix = eprosima::fastdds::rtps::GuidPrefix_t;
  using Clock = std::chrono::steady_clock;
  struct Peer {
    bool heard = false, hears = false;
    Clock::time_point since{};  // heard first, or connected anew
  };

  void listen();
  void greet();
  void connect_anew(const Prefix &peer);

  const Prefix own_;
  eprosima::fastdds::dds::DataWriter *writer_ = nullptr;
  eprosima::fastdds::dds::DataReader *reader_ = nullptr;
  std::mutex mutex_;  // of what follows
  std::map<Prefix, Peer> peers_;
  Clock::time_point greeted_{};
};

#endif
