"""An rclpy subscription that takes messages as they came, serialised, as generic subscriptions and rosbag2 do: TOPIC COUNT"""

import sys

import rclpy
from std_msgs.msg import String

left = int(sys.argv[2])


def heard(message: bytes):
    global left
    assert isinstance(message, bytes)
    left -= 1


rclpy.init()
node = rclpy.create_node("raw_listener")
node.create_subscription(String, sys.argv[1], heard, left, raw=True)  # as deep as there are messages
while left > 0:
    rclpy.spin_once(node)
node.destroy_node()
rclpy.shutdown()
