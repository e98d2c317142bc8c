// SPDX-License-Identifier: Apache-2.0
//
// One node of a system of the diagnosis benchmark on roscpp: roscpp_node DESCRIPTION. Each line of the description is an entity with its
// words, `timer name=plan period_ms=50 work_ms=1.2 publishes=trajectory uses=tracks`; roscpp.py writes it. The methods have the names of
// all callbacks that systems and faults have.
#include <fcntl.h>
#include <ros/ros.h>
#include <sensor_msgs/Image.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <map>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

using sensor_msgs::Image;
using Words = std::map<std::string, std::string>;

static double number(const Words &words, const std::string &key, double otherwise) {
  const auto found = words.find(key);
  return found == words.end() ? otherwise : std::atof(found->second.c_str());
}

static std::string text(const Words &words, const std::string &key) {
  const auto found = words.find(key);
  return found == words.end() ? "" : found->second;
}

static double now_ms(clockid_t clock) {
  timespec now;
  clock_gettime(clock, &now);
  return now.tv_sec * 1e3 + now.tv_nsec / 1e6;
}

static void sleep_ms(double ms) { std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(ms)); }

// Uses so much CPU time of its thread.
static void compute(double ms) {
  const double end = now_ms(CLOCK_THREAD_CPUTIME_ID) + ms;
  while (now_ms(CLOCK_THREAD_CPUTIME_ID) < end) {
  }
}

// Waits for a lock that another thread of this process holds for so long.
static void wait_for_lock(double ms) {
  static std::mutex mutex;
  mutex.lock();
  std::thread holder([ms] {
    sleep_ms(ms);
    mutex.unlock();
  });
  holder.detach();
  std::lock_guard<std::mutex> lock(mutex);
}

// Writes to the disk and waits for it, again and again for so long.
static void write_to_disk(double ms) {
  char path[] = "./written-XXXXXX";
  const int file = mkstemp(path);
  unlink(path);
  const double end = now_ms(CLOCK_MONOTONIC) + ms;
  const std::vector<char> page(4096);
  while (now_ms(CLOCK_MONOTONIC) < end) {
    if (pwrite(file, page.data(), page.size(), 0) < 0 || fsync(file) != 0) std::abort();
  }
  close(file);
}

// Reads memory whose pages the kernel takes away each time, as it does where memory is short, again and again for so long.
static void read_evicted(double ms) {
  const double end = now_ms(CLOCK_MONOTONIC) + ms;
  char path[] = "./evicted-XXXXXX";
  const int file = mkstemp(path);
  unlink(path);
  const std::vector<char> pages(256 * 4096, 'x');
  if (pwrite(file, pages.data(), pages.size(), 0) < 0 || fsync(file) != 0) std::abort();
  void *memory = mmap(nullptr, pages.size(), PROT_READ, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) std::abort();
  madvise(memory, pages.size(), MADV_RANDOM);
  while (now_ms(CLOCK_MONOTONIC) < end) {
    madvise(memory, pages.size(), MADV_PAGEOUT);
    for (size_t at = 0; at < pages.size(); at += 4096) static_cast<volatile char *>(memory)[at];
  }
  munmap(memory, pages.size());
  close(file);
}

// clang-format off
#define NAMES(NAME) \
  NAME(capture) NAME(on_image) NAME(on_points) NAME(on_targets) NAME(on_filtered) NAME(on_objects) NAME(on_tracks) \
  NAME(on_pose) NAME(on_paths) NAME(on_trajectory) NAME(on_debug) NAME(plan) NAME(publish_diagnostics) \
  NAME(reload_map) NAME(rebuild_costs) NAME(upload_log) NAME(download_tiles) NAME(upload) NAME(draw_markers) \
  NAME(log) NAME(compress)
// clang-format on

class Stage {
 public:
  void add(const std::string &entity, const Words &words);

