"""An ordinary rclpy subscription; prints the time at which each callback begins by its own clock. Ends when COUNT messages have come.

usage: listener.py COUNT
"""

import sys
import time

import rclpy
from patience import Patience
from rclpy.node import Node
from std_msgs.msg import String


class Listener(Node):
    def __init__(self, count: int):
        super().__init__("listener")
        self.left = count
        self.patience = Patience(
            lambda: f"{count - self.left} of {count} messages on {self.subscription.topic_name} were heard"
        )
        # As deep as there are messages: none is lost, however late this process gets to run.
        self.subscription = self.create_subscription(String, "chatter", self.heard, count)

    def heard(self, message: String):
        heard_ns = time.monotonic_ns()
        # One write a line: the talker prints to the same pipe.
        sys.stdout.write(f"heard {message.data.split()[1]} {heard_ns}\n")
        sys.stdout.flush()
        self.patience.came()
        self.left -= 1
        if self.left == 0:
            raise SystemExit


rclpy.init()
node = Listener(int(sys.argv[1]))
try:
    rclpy.spin(node)
except SystemExit:
    pass
node.destroy_node()
rclpy.shutdown()
