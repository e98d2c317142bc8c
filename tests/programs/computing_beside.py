"""A talker; or two listeners in a process that computes outside of callbacks, too. That one prints, by its own clocks, how many messages
came from the second on, and the CPU time that it used outside of callbacks meanwhile.

usage: computing_beside.py talker|listener SECONDS
"""

import os
import sys
import threading
import time

import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from std_msgs.msg import String


class Talker(Node):
    def __init__(self):
        super().__init__("talker")
        self.publisher = self.create_publisher(String, "chatter", 10)
        self.create_timer(0.01, lambda: self.publisher.publish(String(data="a message")))


class Listener(Node):
    count, in_callbacks_ns, since_ns = 0, 0, 0

    def __init__(self, name, work_s):
        super().__init__(name)
        self.work_s = work_s
        self.create_subscription(String, "chatter", self.heard, 10)

    def heard(self, message):
        begun_ns = time.thread_time_ns()
        while time.thread_time_ns() - begun_ns < self.work_s * 1e9:
            pass
        if Listener.since_ns == 0:
            Listener.since_ns = time.process_time_ns()
            return
        Listener.count += 1
        Listener.in_callbacks_ns += time.thread_time_ns() - begun_ns


def compute():
    while True:
        begun = time.thread_time()
        while time.thread_time() - begun < 0.002:
            pass
        time.sleep(0.006)


def end():
    if role == "listener":
        outside_ns = time.process_time_ns() - Listener.since_ns - Listener.in_callbacks_ns
        print("came", Listener.count, outside_ns, flush=True)
    os._exit(0)  # rclpy may fail or hang if a thread shuts it down while its executor begins to wait


role, seconds = sys.argv[1:]
rclpy.init()
nodes = [Talker()] if role == "talker" else [Listener("planner", 0.0002), Listener("logger", 0.0001)]
executor = SingleThreadedExecutor()
for node in nodes:
    executor.add_node(node)
threading.Timer(float(seconds), end).start()
if role == "listener":
    threading.Thread(target=compute, daemon=True).start()
executor.spin()
