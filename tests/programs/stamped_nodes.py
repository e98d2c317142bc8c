"""rclpy nodes whose messages have headers, or have none: `camera -> /image -> tracker -> /pose -> sink`, `/text` and serialised `/image` beside.

usage: stamped_nodes.py COUNT IMAGE POSE    ends when all have come, and prints "<sent|taken> <topic> <stamp ns>" for each message with a stamp
IMAGE, POSE: message types with a header, or headers themselves: sensor_msgs.msg.Image
"""

import sys
import time
from importlib import import_module

import rclpy
from patience import LIMIT_S
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.serialization import deserialize_message
from rclpy.time import Time
from std_msgs.msg import String

count = int(sys.argv[1])
Image, Pose = (getattr(import_module(name.rpartition(".")[0]), name.rpartition(".")[2]) for name in sys.argv[2:])
told = []
done = rclpy.task.Future()
sunk = {"pose": 0, "raw": 0}


def header(message):
    return getattr(message, "header", message)


def tell(what, topic, message):
    stamp = header(message).stamp.sec * 10**9 + header(message).stamp.nanosec
    if stamp:
        told.append((what, topic, stamp))


def sink(name):
    sunk[name] += 1
    if all(number == count for number in sunk.values()):
        done.set_result(None)


class Camera(Node):
    def __init__(self):
        super().__init__("camera")
        self.images = self.create_publisher(Image, "/image", count)
        self.texts = self.create_publisher(String, "/text", count)
        self.create_timer(0.01, self.on_timer)
        self.sent = 0

    def on_timer(self):
        if self.sent < count and self.images.get_subscription_count() == 2 and tracker.poses.get_subscription_count():
            image = Image()
            # The first has a stamp that nobody set.
            if self.sent > 0:
                header(image).stamp = Time(nanoseconds=time.time_ns()).to_msg()
            tell("sent", "/image", image)
            self.images.publish(image)
            self.texts.publish(String(data=str(self.sent)))
            self.sent += 1


class Tracker(Node):
    def __init__(self):
        super().__init__("tracker")
        self.poses = self.create_publisher(Pose, "/pose", count)
        self.create_subscription(Image, "/image", self.on_image, count)

    def on_image(self, image):
        pose = Pose()
        header(pose).stamp = header(image).stamp
        tell("taken", "/image", image)
        tell("sent", "/pose", pose)
        self.poses.publish(pose)


class Sink(Node):
    def __init__(self):
        super().__init__("sink")
        self.create_subscription(Pose, "/pose", self.on_pose, count)
        self.create_subscription(Image, "/image", self.on_bytes, count, raw=True)
        self.create_subscription(String, "/text", lambda text: None, count)

    def on_pose(self, pose):
        tell("taken", "/pose", pose)
        sink("pose")

    def on_bytes(self, data):
        tell("taken", "/image", deserialize_message(data, Image))
        sink("raw")


rclpy.init()
executor = SingleThreadedExecutor()
tracker = Tracker()
for node in (Camera(), tracker, Sink()):
    executor.add_node(node)
executor.spin_until_future_complete(done, timeout_sec=LIMIT_S)
for line in told:
    print(*line)
