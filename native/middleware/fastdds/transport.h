// SPDX-License-Identifier: Apache-2.0
//
// The transports of messages: makes participants for each transport that the plugin offers. Without an address, all
// traffic stays on this machine.
#ifndef TACHO_FASTDDS_TRANSPORT_H_
#define TACHO_FASTDDS_TRANSPORT_H_

#include <fastdds/dds/domain/qos/DomainParticipantQos.hpp>

#include <string>

enum class Transport { Default, Udp, Tcp, Shm, DataSharing };

extern const char *const transport_names[];  // NULL-terminated, in the order above

// Returns false if there is no such name. "" is the default.
bool transport_of(const char *name, Transport *transport);
// Whether an active interface has this IPv4 address. Fast DDS accepts any address, and then finds no peer.
bool is_usable(const std::string &address);
// `address`: that of the only interface to use; empty to stay on this machine.
void set_up(Transport transport, const std::string &address, eprosima::fastdds::dds::DomainParticipantQos &qos);

#endif
