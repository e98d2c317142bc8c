// SPDX-License-Identifier: Apache-2.0
//
// Which of Cyber RT's RTPS endpoints are matched. Its topology knows of a reader before the endpoint of the writer is even made;
// what is sent until the two have found each other is lost. Cyber RT listens to no match, so this does.
#ifndef TACHO_CYBER_RTPS_MATCHES_H_
#define TACHO_CYBER_RTPS_MATCHES_H_

#include <string>

// Endpoints of readers, one a process, matched with the writer of this channel and QoS in this process; the fewest, where there are
// several such writers. `qos_profile` is a serialised apollo::cyber::proto::QosProfile.
int rtps_readers(const std::string &channel, const std::string &qos_profile);

// Endpoints of writers matched with this process's endpoint for readers of this channel.
int rtps_writers(const std::string &channel);

#endif  // TACHO_CYBER_RTPS_MATCHES_H_
