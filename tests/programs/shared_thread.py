"""A camera, a detector and a mapper, ordinary rclpy nodes. The mapper's callback keeps its thread for long.

usage: shared_thread.py camera|together|apart SECONDS [computes|releases]

With `computes`, the mapper computes instead of sleeping; with `releases`, in a library that lets other threads of the process compute meanwhile. `camera` publishes. `together` runs the detector and the mapper on one executor, `apart` on an executor each.
"""

import hashlib
import os
import sys
import threading
import time

import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from std_msgs.msg import String

POINTS = bytes(10_000_000)


class Camera(Node):
    def __init__(self):
        super().__init__("camera")
        self.publisher = self.create_publisher(String, "image", 10)
        self.timer = self.create_timer(0.05, self.capture)

    def capture(self):
        self.publisher.publish(String(data="image"))


class Detector(Node):
    def __init__(self):
        super().__init__("detector")
        self.publisher = self.create_publisher(String, "boxes", 10)
        self.subscription = self.create_subscription(String, "image", self.detect, 10)

    def detect(self, image):
        time.sleep(0.002)
        self.publisher.publish(String(data="boxes"))


class Mapper(Node):
    def __init__(self):
        super().__init__("mapper")
        self.publisher = self.create_publisher(String, "map", 10)
        self.timer = self.create_timer(0.13, self.update)

    def update(self):
        begun = time.thread_time()
        if not work:
            time.sleep(0.08)
        while work and time.thread_time() - begun < 0.08:
            if work == ["releases"]:
                hashlib.sha256(POINTS)
        self.publisher.publish(String(data="map"))


rclpy.init()
way, seconds, work = sys.argv[1], float(sys.argv[2]), sys.argv[3:]
nodes = [Camera()] if way == "camera" else [Detector(), Mapper()]
executors = [SingleThreadedExecutor() for _ in (nodes if way == "apart" else nodes[:1])]
for place, node in enumerate(nodes):
    executors[place % len(executors)].add_node(node)
for executor in executors:
    threading.Thread(target=executor.spin).start()
time.sleep(seconds)
os._exit(0)  # rclpy may fail or hang if a thread shuts it down while its executor begins to wait
