"""An ordinary rclpy publisher; prints the time of each publish call by its own clock."""

import sys
import time

import rclpy
from rclpy.node import Node
from std_msgs.msg import String


class Talker(Node):
    def __init__(self, count: int, period_s: float):
        super().__init__("talker")
        self.count = count
        self.sent = 0
        self.publisher = self.create_publisher(String, "chatter", 10)
        self.timer = self.create_timer(period_s, self.tick)

    def tick(self):
        if self.sent == self.count:
            raise SystemExit
        if self.publisher.get_subscription_count() == 0:
            return
        before_ns = time.monotonic_ns()
        self.publisher.publish(String(data=f"hello {self.sent}"))
        # One write a line: the listener prints to the same pipe.
        sys.stdout.write(f"published {self.sent} {before_ns}\n")
        sys.stdout.flush()
        self.sent += 1


rclpy.init()
node = Talker(int(sys.argv[1]), float(sys.argv[2]))
try:
    rclpy.spin(node)
except SystemExit:
    time.sleep(0.5)  # lets the last message out before the writer goes
node.destroy_node()
rclpy.shutdown()