  // Once all are made: the master answers only after some ms. Each begins so long after the one before.
  void start_timers();

#define METHODS(name)                                                      \
  void name(const Image::ConstPtr &message) { run(#name, message.get()); } \
  void name(const ros::TimerEvent &) { run(#name, nullptr); }
  NAMES(METHODS)

 private:
  using Taken = void (Stage::*)(const Image::ConstPtr &);
  using Due = void (Stage::*)(const ros::TimerEvent &);

  void run(const std::string &name, const Image *message);

  ros::NodeHandle node_;
  std::map<std::string, Words> callbacks_;
  std::map<std::string, int> calls_;
  std::map<std::string, ros::Publisher> publishers_;
  std::vector<ros::Subscriber> subscribers_;
  std::vector<std::pair<double, ros::Timer>> timers_;  // after so many ms
  std::mutex mutex_;                                   // of what is below
  std::map<std::string, ros::Time> kept_;
};

void Stage::add(const std::string &entity, const Words &words) {
#define TAKEN(name) {#name, &Stage::name},
#define DUE(name) {#name, &Stage::name},
  static const std::map<std::string, Taken> taken = {NAMES(TAKEN)};
  static const std::map<std::string, Due> due = {NAMES(DUE)};
  const std::string name = text(words, "name"), publishes = text(words, "publishes");
  callbacks_[name] = words;
  calls_[name] = 0;
  if (!publishes.empty()) publishers_[publishes] = node_.advertise<Image>(publishes, 10);
  if (entity == "timer") {
    const ros::Duration period(number(words, "period_ms", 0) / 1e3);
    timers_.emplace_back(number(words, "phase_ms", 0), node_.createTimer(period, due.at(name), this, false, false));
  } else {
    const auto depth = static_cast<uint32_t>(number(words, "depth", 10));
    subscribers_.push_back(node_.subscribe(text(words, "topic"), depth, taken.at(name), this));
  }
}

void Stage::start_timers() {
  for (auto &[after_ms, timer] : timers_) {
    sleep_ms(after_ms);
    timer.start();
  }
}

void Stage::run(const std::string &name, const Image *message) {
  const Words &words = callbacks_.at(name);
  compute(number(words, "work_ms", 0));
  const int every = static_cast<int>(number(words, "stall_every", 0));
  if (every > 0 && ++calls_.at(name) % every == 0) {
    const std::string how = text(words, "stall_how");
    const double ms = number(words, "stall_ms", 0);
    if (how == "sleep") sleep_ms(ms);
    if (how == "compute") compute(ms);
    if (how == "lock") wait_for_lock(ms);
    if (how == "write") write_to_disk(ms);
    if (how == "fault") read_evicted(ms);
  }
  ros::Time stamp = message ? message->header.stamp : ros::Time::now();
  const std::string uses = text(words, "uses"), publishes = text(words, "publishes");
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (message) kept_[text(words, "topic")] = stamp;
    std::istringstream topics(uses);
    bool is_first = true;
    for (std::string topic; std::getline(topics, topic, ','); is_first = false) {
      if (kept_.count(topic) == 0) return;
      if (is_first) stamp = kept_[topic];
    }
  }
  if (publishes.empty()) return;
  for (int i = 0; i < number(words, "burst", 1); i++) {
    Image output;
    output.data.resize(static_cast<size_t>(number(words, "bytes", 0)));
    if (number(words, "stamped", 0) > 0) output.header.stamp = message || !uses.empty() ? stamp : ros::Time::now();
    publishers_.at(publishes).publish(output);
  }
}

int main(int count, char **arguments) {
  std::ifstream description(arguments[count - 1]);
  std::string line, entity, word;
  Words of_node;
  std::vector<std::pair<std::string, Words>> entities;
  while (std::getline(description, line)) {
    std::istringstream in(line);
    Words words;
    in >> entity;
    while (in >> word) words[word.substr(0, word.find('='))] = word.substr(word.find('=') + 1);
    if (entity == "node")
      of_node = words;
    else
      entities.emplace_back(entity, words);
  }
  ros::init(count, arguments, text(of_node, "name"));
  Stage stage;
  for (const auto &[what, words] : entities) stage.add(what, words);
  stage.start_timers();
  const auto threads = static_cast<uint32_t>(number(of_node, "threads", 1));
  const double polls_ms = number(of_node, "polls_ms", 0);
  while (polls_ms > 0 && ros::ok()) {
    ros::spinOnce();
    sleep_ms(polls_ms);
  }
  if (threads > 1)
    ros::MultiThreadedSpinner(threads).spin();
  else
    ros::spin();
}
