"""An ordinary rclpy subscription; prints the time at which each callback begins by its own clock."""

import sys
import time

import rclpy
from rclpy.node import Node
from std_msgs.msg import String


class Listener(Node):
    def __init__(self, count: int):
        super().__init__("listener")
        self.left = count
        self.subscription = self.create_subscription(String, "chatter", self.heard, 10)

    def heard(self, message: String):
        heard_ns = time.monotonic_ns()
        # One write a line: the talker prints to the same pipe.
        sys.stdout.write(f"heard {message.data.split()[1]} {heard_ns}\n")
        sys.stdout.flush()
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
