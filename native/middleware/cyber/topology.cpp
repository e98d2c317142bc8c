// SPDX-License-Identifier: Apache-2.0
#include "topology.h"

#include <algorithm>
#include <set>
#include <utility>

#include "failure.h"
#include "payload.h"

using apollo::cyber::proto::RoleAttributes;
using google::protobuf::MessageLite;

namespace {

// cyber/proto/role_attributes.proto and qos_profile.proto.
enum Field { HOST_IP = 2, PROCESS_ID = 3, CHANNEL_NAME = 6, MESSAGE_TYPE = 8, ID = 10, QOS_PROFILE = 11 };
enum QosField { HISTORY = 1, DEPTH = 2, RELIABILITY = 4, DURABILITY = 5 };
enum { KEEP_LAST = 1, KEEP_ALL = 2, RELIABLE = 1, BEST_EFFORT = 2, TRANSIENT_LOCAL = 1, VOLATILE = 2 };

// Reads the fields of a protobuf message one after the other; `bytes` is set for length-delimited fields.
class Fields {
 public:
  explicit Fields(const std::string &message) : message_(message) {}
  unsigned number = 0;
  uint64_t value = 0;
  std::string bytes;

  bool next() {
    if (at_ >= message_.size()) return false;
    const uint64_t key = varint();
    number = static_cast<unsigned>(key >> 3);
    switch (key & 7) {
      case 0:
        value = varint();
        break;
      case 1:
        at_ += 8;
        break;
      case 2: {
        const uint64_t size = varint();
        bytes = message_.substr(std::min(at_, message_.size()), size);
        at_ += size;
        break;
      }
      case 5:
        at_ += 4;
        break;
      default:
        fail("cyber: a role in the topology has wire type %u; expected those of protobuf",
             static_cast<unsigned>(key & 7));
    }
    if (at_ > message_.size()) fail("cyber: a role in the topology ends inside field %u", number);
    return true;
  }

 private:
  uint64_t varint() {
    uint64_t out = 0;
    for (unsigned shift = 0; shift < 64 && at_ < message_.size(); shift += 7) {
      const unsigned char byte = static_cast<unsigned char>(message_[at_++]);
      out |= (byte & 127ull) << shift;
      if (byte < 128) return out;
    }
    fail("cyber: a role in the topology ends inside a number");
  }

  const std::string &message_;
  size_t at_ = 0;
};

tacho_qos qos_of(const std::string &profile) {
  tacho_qos qos{TACHO_RELIABLE, TACHO_VOLATILE, TACHO_KEEP_LAST, 1};  // the defaults of the .proto
  for (Fields field(profile); field.next();) {
    if (field.number == HISTORY) qos.history = field.value == KEEP_ALL ? TACHO_KEEP_ALL : TACHO_KEEP_LAST;
    if (field.number == DEPTH) qos.depth = static_cast<uint32_t>(field.value);
    if (field.number == RELIABILITY) qos.reliability = field.value == BEST_EFFORT ? TACHO_BEST_EFFORT : TACHO_RELIABLE;
    if (field.number == DURABILITY)
      qos.durability = field.value == TRANSIENT_LOCAL ? TACHO_TRANSIENT_LOCAL : TACHO_VOLATILE;
  }
  return qos;
}

Mode mode_between(const Role &own, const Role &other, const Modes &modes) {
  if (own.host_ip != other.host_ip) return modes.other_host;
  return own.process == other.process ? modes.same_process : modes.other_process;
}

// Pointers stay inside a process, and shared memory stays inside a machine.
bool reaches(Mode mode, const Role &own, const Role &other) {
  const bool same_host = own.host_ip == other.host_ip;
  return mode == Mode::Rtps || (same_host && (mode == Mode::Shm || own.process == other.process));
}

}  // namespace

std::string qos_profile(const tacho_qos &qos) {
  std::string profile;
  append(profile, HISTORY, qos.history == TACHO_KEEP_ALL ? KEEP_ALL : KEEP_LAST);
  append(profile, DEPTH, qos.depth);
  append(profile, RELIABILITY, qos.reliability == TACHO_RELIABLE ? RELIABLE : BEST_EFFORT);
  append(profile, DURABILITY, qos.durability == TACHO_TRANSIENT_LOCAL ? TRANSIENT_LOCAL : VOLATILE);
  return profile;
}

RoleAttributes attributes_of(const Role &role) {
  std::string bytes;
  append(bytes, CHANNEL_NAME, role.channel);
  append(bytes, MESSAGE_TYPE, role.message_type);
  append(bytes, QOS_PROFILE, qos_profile(role.qos));
  RoleAttributes attributes;
  if (!reinterpret_cast<MessageLite *>(&attributes)->ParseFromString(bytes))
    fail("cyber: Cyber RT does not read the attributes of %s; expected those of pycyber 0.0.6", role.channel.c_str());
  return attributes;
}

Role role_of(const RoleAttributes &attributes) {
  std::string bytes;
  if (!reinterpret_cast<const MessageLite *>(&attributes)->SerializeToString(&bytes))
    fail("cyber: Cyber RT does not write the attributes of a role in the topology");
  Role role;
  for (Fields field(bytes); field.next();) {
    if (field.number == HOST_IP) role.host_ip = field.bytes;
    if (field.number == PROCESS_ID) role.process = static_cast<int32_t>(field.value);
    if (field.number == CHANNEL_NAME) role.channel = field.bytes;
    if (field.number == MESSAGE_TYPE) role.message_type = field.bytes;
    if (field.number == ID) role.id = field.value;
    if (field.number == QOS_PROFILE) role.qos = qos_of(field.bytes);
  }
  return role;
}

Peers peers(const Role &own, bool own_offers, const std::vector<RoleAttributes> &others,
            const std::set<uint64_t> &connected, const Modes &modes) {
  Peers counted;
  std::set<std::pair<std::string, int32_t>> processes;
  for (const RoleAttributes &attributes : others) {
    const Role other = role_of(attributes);
    const tacho_qos &offered = own_offers ? own.qos : other.qos, &requested = own_offers ? other.qos : own.qos;
    const Mode mode = mode_between(own, other, modes);
    if (connected.count(other.id) && other.channel == own.channel && other.message_type == own.message_type &&
        reaches(mode, own, other) && offered.reliability >= requested.reliability &&
        offered.durability >= requested.durability) {
      ++(mode == Mode::Rtps ? counted.by_rtps : counted.otherwise);
      if (mode == Mode::Rtps) processes.emplace(other.host_ip, other.process);
    }
  }
  counted.rtps_processes = static_cast<int>(processes.size());
  return counted;
}
