// SPDX-License-Identifier: Apache-2.0
//
// Three nodelets in one process, as `nodelet manager` runs them: the loader of the nodelet library, with its queues and threads. Only the
// search for plugins is left out. A source (a timer), a filter that may be called by several threads at a time, and a sink, which ends the
// program at its COUNT-th message: ros1_nodelets COUNT. Prints how many messages the filter and the sink got.
#include <nodelet/loader.h>
#include <nodelet/nodelet.h>
#include <ros/ros.h>
#include <std_msgs/UInt8MultiArray.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>

using Message = std_msgs::UInt8MultiArray;
static std::atomic<int> filtered{0}, arrived{0};
static int wanted = 0;

class Source : public nodelet::Nodelet {
  void onInit() override {
    publisher_ = getNodeHandle().advertise<Message>("/points", 100);
    timer_ = getNodeHandle().createWallTimer(ros::WallDuration(0.01), &Source::tick, this);
  }
  void tick(const ros::WallTimerEvent &) { publisher_.publish(boost::make_shared<Message>()); }
  ros::Publisher publisher_;
  ros::WallTimer timer_;
};

class Filter : public nodelet::Nodelet {
  void onInit() override {
    publisher_ = getMTNodeHandle().advertise<Message>("/filtered", 100);
    subscriber_ = getMTNodeHandle().subscribe("/points", 100, &Filter::filter, this);
  }
  void filter(const Message::ConstPtr &message) {
    filtered++;
    publisher_.publish(message);
  }
  ros::Publisher publisher_;
  ros::Subscriber subscriber_;
};

class Sink : public nodelet::Nodelet {
  void onInit() override { subscriber_ = getNodeHandle().subscribe("/filtered", 100, &Sink::arrive, this); }
  void arrive(const Message::ConstPtr &) {
    if (++arrived == wanted) ros::requestShutdown();
  }
  ros::Subscriber subscriber_;
};

static boost::shared_ptr<nodelet::Nodelet> create(const std::string &type) {
  if (type == "source") return boost::make_shared<Source>();
  if (type == "filter") return boost::make_shared<Filter>();
  return boost::make_shared<Sink>();
}

int main(int count, char **arguments) {
  ros::init(count, arguments, "manager");
  wanted = std::atoi(arguments[1]);
  ros::NodeHandle node;
  nodelet::Loader loader{boost::function<boost::shared_ptr<nodelet::Nodelet>(const std::string &)>(create)};
  for (const char *name : {"sink", "filter", "source"}) {
    if (!loader.load(std::string("/") + name, name, {}, {})) return 1;
  }
  ros::spin();
  loader.clear();
  std::printf("%d %d\n", filtered.load(), arrived.load());
  return 0;
}
