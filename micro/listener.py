# SPDX-License-Identifier: Apache-2.0
"""An ordinary ROS 2 subscriber: listener.py TOPIC COUNT prints COUNT messages of std_msgs/msg/String, one a line, and
ends."""

import sys

import rclpy
from std_msgs.msg import String


def main(topic: str, count: int):
    rclpy.init()
    node = rclpy.create_node("listener")
    heard = []

    def on_message(message: String):
        heard.append(message)
        print(f"{topic}: {message.data}", flush=True)

    node.create_subscription(String, topic, on_message, 10)
    while len(heard) < count:
        rclpy.spin_once(node)
    node.destroy_node()
    rclpy.shutdown()


main(sys.argv[1], int(sys.argv[2]))
