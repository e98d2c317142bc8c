// SPDX-License-Identifier: Apache-2.0
//
// Makes an endpoint of Cyber RT wait, when it is shut down, for the notification that it is getting. Cyber RT
// disconnects the endpoint from changes of the topology and frees its receiver, while another thread may have looked
// just before whether the endpoint is connected, and reads the receiver just after.
#include <condition_variable>
#include <mutex>

#include "in_front.h"

namespace apollo {
namespace cyber {
namespace proto {
class ChangeMsg;
}
namespace base {
template <class... Arguments>
class Connection;
}
namespace service_discovery {

class IN_FRONT Manager {
 public:
  void Notify(const proto::ChangeMsg &change);
  void RemoveChangeListener(const base::Connection<const proto::ChangeMsg &> &connection);
};

}  // namespace service_discovery
}  // namespace cyber
}  // namespace apollo

using apollo::cyber::service_discovery::Manager;

namespace {

// Never destroyed, because threads of Cyber RT may outlive destructors.
struct Running {
  std::mutex mutex;
  std::condition_variable over;
  int notifications = 0;
} &running = *new Running;

// Notifications lead to others, on the same thread.
thread_local int own = 0;

}  // namespace

void Manager::Notify(const apollo::cyber::proto::ChangeMsg &change) {
  static const auto next = behind<void (*)(Manager *, const apollo::cyber::proto::ChangeMsg &)>(
      "_ZN6apollo5cyber17service_discovery7Manager6NotifyERKNS0_5proto9ChangeMsgE");
  {
    std::lock_guard<std::mutex> lock(running.mutex);
    running.notifications++;
    own++;
  }
  next(this, change);
  std::lock_guard<std::mutex> lock(running.mutex);
  running.notifications--;
  own--;
  running.over.notify_all();
}

void Manager::RemoveChangeListener(
    const apollo::cyber::base::Connection<const apollo::cyber::proto::ChangeMsg &> &connection) {
  static const auto next =
      behind<void (*)(Manager *, const apollo::cyber::base::Connection<const apollo::cyber::proto::ChangeMsg &> &)>(
          "_ZN6apollo5cyber17service_discovery7Manager20RemoveChangeListenerERKNS0_4base10ConnectionIJRKNS0_"
          "5proto9ChangeMsgEEEE");
  next(this, connection);
  // Whatever is notified from here on is disconnected.
  std::unique_lock<std::mutex> lock(running.mutex);
  running.over.wait(lock, [] { return running.notifications == own; });
}
