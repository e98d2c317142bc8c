"""An ordinary rclpy program: a talker and a listener on /chatter in one process. Ends after COUNT messages were heard.

usage: talker_listener.py COUNT
"""

import sys

import rclpy
from std_msgs.msg import String

count = int(sys.argv[1])
heard = []
rclpy.init()
talker = rclpy.create_node("talker", namespace="/demo")
listener = rclpy.create_node("listener", namespace="/demo")
publisher = talker.create_publisher(String, "chatter", 7)
listener.create_subscription(String, "chatter", heard.append, 5)
executor = rclpy.executors.SingleThreadedExecutor()
executor.add_node(listener)
while publisher.get_subscription_count() == 0:
    executor.spin_once(timeout_sec=0.05)
sent = 0
while len(heard) < count:
    publisher.publish(String(data=f"hello {sent}"))
    sent += 1
    executor.spin_once(timeout_sec=0.1)
print(sent, len(heard), flush=True)
talker.destroy_node()
listener.destroy_node()
rclpy.shutdown()
