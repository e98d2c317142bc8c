// SPDX-License-Identifier: Apache-2.0
//
// Endpoints in Cyber RT's topology: the QoS that they are made with, and their matches.
#ifndef TACHO_CYBER_TOPOLOGY_H_
#define TACHO_CYBER_TOPOLOGY_H_

#include <tacho/middleware.h>

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "configuration.h"
#include "cyber_rt.h"

// The fields of apollo::cyber::proto::RoleAttributes that we need.
struct Role {
  std::string host_ip;
  int32_t process = 0;
  std::string channel;
  std::string message_type;
  uint64_t id = 0;  // unique on all hosts
  tacho_qos qos{};
};

// A serialised apollo::cyber::proto::QosProfile.
std::string qos_profile(const tacho_qos &qos);

apollo::cyber::proto::RoleAttributes attributes_of(const Role &role);
Role role_of(const apollo::cyber::proto::RoleAttributes &attributes);

// Counts the peers of one endpoint by the transport between them: the endpoints of the other side that are connected
// with it and reached by the transport, have the same type, and offer at least what is requested (DDS 1.4, 2.2.3; Cyber
// RT leaves the comparison to RTPS and compares nothing elsewhere).
struct Peers {
  int by_rtps = 0, otherwise = 0;
  int rtps_processes = 0;  // that those by RTPS are in
};
Peers peers(const Role &own, bool own_offers, const std::vector<apollo::cyber::proto::RoleAttributes> &others,
            const std::set<uint64_t> &connected, const Modes &modes);

#endif  // TACHO_CYBER_TOPOLOGY_H_
