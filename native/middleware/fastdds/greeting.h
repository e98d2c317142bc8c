// SPDX-License-Identifier: Apache-2.0
//
// Checks whether TCP carries messages between matched participants, and makes new connections if it does not.
//
// Participants find each other by UDP, so Fast DDS counts endpoints as matched whatever the state of their connection.
// Fast DDS (3.2.2, and its sources since: TCPTransportInterface::OpenOutputChannel) first begins to connect and only
// then notes the logical port for which it connects. If the connecting thread loses its CPU in between, the peer's
// answer finds no noted port and is discarded; that side then never sends, while the other does. So each participant
// greets the others over TCP, with a list of the participants that it has heard: an endpoint counts as matched when its
// participant was heard and has heard this one. If it was heard and does not hear, we shut our connection to it down,
// and Fast DDS connects again, with the port noted.
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

  // Deleting the participant's contents deletes its writer and reader.
  Greeting(eprosima::fastdds::dds::DomainParticipant &participant, eprosima::fastdds::dds::Publisher &publisher,
           eprosima::fastdds::dds::Subscriber &subscriber);
  // How many of these endpoints messages reach, and arrive from. If these are not all, it greets and connects again, so
  // call it repeatedly.
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
