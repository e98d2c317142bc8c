"""An ordinary rclpy publisher; prints the time of each publish call by its own clock. Begins when a subscription is there, and ends when
COUNT messages have been acknowledged and no subscription is left.

usage: talker.py COUNT PERIOD_S
"""

import sys
import time

import rclpy
from patience import LIMIT_S, Patience
from rclpy.duration import Duration
from rclpy.node import Node
from std_msgs.msg import String


class Talker(Node):
    def __init__(self, count: int, period_s: float):
        super().__init__("talker")
        self.count = count
        self.sent = 0
        self.patience = Patience(
            lambda: f"{self.sent} of {count} messages on {self.publisher.topic_name} were published"
        )
        # As deep as there are messages: one that was not acknowledged is there to be sent again.
        self.publisher = self.create_publisher(String, "chatter", count)
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
        self.patience.came()
        self.sent += 1


rclpy.init()
node = Talker(int(sys.argv[1]), float(sys.argv[2]))
try:
    rclpy.spin(node)
except SystemExit:
    if not node.publisher.wait_for_all_acked(Duration(seconds=LIMIT_S)):
        sys.exit(f"{sys.argv[0]}: {node.sent} messages were published, and not all acknowledged within {LIMIT_S} s")
    # Fast DDS 2.14 may hang in a participant that goes while it hears that another goes.
    while node.publisher.get_subscription_count() > 0:
        time.sleep(0.01)
node.destroy_node()
rclpy.shutdown()
