// SPDX-License-Identifier: Apache-2.0
//
// plain talker|listener|both tcp|udp SIZE COUNT RATE: sends messages of SIZE bytes one way on plain roscpp, written as
// usual. The talker writes CLOCK_MONOTONIC into each just before it publishes. The listener prints the time until its
// callback, in ns, one a line, and ends with its standard input. `both` is talker and listener in one process.
#include <poll.h>
#include <ros/ros.h>
#include <std_msgs/UInt8MultiArray.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

static int64_t now_ns() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000ll + now.tv_nsec;
}

static std::vector<int64_t> latencies;

static void received(const std_msgs::UInt8MultiArray::ConstPtr &message) {
  const int64_t now = now_ns();
  int64_t sent;
  std::memcpy(&sent, message->data.data(), sizeof sent);
  latencies.push_back(now - sent);
}

static void talk(ros::Publisher &publisher, size_t size, int count, int64_t period_ns) {
  while (publisher.getNumSubscribers() == 0) usleep(1000);
  usleep(200000);  // the listener's side is then ready, too
  boost::shared_ptr<std_msgs::UInt8MultiArray> message;
  int64_t due = now_ns();
  for (int i = 0; i < count; i++, due += period_ns) {
    // The same message is sent again, unless a listener of this process holds it: then it must not change.
    if (message.use_count() != 1) {
      message = boost::make_shared<std_msgs::UInt8MultiArray>();
      message->data.resize(size);
    }
    const timespec until{due / 1000000000, due % 1000000000};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr);
    const int64_t sent = now_ns();
    std::memcpy(message->data.data(), &sent, sizeof sent);
    publisher.publish(message);
  }
  usleep(300000);  // the last one arrives
}

int main(int count, char **arguments) {
  if (count != 6) {
    std::fprintf(stderr, "usage: plain talker|listener|both tcp|udp SIZE COUNT RATE\n");
    return 2;
  }
  const std::string role = arguments[1];
  ros::init(count, arguments, role, ros::init_options::NoSigintHandler | ros::init_options::NoRosout);
  ros::NodeHandle node;
  ros::Publisher publisher;
  ros::Subscriber subscriber;
  ros::TransportHints hints;
  if (!std::strcmp(arguments[2], "udp"))
    hints.udp();
  else
    hints.tcp();
  if (role != "talker") subscriber = node.subscribe("/points", 10, received, hints);
  if (role != "listener") publisher = node.advertise<std_msgs::UInt8MultiArray>("/points", 10);
  ros::AsyncSpinner spinner(1);
  spinner.start();
  if (role != "listener") {
    talk(publisher, std::strtoul(arguments[3], nullptr, 10), std::atoi(arguments[4]),
         1000000000ll / std::atoi(arguments[5]));
  } else {
    pollfd input{STDIN_FILENO, POLLIN, 0};
    poll(&input, 1, -1);
  }
  spinner.stop();
  for (int64_t latency : latencies) std::printf("%lld\n", static_cast<long long>(latency));
}
