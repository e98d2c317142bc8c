// SPDX-License-Identifier: Apache-2.0
//
// A node on roscpp whose callbacks are functions of all forms. Nothing is called; they are only registered.
#include <ros/ros.h>
#include <roscpp/Empty.h>
#include <std_msgs/UInt8MultiArray.h>

using Message = std_msgs::UInt8MultiArray;

struct Base {
  virtual ~Base() = default;
  virtual void on_status(const Message::ConstPtr &) {}
};

namespace {

struct Planner : Base {
  void on_points(const Message::ConstPtr &) { points++; }
  void on_map(const Message &) { maps++; }
  void on_status(const Message::ConstPtr &) override { points--; }
  void plan(const ros::TimerEvent &) { plans++; }
  bool reset(roscpp::Empty::Request &, roscpp::Empty::Response &) { return plans == 0; }
  int points = 0, maps = 0, plans = 0;
};

void on_pose(const Message::ConstPtr &) {}
void tick(const ros::WallTimerEvent &) {}

}  // namespace

int main(int count, char **arguments) {
  ros::init(count, arguments, "planner");
  ros::NodeHandle node;
  const auto planner = boost::make_shared<Planner>();
  const ros::Subscriber points = node.subscribe("/points", 1, &Planner::on_points, planner.get());
  const ros::Subscriber map = node.subscribe("/map", 1, &Planner::on_map, planner);
  const ros::Subscriber status = node.subscribe("/status", 1, &Planner::on_status, planner.get());
  const ros::Subscriber pose = node.subscribe("/pose", 1, on_pose);
  const boost::function<void(const Message::ConstPtr &)> on_goal = [](const Message::ConstPtr &) {};
  const ros::Subscriber goal = node.subscribe<Message>("/goal", 1, on_goal);
  const ros::Timer timer = node.createTimer(ros::Duration(1), &Planner::plan, planner.get());
  const ros::WallTimer wall = node.createWallTimer(ros::WallDuration(2), tick);
  const ros::ServiceServer reset = node.advertiseService("/reset", &Planner::reset, planner.get());
  ros::spinOnce();
}
