"""A camera, and two nodes that take its messages. The node `large` has other subscriptions (80 if nothing is stated), so that its executor looks around for longer.

usage: many_subscriptions.py camera|small|large SECONDS [OTHERS]

A detector prints its name, how many callbacks followed another one, and the CPU time of its thread between them, by CLOCK_THREAD_CPUTIME_ID, ns.
"""

import os
import sys
import threading
import time

import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from std_msgs.msg import String


class Camera(Node):
    def __init__(self):
        super().__init__("camera")
        self.publisher = self.create_publisher(String, "image", 10)
        self.create_timer(0.05, lambda: self.publisher.publish(String(data="image")))


class Detector(Node):
    def __init__(self, name, others):
        super().__init__(name)
        self.publisher = self.create_publisher(String, f"boxes_of_{name}", 10)
        self.create_subscription(String, "image", self.detect, 10)
        for number in range(others):
            self.create_subscription(String, f"unused_{number}", lambda message: None, 10)
        self.between_ns = []
        self.ended_ns = None

    def detect(self, image):
        if self.ended_ns is not None:
            self.between_ns.append(time.thread_time_ns() - self.ended_ns)
        self.publisher.publish(String(data="boxes"))
        self.ended_ns = time.thread_time_ns()


def end():
    if isinstance(node, Detector):
        sys.stdout.write(f"{role} {len(node.between_ns)} {sum(node.between_ns)}\n")
        sys.stdout.flush()
    os._exit(0)


role, seconds, others = sys.argv[1], float(sys.argv[2]), int((sys.argv[3:] or [80])[0])
rclpy.init()
executor = SingleThreadedExecutor()
node = Camera() if role == "camera" else Detector(role, others if role == "large" else 0)
executor.add_node(node)
# rclpy may fail or hang if a thread shuts it down while its executor begins to wait.
threading.Timer(seconds, end).start()
executor.spin()
