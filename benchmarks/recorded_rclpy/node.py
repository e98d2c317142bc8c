"""A node that publishes to itself in its callback, COUNT times on one executor. It prints its thread's CPU time a
message in us.

usage: node.py COUNT
"""

import sys
import time

import rclpy
from std_msgs.msg import String

rclpy.init()
node = rclpy.create_node("loop")
publisher = node.create_publisher(String, "loop", 10)
left = int(sys.argv[1])
message = String(data="x")


def on_message(received):
    global left
    left -= 1
    publisher.publish(received)


node.create_subscription(String, "loop", on_message, 10)
while not publisher.get_subscription_count():
    rclpy.spin_once(node, timeout_sec=0.1)
publisher.publish(message)
executor = rclpy.executors.SingleThreadedExecutor()
executor.add_node(node)
count, before = left, time.thread_time_ns()
while left:
    executor.spin_once()
print((time.thread_time_ns() - before) / count / 1e3)
