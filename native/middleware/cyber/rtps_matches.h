// SPDX-License-Identifier: Apache-2.0
//
// Which of Cyber RT's RTPS endpoints are matched. Its topology knows of a reader before the endpoint of the writer is even made;
// what is sent until the two have found each other is lost. Cyber RT listens to no match, so this does: it stands before the
// functions of Fast RTPS by which Cyber RT makes endpoints, passes every call on, and counts.
#ifndef TACHO_CYBER_RTPS_MATCHES_H_
#define TACHO_CYBER_RTPS_MATCHES_H_

#include <string>

// Readers matched with the writer of this channel in this process; the fewest, where it has several.
int rtps_readers(const std::string &channel);
int rtps_writers(const std::string &channel);

#endif  // TACHO_CYBER_RTPS_MATCHES_H_
