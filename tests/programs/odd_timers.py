"""Timers that do not run as often as their periods say.

usage: odd_timers.py SECONDS

/resting has a watchdog of 100 ms that cancels itself whenever it barks and publishes, and a timer of 500 ms that starts
it again. /overloaded has a timer of 50 ms beside one of 250 ms whose callback computes for 200 ms. Both nodes have a
thread of their own. Prints "barked <count>" at the end.
"""

import sys
import threading
import time

import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from std_msgs.msg import String


class Resting(Node):
    def __init__(self):
        super().__init__("resting")
        self.barked = 0
        self.alarms = self.create_publisher(String, "alarms", 10)
        self.watchdog = self.create_timer(0.1, self.bark)
        self.create_timer(0.5, self.watch)

    def bark(self):
        self.barked += 1
        self.watchdog.cancel()
        self.alarms.publish(String())

    def watch(self):
        self.watchdog.reset()


class Overloaded(Node):
    def __init__(self):
        super().__init__("overloaded")
        self.ticks = self.create_publisher(String, "ticks", 10)
        self.create_timer(0.05, self.tick)
        self.create_timer(0.25, self.compute)

    def tick(self):
        self.ticks.publish(String())

    def compute(self):
        until = time.monotonic() + 0.2
        while time.monotonic() < until:
            pass


class Sink(Node):
    def __init__(self):
        super().__init__("sink")
        self.create_subscription(String, "alarms", self.take, 10)
        self.create_subscription(String, "ticks", self.take, 10)

    def take(self, message):
        pass


def spin(node, until):
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    while time.monotonic() < until:
        executor.spin_once(timeout_sec=0.1)


rclpy.init()
resting = Resting()
until = time.monotonic() + float(sys.argv[1])
threads = [threading.Thread(target=spin, args=(node, until)) for node in (resting, Overloaded(), Sink())]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print("barked", resting.barked)
