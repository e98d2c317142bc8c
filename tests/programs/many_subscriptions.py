"""A camera, and two nodes that take its messages. The node `large` has 80 other subscriptions, so that its executor looks around for longer.

usage: many_subscriptions.py camera|small|large SECONDS
"""

import os
import sys
import threading

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

    def detect(self, image):
        self.publisher.publish(String(data="boxes"))


role, seconds = sys.argv[1:]
rclpy.init()
executor = SingleThreadedExecutor()
executor.add_node(Camera() if role == "camera" else Detector(role, 80 if role == "large" else 0))
# rclpy may fail or hang if a thread shuts it down while its executor begins to wait.
threading.Timer(float(seconds), lambda: os._exit(0)).start()
executor.spin()
