// SPDX-License-Identifier: Apache-2.0
//
// Which peers Cyber RT has connected an endpoint with. Its topology lists a peer before the transport between the two is enabled,
// and what is sent in between is lost; nothing of Cyber RT says when that is done, so this watches it being done.
#ifndef TACHO_CYBER_ENABLED_H_
#define TACHO_CYBER_ENABLED_H_

#include <cstdint>
#include <set>

// `end` is a transmitter or receiver: see Writer::transmitter() and Reader::receiver(). Peers are given by the ids of their roles.
std::set<uint64_t> enabled_peers(const void *end);

// When it is destroyed: another may be made at the same address.
void forget(const void *end);

#endif  // TACHO_CYBER_ENABLED_H_
