// SPDX-License-Identifier: Apache-2.0
//
// Endpoints as Cyber RT's topology knows them: the QoS they are made with, and who is matched with whom.
#ifndef TACHO_CYBER_TOPOLOGY_H_
#define TACHO_CYBER_TOPOLOGY_H_

#include <tacho/middleware.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "configuration.h"
#include "cyber_rt.h"

// The fields of apollo::cyber::proto::RoleAttributes that are needed here.
struct Role {
  std::string host_ip;
  int32_t process = 0;
  std::string channel;
  std::string message_type;
  uint64_t id = 0; // unique on all hosts
  tacho_qos qos{};
};

apollo::cyber::proto::RoleAttributes attributes_of(const Role &role);
Role role_of(const apollo::cyber::proto::RoleAttributes &attributes);

// Counts the peers of one endpoint: those of the other side that can be reached by the transport, have the same type, and offer
// at least what is requested (DDS 1.4, 2.2.3; Cyber RT leaves the comparison to RTPS and makes none elsewhere).
//
// Cyber RT tells a writer that a reader is there, and never whether that reader knows the writer by now; until it does, messages
// are lost. News travel both ways at the same time, so a peer in another process counts once it has been known for a while.
class Peers {
 public:
  int count(const Role &own, bool own_offers, const std::vector<apollo::cyber::proto::RoleAttributes> &others, const Modes &modes);

 private:
  using Clock = std::chrono::steady_clock;
  std::map<uint64_t, Clock::time_point> known_since_;
};

#endif  // TACHO_CYBER_TOPOLOGY_H_
