"""A sensor of 50 Hz and a tracker that calls spin_once() in a loop of its own, a process each.

usage: seldom_looking.py sensor|tracker

After 100 and after 150 messages, the tracker's loop sleeps for 1.5 s, outside of any callback. After 250 messages, it
prints the longest time between two of its looks, in ms, and ends.
"""

import sys
import time

import rclpy
from patience import Patience
from rclpy.node import Node
from std_msgs.msg import Int64


class Sensor(Node):
    def __init__(self):
        super().__init__("sensor")
        self.points = self.create_publisher(Int64, "points", 500)
        self.create_timer(0.02, lambda: self.points.publish(Int64(data=1)))


class Tracker(Node):
    def __init__(self):
        super().__init__("tracker")
        self.count, self.patience = 0, Patience(lambda: self.count)
        self.create_subscription(Int64, "points", self.on_points, 500)

    def on_points(self, message):
        self.patience.came()
        self.count += message.data


rclpy.init()
if sys.argv[1] == "sensor":
    try:
        rclpy.spin(Sensor())
    except rclpy.executors.ExternalShutdownException:
        pass
else:
    tracker, longest_s, looked, slept = Tracker(), 0.0, time.monotonic(), 0
    while tracker.count < 250:
        if tracker.count >= 100 + 50 * slept and slept < 2:
            slept += 1
            time.sleep(1.5)
        longest_s = max(longest_s, time.monotonic() - looked)
        looked = time.monotonic()
        rclpy.spin_once(tracker, timeout_sec=0.01)
    print(round(1000 * longest_s), flush=True)
