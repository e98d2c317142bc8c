"""rclpy nodes with several types, sizes and QoS: `talker -> /text, /bytes, /serialized, /unheard -> listener`.

usage: sized_messages.py COUNT    publishes so many on each topic, and prints "<topic> <bytes>" for each: its size when serialised, without the
four bytes that name its encoding. /text alternates between short and long ones. Nobody hears /unheard, whose two ends do not match.
"""

import sys

import rclpy
from patience import LIMIT_S
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import QoSDurabilityPolicy, QoSHistoryPolicy, QoSProfile, QoSReliabilityPolicy
from rclpy.serialization import serialize_message
from std_msgs.msg import String, UInt8MultiArray

count = int(sys.argv[1])
done = rclpy.task.Future()
told = []
BEST_EFFORT = QoSProfile(depth=5, reliability=QoSReliabilityPolicy.BEST_EFFORT)
LATCHED = QoSProfile(depth=count, durability=QoSDurabilityPolicy.TRANSIENT_LOCAL)
KEEP_ALL = QoSProfile(history=QoSHistoryPolicy.KEEP_ALL)


class Talker(Node):
    def __init__(self):
        super().__init__("talker")
        self.texts = self.create_publisher(String, "/text", LATCHED)
        self.bytes = self.create_publisher(UInt8MultiArray, "/bytes", KEEP_ALL)
        self.serialized = self.create_publisher(String, "/serialized", count)
        self.unheard = self.create_publisher(String, "/unheard", BEST_EFFORT)
        self.create_timer(0.005, self.on_timer)
        self.sent = 0

    def on_timer(self):
        if self.sent < count and self.texts.get_subscription_count() and self.bytes.get_subscription_count():
            text = String(data="a" * (3000 if self.sent % 2 else 100))
            self.publish(self.texts, text)
            self.publish(self.bytes, UInt8MultiArray(data=bytes(self.sent)))
            self.publish(self.serialized, text, serialize_message(text))
            self.publish(self.unheard, text)
            self.sent += 1

    def publish(self, publisher, message, serialized=None):
        told.append((publisher.topic_name, len(serialize_message(message)) - 4))
        publisher.publish(message if serialized is None else serialized)


class Listener(Node):
    def __init__(self):
        super().__init__("listener")
        self.create_subscription(String, "/text", self.on_text, LATCHED)
        self.create_subscription(UInt8MultiArray, "/bytes", lambda data: None, BEST_EFFORT)
        self.create_subscription(String, "/serialized", lambda text: None, count)
        self.create_subscription(String, "/unheard", lambda text: None, count)
        self.heard = 0

    def on_text(self, text):
        self.heard += 1
        if self.heard == count:
            done.set_result(None)


rclpy.init()
executor = SingleThreadedExecutor()
for node in (Talker(), Listener()):
    executor.add_node(node)
executor.spin_until_future_complete(done, timeout_sec=LIMIT_S)
for topic, size in told:
    print(topic, size)
