// SPDX-License-Identifier: Apache-2.0
//
// Knows to which peers Cyber RT has connected an endpoint. Its topology lists a peer before the transport between the
// two is enabled, and messages sent in between are lost. Cyber RT does not report when it is enabled, so this file
// observes the calls.
#ifndef TACHO_CYBER_ENABLED_H_
#define TACHO_CYBER_ENABLED_H_

#include <cstdint>
#include <set>

// `end` is a transmitter or receiver: see Writer::transmitter() and Reader::receiver(). The ids of their roles identify
// the peers.
std::set<uint64_t> enabled_peers(const void *end);

// Call it when the end is destroyed, because another one may get the same address.
void forget(const void *end);

#endif  // TACHO_CYBER_ENABLED_H_
