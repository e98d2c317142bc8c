// SPDX-License-Identifier: Apache-2.0
//
// Ordinary roscpp nodes, as the tests of the ROS 1 recorder need them. They know nothing of the recorder, and write what their own clock
// says (CLOCK_MONOTONIC, ns) into the file CLOCK: a line for each publish call or callback, "what start end".
//
//   ros1_node talk HZ COUNT SIZE            publishes /topic_1 once somebody subscribes, then calls /reset three times, if it is there
//   ros1_node burst COUNT QUEUE             the same, all at once, with this queue
//   ros1_node latch                         publishes /topic_1 once before anybody subscribes, and latches it, then as burst 5 100
//   ros1_node work SPINNER MS QUEUE [udp]   /topic_1 -> MS of work -> /topic_2; a timer, a wall timer, a steady timer and a service beside
//   ros1_node hear [COUNT]                  subscribes /topic_2, until so many messages came
//   ros1_node together HZ COUNT             talk and two subscriptions of one process, messages handed over as pointers
//
// SPINNER: spin, once (a loop of ros::spinOnce), multi, async, concurrent (callbacks of one subscription at a time in several threads),
// own (a callback queue of one's own in a thread of one's own). `work` and `hear` end at SIGINT.
#include <ros/callback_queue.h>
#include <ros/ros.h>
#include <std_msgs/UInt8MultiArray.h>
#include <roscpp/Empty.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

using Message = std_msgs::UInt8MultiArray;

static int64_t now_ns() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000ll + now.tv_nsec;
}

// Own clock of a callback or a publish call.
struct Stamps {
  std::string what;
  int64_t start, end;
};
static std::mutex mutex;
static std::vector<Stamps> stamps;

static void stamp(const char *what, int64_t start, int64_t end) {
  std::lock_guard<std::mutex> lock(mutex);
  stamps.push_back({what, start, end});
}

static void write_stamps() {
  const char *path = std::getenv("CLOCK");
  FILE *file = path ? std::fopen(path, "w") : nullptr;
  if (!file) return;
  for (const Stamps &s : stamps)
    std::fprintf(file, "%s %lld %lld\n", s.what.c_str(), (long long)s.start, (long long)s.end);
  std::fclose(file);
}

static void work(double ms) {
  const int64_t end = now_ns() + static_cast<int64_t>(ms * 1e6);
  while (now_ns() < end) {
  }
}

static boost::shared_ptr<Message> message_of(int number, size_t size) {
  auto message = boost::make_shared<Message>();
  message->data.resize(size, static_cast<uint8_t>(number));
  message->layout.data_offset = static_cast<uint32_t>(number);
  return message;
}

static void wait_for_subscriber(const ros::Publisher &publisher) {
  while (ros::ok() && publisher.getNumSubscribers() == 0) usleep(1000);
  usleep(300000);  // its side is ready, too
}

// roscpp passes a message as a pointer within the process if somebody holds it.
static void publish(const ros::Publisher &publisher, const boost::shared_ptr<Message> &message, bool shared) {
  const int64_t start = now_ns();
  if (shared)
    publisher.publish(message);
  else
    publisher.publish(*message);
  stamp("publish", start, now_ns());
}

// Requests wait after the messages that came before them.
static void settle() {
  roscpp::Empty empty;
  for (int i = 0; i < 3 && ros::service::exists("/reset", false); i++) ros::service::call("/reset", empty);
  usleep(500000);  // for callbacks in several threads, and if there is no service
}

static int talk(ros::NodeHandle &node, double hz, int count, size_t size, bool shared) {
  const ros::Publisher publisher = node.advertise<Message>("/topic_1", 100);
  wait_for_subscriber(publisher);
  const int64_t period = static_cast<int64_t>(1e9 / hz);
  int64_t due = now_ns();
  for (int i = 0; i < count && ros::ok(); i++, due += period) {
    const timespec until{due / 1000000000, due % 1000000000};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr);
    publish(publisher, message_of(i, size), shared);
  }
  settle();
  return 0;
}

static int burst(ros::NodeHandle &node, int count, uint32_t queue, bool latch) {
  const ros::Publisher publisher = node.advertise<Message>("/topic_1", queue, latch);
  if (latch) publish(publisher, message_of(count, 1000), false);
  wait_for_subscriber(publisher);
  for (int i = 0; i < count; i++) publish(publisher, message_of(i, 1000), false);
  settle();
  return 0;
}

