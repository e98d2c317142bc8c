// SPDX-License-Identifier: Apache-2.0
//
// A program's own account of what its callbacks did, on its own clock: printed at the end, so that printing takes no time meanwhile.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <rclcpp/executors.hpp>
#include <rclcpp/experimental/executors/events_executor/events_executor.hpp>
#include <string>
#include <thread>
#include <vector>

inline int64_t now_ns() {
  return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Uses its thread for that long.
inline void work_ms(int64_t ms) {
  const int64_t until = now_ns() + ms * 1'000'000;
  while (now_ns() < until) {
  }
}

class Stamps {
 public:
  // "name sequence start_ns end_ns" of a callback; of a publish call both are just before it.
  void add(const std::string &name, uint64_t sequence, int64_t start_ns, int64_t end_ns) {
    {
      const std::lock_guard lock(mutex);
      rows.push_back({name, sequence, start_ns, end_ns});
    }
    changed.notify_all();
  }

  // Until so many rows of that name are there; ends the program where they do not come.
  void await(const std::string &name, size_t count) {
    std::unique_lock lock(mutex);
    const auto there = [&] {
      size_t found = 0;
      for (const Row &row : rows) found += row.name == name;
      return found >= count;
    };
    if (changed.wait_for(lock, std::chrono::seconds(60), there)) return;
    std::fprintf(stderr, "expected %zu of %s within 60 s\n", count, name.c_str());
    std::_Exit(1);
  }

  ~Stamps() {
    for (const Row &row : rows)
      std::printf("%s %llu %lld %lld\n", row.name.c_str(), static_cast<unsigned long long>(row.sequence),
                  static_cast<long long>(row.start_ns), static_cast<long long>(row.end_ns));
  }

 private:
  struct Row {
    std::string name;
    uint64_t sequence;
    int64_t start_ns, end_ns;
  };
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<Row> rows;
};

inline Stamps stamps;

// From the first line of a callback to its last.
class Inside {
 public:
  explicit Inside(const char *name, uint64_t sequence = 0) : name(name), sequence(sequence), start_ns(now_ns()) {}
  ~Inside() { stamps.add(name, sequence, start_ns, now_ns()); }
  Inside(const Inside &) = delete;

 private:
  const char *name;
  uint64_t sequence;
  int64_t start_ns;
};

// Just before a publish call.
inline void publishes(const char *topic, uint64_t sequence) {
  const int64_t now = now_ns();
  stamps.add(topic, sequence, now, now);
}

inline std::unique_ptr<rclcpp::Executor> executor_of(const std::string &name, size_t threads = 2) {
  if (name == "single") return std::make_unique<rclcpp::executors::SingleThreadedExecutor>();
  if (name == "multi")
    return std::make_unique<rclcpp::executors::MultiThreadedExecutor>(rclcpp::ExecutorOptions(), threads);
  if (name == "static") return std::make_unique<rclcpp::executors::StaticSingleThreadedExecutor>();
  if (name == "events") return std::make_unique<rclcpp::experimental::executors::EventsExecutor>();
  std::fprintf(stderr, "executor \"%s\": expected single, static, multi or events\n", name.c_str());
  std::exit(2);
}

// Until as many endpoints as that found each other; ends the program where they do not.
template <class Count>
void await_match(Count count, size_t expected) {
  for (int64_t until = now_ns() + 60'000'000'000; count() < expected;) {
    if (now_ns() > until) {
      std::fprintf(stderr, "expected %zu matched endpoints within 60 s, found %zu\n", expected,
                   static_cast<size_t>(count()));
      std::_Exit(1);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}
