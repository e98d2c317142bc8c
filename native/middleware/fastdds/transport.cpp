// SPDX-License-Identifier: Apache-2.0
#include "transport.h"

#include <fastdds/rtps/transport/TCPv4TransportDescriptor.hpp>
#include <fastdds/rtps/transport/UDPv4TransportDescriptor.hpp>
#include <fastdds/rtps/transport/shared_mem/SharedMemTransportDescriptor.hpp>
#include <fastdds/utils/IPLocator.hpp>

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>

#include <cstring>
#include <memory>

using namespace eprosima::fastdds::rtps;
using eprosima::fastdds::dds::DomainParticipantQos;

namespace {

// A measurement must neither disturb a vehicle network nor be disturbed by it.
const char LOOPBACK[] = "127.0.0.1";

std::shared_ptr<UDPv4TransportDescriptor> udp(const std::string &address) {
  auto made = std::make_shared<UDPv4TransportDescriptor>();
  made->interfaceWhiteList.push_back(address);
  return made;
}

// Fast DDS's default, also for the maximum size of messages.
std::shared_ptr<SharedMemTransportDescriptor> shared_memory() {
  auto made = std::make_shared<SharedMemTransportDescriptor>();
  made->max_message_size(UDPv4TransportDescriptor().max_message_size());
  return made;
}

// Participants and endpoints find each other by UDP; messages use TCP on a port that the system chooses. Fast DDS's own
// LARGE_DATA also uses TCP for discovery of endpoints, with which 3.2 sometimes finds none within ten seconds, or
// hangs.
void set_up_tcp(const std::string &address, DomainParticipantQos &qos) {
  auto tcp = std::make_shared<TCPv4TransportDescriptor>();
  tcp->add_listener_port(0);
  tcp->interfaceWhiteList.push_back(address);
  tcp->calculate_crc = false;
  tcp->check_crc = false;
  tcp->apply_security = false;
  tcp->enable_tcp_nodelay = true;
  // A waiting send holds what the receiving thread needs: two processes that sent each other 1 MiB have been seen to
  // wait for each other for ever. A send that does not wait is repeated later, so the buffers hold some messages of
  // study A's largest size.
  tcp->non_blocking_send = true;
  tcp->sendBufferSize = tcp->receiveBufferSize = 4 << 20;
  qos.transport().user_transports = {tcp, udp(address)};

  // A participant does not connect to itself.
  qos.properties().properties().emplace_back("fastdds.ignore_local_endpoints", "true");

  Locator_t data;
  data.kind = LOCATOR_KIND_TCPv4;
  IPLocator::setIPv4(data, "0.0.0.0");
  IPLocator::setPhysicalPort(data, 0);
  IPLocator::setLogicalPort(data, 0);
  qos.wire_protocol().default_unicast_locator_list.push_back(data);

  Locator_t here, everybody;  // ports as DDSI-RTPS 2.5, 9.6.2, says
  here.kind = everybody.kind = LOCATOR_KIND_UDPv4;
  IPLocator::setIPv4(here, address);
  IPLocator::setIPv4(everybody, "239.255.0.1");
  qos.wire_protocol().builtin.metatrafficUnicastLocatorList.push_back(here);
  qos.wire_protocol().builtin.metatrafficMulticastLocatorList.push_back(everybody);
}

}  // namespace

const char *const transport_names[] = {"default", "udp", "tcp", "shm", "data-sharing", nullptr};

bool transport_of(const char *name, Transport *transport) {
  *transport = Transport::Default;
  if (!*name) return true;
  for (int i = 0; transport_names[i]; i++)
    if (!std::strcmp(name, transport_names[i])) {
      *transport = static_cast<Transport>(i);
      return true;
    }
  return false;
}

bool is_usable(const std::string &address) {
  in_addr asked;
  ifaddrs *interfaces = nullptr;
  if (inet_pton(AF_INET, address.c_str(), &asked) != 1 || getifaddrs(&interfaces) != 0) return false;
  bool found = false;
  for (const ifaddrs *at = interfaces; at; at = at->ifa_next)
    found |= (at->ifa_flags & IFF_RUNNING) && at->ifa_addr && at->ifa_addr->sa_family == AF_INET &&
             reinterpret_cast<const sockaddr_in *>(at->ifa_addr)->sin_addr.s_addr == asked.s_addr;
  freeifaddrs(interfaces);
  return found;
}

void set_up(Transport transport, const std::string &address, DomainParticipantQos &qos) {
  const std::string interface = address.empty() ? LOOPBACK : address;
  auto &transports = qos.transport().user_transports;
  qos.transport().use_builtin_transports = false;
  switch (transport) {
    case Transport::Udp:
      transports = {udp(interface)};
      break;
    case Transport::Tcp:
      set_up_tcp(interface, qos);
      break;
    case Transport::Shm:
      transports = {shared_memory()};
      break;
    // Data sharing carries only messages; participants and endpoints find each other in the default way.
    case Transport::Default:
    case Transport::DataSharing:
      transports = {shared_memory(), udp(interface)};
      break;
  }
  // Hosts that are namespaces of one machine share its memory, and messages would use it instead of their network.
  if (transport == Transport::Default && !address.empty()) transports = {udp(interface)};
}