// `heard`: it takes no message before somebody listens to what it publishes.
static int do_work(ros::NodeHandle &node, const std::string &spinner, double ms, uint32_t queue, bool udp, bool heard) {
  ros::Publisher publisher = node.advertise<Message>("/topic_2", 100);
  ros::CallbackQueue own;
  ros::SubscribeOptions options = ros::SubscribeOptions::create<Message>(
      "/topic_1", queue,
      [&](const Message::ConstPtr &message) {
        const int64_t start = now_ns();
        work(ms);
        publisher.publish(*message);
        stamp("subscription", start, now_ns());
      },
      ros::VoidConstPtr(), spinner == "own" ? &own : nullptr);
  options.allow_concurrent_callbacks = spinner == "concurrent";
  if (udp) options.transport_hints = ros::TransportHints().udp();
  const auto timed = [](const char *what) {
    return [what](const auto &) {
      const int64_t start = now_ns();
      work(0.2);
      stamp(what, start, now_ns());
    };
  };
  const auto timer =
      node.createTimer(ros::Duration(0.1), boost::function<void(const ros::TimerEvent &)>(timed("timer")));
  const auto wall =
      node.createWallTimer(ros::WallDuration(0.2), boost::function<void(const ros::WallTimerEvent &)>(timed("wall")));
  const auto steady = node.createSteadyTimer(ros::WallDuration(0.25),
                                             boost::function<void(const ros::SteadyTimerEvent &)>(timed("steady")));
  const auto service = node.advertiseService<roscpp::Empty::Request, roscpp::Empty::Response>(
      "/reset", boost::function<bool(roscpp::Empty::Request &, roscpp::Empty::Response &)>([](auto &, auto &) {
        const int64_t start = now_ns();
        work(0.5);
        stamp("service", start, now_ns());
        return true;
      }));
  if (heard) wait_for_subscriber(publisher);
  const ros::Subscriber subscriber = node.subscribe(options);
  if (spinner == "spin") {
    ros::spin();
  } else if (spinner == "once") {
    for (; ros::ok(); usleep(500)) ros::spinOnce();
  } else if (spinner == "multi" || spinner == "concurrent") {
    ros::MultiThreadedSpinner(2).spin();
  } else if (spinner == "async") {
    ros::AsyncSpinner threads(2);
    threads.start();
    ros::waitForShutdown();
  } else if (spinner == "own") {
    std::thread thread([&] {
      while (ros::ok()) own.callAvailable(ros::WallDuration(0.05));
    });
    ros::spin();
    thread.join();
  } else {
    std::fprintf(stderr, "ros1_node: no spinner %s\n", spinner.c_str());
    return 2;
  }
  return 0;
}

static void hear(const char *what) {
  const int64_t now = now_ns();
  stamp(what, now, now);
}
static int to_hear = 0;  // 0: no end
static void heard(const Message::ConstPtr &) {
  hear("heard");
  if (--to_hear == 0) ros::requestShutdown();
}
static void left(const Message::ConstPtr &) { hear("left"); }
static void right(const Message::ConstPtr &) { hear("right"); }

int main(int count, char **arguments) {
  const std::vector<std::string> words(arguments, arguments + count);
  const auto at = [&](size_t index) { return index < words.size() ? words[index] : std::string(); };
  const std::string role = at(1);
  ros::init(count, arguments, role);
  ros::NodeHandle node;
  int result = 2;
  if (role == "talk") {
    result = talk(node, std::stod(at(2)), std::stoi(at(3)), std::stoul(at(4)), false);
  } else if (role == "burst") {
    result = burst(node, std::stoi(at(2)), std::stoul(at(3)), false);
  } else if (role == "latch") {
    result = burst(node, 5, 100, true);
  } else if (role == "work") {
    result = do_work(node, at(2), std::stod(at(3)), std::stoul(at(4)), at(5) == "udp", at(5) == "heard");
  } else if (role == "hear") {
    to_hear = at(2).empty() ? 0 : std::stoi(at(2));
    const auto subscriber = node.subscribe("/topic_2", 1000, heard);
    ros::spin();
    result = 0;
  } else if (role == "together") {
    const auto one = node.subscribe("/topic_1", 1000, left);
    const auto other = node.subscribe("/topic_1", 1000, right);
    ros::AsyncSpinner spinner(1);
    spinner.start();
    result = talk(node, std::stod(at(2)), std::stoi(at(3)), 1000, true);
    spinner.stop();
  }
  write_stamps();
  return result;
}
