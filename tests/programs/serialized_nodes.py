"""rclpy nodes that hand on serialised messages as they come: `source -> /first -> relay -> /second -> sink`, all of them bytes.

usage: serialized_nodes.py COUNT    ends when all have come, and prints "told <name> <number> <ns>" (CLOCK_MONOTONIC) for each call and callback
"""

import sys
import time

import rclpy
from patience import LIMIT_S
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.serialization import serialize_message
from std_msgs.msg import String

count = int(sys.argv[1])
told = []
done = rclpy.task.Future()


def tell(name, number):
    told.append((name, number, time.monotonic_ns()))


class Source(Node):
    def __init__(self):
        super().__init__("source")
        self.publisher = self.create_publisher(String, "/first", count)
        self.create_timer(0.01, self.on_timer)
        self.sent = 0

    def on_timer(self):
        if self.sent < count and self.publisher.get_subscription_count() and relay.publisher.get_subscription_count():
            message = serialize_message(String(data=str(self.sent)))
            tell("sent", self.sent)
            self.publisher.publish(message)
            self.sent += 1


class Relay(Node):
    def __init__(self):
        super().__init__("relay")
        self.publisher = self.create_publisher(String, "/second", count)
        self.create_subscription(String, "/first", self.on_first, count, raw=True)
        self.calls = 0

    def on_first(self, message):
        tell("on_first", self.calls)
        time.sleep(0.002)
        self.publisher.publish(message)
        self.calls += 1


class Sink(Node):
    def __init__(self):
        super().__init__("sink")
        self.create_subscription(String, "/second", self.on_second, count, raw=True)
        self.calls = 0

    def on_second(self, message):
        assert isinstance(message, bytes)
        tell("on_second", self.calls)
        self.calls += 1
        if self.calls == count:
            done.set_result(None)


rclpy.init()
executor = SingleThreadedExecutor()
relay = Relay()
for node in (Source(), relay, Sink()):
    executor.add_node(node)
executor.spin_until_future_complete(done, timeout_sec=LIMIT_S)
for line in told:
    print("told", *line)
