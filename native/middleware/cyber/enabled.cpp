// SPDX-License-Identifier: Apache-2.0
#include "enabled.h"

#include <map>
#include <mutex>

#include "cyber_rt.h"
#include "in_front.h"
#include "topology.h"

namespace apollo {
namespace cyber {
namespace transport {

// Cyber RT declares these virtual, and the mangled names are equal; here they must not be virtual, because they would
// bring other vtables.
template <class Message>
class HybridTransmitter {
 public:
  void Enable(const proto::RoleAttributes &peer);
  void Disable(const proto::RoleAttributes &peer);
};
template <class Message>
class HybridReceiver {
 public:
  void Enable(const proto::RoleAttributes &peer);
  void Disable(const proto::RoleAttributes &peer);
};

}  // namespace transport
}  // namespace cyber
}  // namespace apollo

namespace {

using apollo::cyber::message::PyMessageWrap;
using apollo::cyber::proto::RoleAttributes;
using apollo::cyber::transport::HybridReceiver;
using apollo::cyber::transport::HybridTransmitter;

// Never destroyed, because threads of Cyber RT may outlive destructors.
struct Ends {
  std::mutex mutex;
  std::map<const void *, std::set<uint64_t>> peers;
} &ends = *new Ends;

void note(const void *end, const RoleAttributes &peer, bool enabled) {
  const uint64_t id = role_of(peer).id;
  std::lock_guard<std::mutex> lock(ends.mutex);
  if (enabled)
    ends.peers[end].insert(id);
  else
    ends.peers[end].erase(id);
}

template <class End>
using Call = void (*)(End *, const RoleAttributes &);

}  // namespace

namespace apollo {
namespace cyber {
namespace transport {

template <>
IN_FRONT void HybridTransmitter<PyMessageWrap>::Enable(const RoleAttributes &peer) {
  static const auto next = behind<Call<HybridTransmitter>>(
      "_ZN6apollo5cyber9transport17HybridTransmitterINS0_7message13PyMessageWrapEE6EnableERKNS0_"
      "5proto14RoleAttributesE");
  next(this, peer);
  note(this, peer, true);
}

template <>
IN_FRONT void HybridTransmitter<PyMessageWrap>::Disable(const RoleAttributes &peer) {
  static const auto next = behind<Call<HybridTransmitter>>(
      "_ZN6apollo5cyber9transport17HybridTransmitterINS0_7message13PyMessageWrapEE7DisableERKNS0_"
      "5proto14RoleAttributesE");
  note(this, peer, false);
  next(this, peer);
}

template <>
IN_FRONT void HybridReceiver<PyMessageWrap>::Enable(const RoleAttributes &peer) {
  static const auto next = behind<Call<HybridReceiver>>(
      "_ZN6apollo5cyber9transport14HybridReceiverINS0_7message13PyMessageWrapEE6EnableERKNS0_5proto14RoleAttributesE");
  next(this, peer);
  note(this, peer, true);
}

template <>
IN_FRONT void HybridReceiver<PyMessageWrap>::Disable(const RoleAttributes &peer) {
  static const auto next = behind<Call<HybridReceiver>>(
      "_ZN6apollo5cyber9transport14HybridReceiverINS0_7message13PyMessageWrapEE7DisableERKNS0_5proto14RoleAttributesE");
  note(this, peer, false);
  next(this, peer);
}

}  // namespace transport
}  // namespace cyber
}  // namespace apollo

std::set<uint64_t> enabled_peers(const void *end) {
  std::lock_guard<std::mutex> lock(ends.mutex);
  const auto found = ends.peers.find(end);
  return found == ends.peers.end() ? std::set<uint64_t>() : found->second;
}

void forget(const void *end) {
  std::lock_guard<std::mutex> lock(ends.mutex);
  ends.peers.erase(end);
}
