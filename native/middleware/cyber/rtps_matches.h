// SPDX-License-Identifier: Apache-2.0
//
// Knows which of Cyber RT's RTPS endpoints are matched. Its topology knows a reader before the endpoint of the writer
// exists, and messages sent until the two have found each other are lost. Cyber RT does not listen to matches, so this
// file does.
#ifndef TACHO_CYBER_RTPS_MATCHES_H_
#define TACHO_CYBER_RTPS_MATCHES_H_

#include <string>

// Number of endpoints of readers, one a process, matched with the writer of this channel and QoS in this process; the
// least number if there are several such writers. `qos_profile` is a serialised apollo::cyber::proto::QosProfile.
int rtps_readers(const std::string &channel, const std::string &qos_profile);

// Number of endpoints of writers matched with this process's endpoint for readers of this channel.
int rtps_writers(const std::string &channel);

#endif  // TACHO_CYBER_RTPS_MATCHES_H_
