// SPDX-License-Identifier: Apache-2.0
//
// Makes Cyber RT end without taking seconds. Its scheduler ends its sixteen threads one by one, and a thread that
// misses its wake-up, because others take it, sleeps for a second: some 4 s on a quiet machine, and more on a busy one,
// where the runner would kill the process. So this wakes the threads again and again, but only while the scheduler
// shuts down.
#include <atomic>
#include <chrono>
#include <mutex>
#include <set>
#include <string>
#include <thread>

#include "in_front.h"

namespace apollo {
namespace cyber {
namespace scheduler {

IN_FRONT void CleanUp();

// The queue of a scheduler's group; choreography's pool has one, too.
class ClassicContext {
 public:
  static void Notify(const std::string &group);
  IN_FRONT void InitGroup(const std::string &group);
};

}  // namespace scheduler
}  // namespace cyber
}  // namespace apollo

using apollo::cyber::scheduler::ClassicContext;

namespace {

// Never destroyed, because Cyber RT shuts down when the process exits.
struct Groups {
  std::mutex mutex;
  std::set<std::string> names;
} &groups = *new Groups;

}  // namespace

void ClassicContext::InitGroup(const std::string &group) {
  static const auto next = behind<void (*)(ClassicContext *, const std::string &)>(
      "_ZN6apollo5cyber9scheduler14ClassicContext9InitGroupERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE");
  {
    std::lock_guard<std::mutex> lock(groups.mutex);
    groups.names.insert(group);
  }
  next(this, group);
}

void apollo::cyber::scheduler::CleanUp() {
  static const auto next = behind<void (*)()>("_ZN6apollo5cyber9scheduler7CleanUpEv");
  std::atomic<bool> over{false};
  std::thread waker([&over] {
    while (!over) {
      {
        std::lock_guard<std::mutex> lock(groups.mutex);
        for (const std::string &group : groups.names) ClassicContext::Notify(group);
      }
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
  });
  next();
  over = true;
  waker.join();
}
