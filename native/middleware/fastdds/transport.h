// SPDX-License-Identifier: Apache-2.0
//
// Which way messages go: participants of each transport that the plugin offers. All stay on this machine.
#ifndef TACHO_FASTDDS_TRANSPORT_H_
#define TACHO_FASTDDS_TRANSPORT_H_

#include <fastdds/dds/domain/qos/DomainParticipantQos.hpp>

#include <string>

enum class Transport { Default, Udp, Tcp, Shm, DataSharing };

extern const char *const transport_names[]; // NULL-terminated, in the order above

// False: there is no such name. "" is the default.
bool transport_of(const char *name, Transport *transport);
void set_up(Transport transport, eprosima::fastdds::dds::DomainParticipantQos &qos);

#endif
