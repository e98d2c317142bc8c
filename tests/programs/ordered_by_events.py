"""A source that publishes five messages at once, and a node that takes them, on the events executor or the single-threaded one.

usage: ordered_by_events.py source|events|single SECONDS
"""

import os
import sys
import threading
import time

import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.experimental.events_executor import EventsExecutor
from rclpy.node import Node
from rclpy.task import Future
from std_msgs.msg import String


class Source(Node):
    def __init__(self):
        super().__init__("source")
        self.points = self.create_publisher(String, "points", 100)
        self.image = self.create_publisher(String, "image", 100)
        self.create_timer(0.06, lambda: [self.points.publish(String(data="points")) for _ in range(5)])
        self.create_timer(0.047, lambda: self.image.publish(String(data="image")))


class Joins(Node):
    def __init__(self):
        super().__init__("joins")
        self.objects = self.create_publisher(String, "objects", 10)
        self.create_subscription(String, "points", lambda message: time.sleep(0.008), 100)
        self.create_subscription(String, "image", lambda message: time.sleep(0.003), 100)
        self.create_timer(0.05, self.publish)

    def publish(self):
        time.sleep(0.002)
        self.objects.publish(String(data="objects"))


role, seconds = sys.argv[1:]
rclpy.init()
node = Source() if role == "source" else Joins()
executor = EventsExecutor() if role == "events" else SingleThreadedExecutor()
executor.add_node(node)
# rclpy may fail or hang if a thread shuts it down while its executor begins to wait.
threading.Timer(float(seconds), lambda: os._exit(0)).start()
# Without a timeout the events executor of rclpy 9.1 on the Python index never wakes (its deadline overflows).
executor.spin_until_future_complete(Future(), timeout_sec=1000.0)
