// SPDX-License-Identifier: Apache-2.0
//
// Which way messages go: participants of each transport that the plugin offers. Without an address, all stay on this machine.
#ifndef TACHO_FASTDDS_TRANSPORT_H_
#define TACHO_FASTDDS_TRANSPORT_H_

#include <fastdds/dds/domain/qos/DomainParticipantQos.hpp>

#include <string>

enum class Transport { Default, Udp, Tcp, Shm, DataSharing };

extern const char *const transport_names[];  // NULL-terminated, in the order above

// False: there is no such name. "" is the default.
bool transport_of(const char *name, Transport *transport);
// Whether an interface that is up has this IPv4 address; Fast DDS takes any, and is then alone.
bool is_usable(const std::string &address);
// `address`: of the one interface to use; empty for this machine alone.
void set_up(Transport transport, const std::string &address, eprosima::fastdds::dds::DomainParticipantQos &qos);

#endif
