"""Nodes on rclpy's multi-threaded executor: a callback that blocks for 150 ms, in one group with the others of its node (shared), or in a group of its own (apart).

usage: callback_groups.py shared|apart COUNT

/source sends 100 messages a second; /worker sends each on, so that each that arrives meanwhile shows its wait. Ends
after COUNT of the blocking callback, and prints "reload <start_ns> <end_ns>" for each, by CLOCK_MONOTONIC.
"""

import sys
import time

import rclpy
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.node import Node
from rclpy.task import Future
from spinning import spin_until
from std_msgs.msg import String

BLOCKS_S = 0.15


class Source(Node):
    def __init__(self):
        super().__init__("source")
        self.points = self.create_publisher(String, "points", 10)
        self.create_timer(0.01, self.send)

    def send(self):
        self.points.publish(String())


class Worker(Node):
    def __init__(self, is_shared, count):
        super().__init__("worker")
        self.left, self.over = count, Future()
        self.plans = self.create_publisher(String, "plans", 10)
        self.create_subscription(String, "points", self.on_points, 10)
        group = None if is_shared else MutuallyExclusiveCallbackGroup()
        self.create_timer(0.6, self.reload, callback_group=group)

    def on_points(self, message):
        self.plans.publish(message)

    def reload(self):
        start_ns = time.monotonic_ns()
        time.sleep(BLOCKS_S)
        print("reload", start_ns, time.monotonic_ns(), flush=True)
        self.left -= 1
        if self.left == 0:
            self.over.set_result(None)


class Sink(Node):
    def __init__(self):
        super().__init__("sink")
        self.create_subscription(String, "plans", self.on_plan, 10)

    def on_plan(self, message):
        pass


rclpy.init()
worker = Worker(sys.argv[1] == "shared", int(sys.argv[2]))
spin_until(worker.over, "multi", [Source(), worker, Sink()])
