"""A managed rclpy node between two others: `source -> /in -> relay -> /out -> sink`. The relay publishes with a lifecycle publisher, which
does so only while it is active.

usage: managed_relay.py COUNT LAST    LAST: the transition at the end, activate or cleanup

COUNT messages go through in each of unconfigured, inactive, active, inactive; then LAST, and with activate one more. Prints the sink's
count, and when each transition was called and had returned: "<transition> <before_ns> <after_ns>" (CLOCK_MONOTONIC).
"""

import sys
import time

import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.lifecycle import LifecycleNode, TransitionCallbackReturn
from std_msgs.msg import String

count, last = int(sys.argv[1]), sys.argv[2]


class Relay(LifecycleNode):
    def __init__(self):
        super().__init__("relay")
        self.taken = 0
        self.out = None
        self.create_subscription(String, "/in", self.on_message, 50)

    def on_configure(self, state):
        self.out = self.create_lifecycle_publisher(String, "/out", 50)
        return TransitionCallbackReturn.SUCCESS

    def on_message(self, message):
        self.taken += 1
        if self.out:
            self.out.publish(message)


rclpy.init()
source, relay, sink = rclpy.create_node("source"), Relay(), rclpy.create_node("sink")
publisher = source.create_publisher(String, "/in", 50)
heard = []
sink.create_subscription(String, "/out", heard.append, 50)
source.create_timer(0.005, lambda: sent < wanted and send())
executor = SingleThreadedExecutor()
for node in (source, relay, sink):
    executor.add_node(node)
sent = wanted = 0


def send():
    global sent
    publisher.publish(String(data=str(sent)))
    sent += 1


def spin_until(condition):
    while not condition():
        executor.spin_once(timeout_sec=0.1)


def through(messages):
    """Messages that the relay has taken, one after the other."""
    global wanted
    for _ in range(messages):
        wanted += 1
        spin_until(lambda: relay.taken == wanted)


def change(transition):
    before_ns = time.monotonic_ns()
    assert getattr(relay, f"trigger_{transition}")() == TransitionCallbackReturn.SUCCESS
    print(transition, before_ns, time.monotonic_ns(), flush=True)


spin_until(publisher.get_subscription_count)
through(count)
change("configure")
spin_until(lambda: relay.count_subscribers("/out") and relay.out.get_subscription_count())
through(count)
change("activate")
through(count)
spin_until(lambda: len(heard) == count)
change("deactivate")
through(count)
change(last)
if last == "activate":
    through(1)
    spin_until(lambda: len(heard) == count + 1)
print("heard", len(heard), flush=True)
executor.shutdown()
for node in (source, relay, sink):
    node.destroy_node()
rclpy.try_shutdown()
