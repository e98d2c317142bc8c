"""A node whose timer sleeps for 150 ms and whose subscription forwards 100 messages a second: `source -> /points -> worker -> /plans -> sink`, a process each.

usage: slow_timer.py one_thread|group|own_thread
       slow_timer.py source|sink

one_thread: all on one single-threaded executor. group: the timer in a callback group of its own on rclpy's MultiThreadedExecutor
with 2 threads. own_thread: the timer in a node with a single-threaded executor and thread of its own. The sink ends the program
after 500 messages, and prints "latency <median_ms> <p99_ms>" from source to sink, by CLOCK_MONOTONIC.
"""

import os
import statistics
import subprocess
import sys
import threading
import time

import rclpy
from patience import Patience
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.executors import MultiThreadedExecutor, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions
from std_msgs.msg import Int64

FIRST, LAST = 50, 550  # the first messages find nodes that still start


class Source(Node):
    def __init__(self):
        super().__init__("source")
        self.points = self.create_publisher(Int64, "points", 10)
        self.create_timer(0.01, lambda: self.points.publish(Int64(data=time.monotonic_ns())))


class Worker(Node):
    def __init__(self, slow):
        super().__init__("worker")
        self.plans = self.create_publisher(Int64, "plans", 10)
        self.create_subscription(Int64, "points", self.plans.publish, 10)
        if slow != "elsewhere":
            reload_in(self, MutuallyExclusiveCallbackGroup() if slow == "group" else None)


class Sink(Node):
    def __init__(self):
        super().__init__("sink")
        self.latencies_ms, self.patience = [], Patience(lambda: len(self.latencies_ms))
        self.create_subscription(Int64, "plans", self.on_plan, 10)

    def on_plan(self, message):
        self.patience.came()
        self.latencies_ms.append((time.monotonic_ns() - message.data) / 1e6)
        if len(self.latencies_ms) == LAST:
            counted = self.latencies_ms[FIRST:]
            print("latency", statistics.median(counted), statistics.quantiles(counted, n=100)[98], flush=True)
            os._exit(0)


def reload_in(node, group):
    node.create_timer(0.6, lambda: time.sleep(0.15), callback_group=group)


def spin(executor, node):
    executor.add_node(node)
    executor.spin()


role = sys.argv[1]
# SIGTERM ends a process by itself, whatever its executor does.
rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
if role == "source":
    spin(SingleThreadedExecutor(), Source())
elif role == "sink":
    spin(SingleThreadedExecutor(), Sink())
else:
    source, sink = (subprocess.Popen([sys.executable, __file__, role]) for role in ("source", "sink"))
    if role == "own_thread":
        slow = Node("reloader")
        reload_in(slow, None)
        threading.Thread(target=spin, args=(SingleThreadedExecutor(), slow), daemon=True).start()
    slow = {"own_thread": "elsewhere", "group": "group"}.get(role, "here")
    executor = MultiThreadedExecutor(2) if role == "group" else SingleThreadedExecutor()
    threading.Thread(target=spin, args=(executor, Worker(slow)), daemon=True).start()
    code = sink.wait()
    source.terminate()
    source.wait()
    os._exit(code)
