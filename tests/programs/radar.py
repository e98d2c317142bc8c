"""A source that is not periodic: it publishes on /chatter from a thread, outside of callbacks. Begins when a subscription is there.

usage: radar.py COUNT

Prints "sent <number> <ns>" by CLOCK_MONOTONIC just before each publish call.
"""

import itertools
import sys
import time

import rclpy
from patience import LIMIT_S
from rclpy.node import Node
from std_msgs.msg import String

INTERVALS_S = [0.005, 0.1, 0.02, 0.075, 0.2]

rclpy.init()
node = Node("radar")
count = int(sys.argv[1])
publisher = node.create_publisher(String, "chatter", count)
patient_until = time.monotonic() + LIMIT_S
while node.count_subscribers("chatter") == 0:
    assert time.monotonic() < patient_until, "nobody listens to /chatter"
    time.sleep(0.02)
# Either side may know of the other first.
time.sleep(0.5)
due = time.monotonic()
for number, interval in zip(range(count), itertools.cycle(INTERVALS_S)):
    time.sleep(max(0, due - time.monotonic()))
    # One write a line: the listener prints to the same pipe.
    sys.stdout.write(f"sent {number} {time.monotonic_ns()}\n")
    sys.stdout.flush()
    publisher.publish(String(data=f"track {number}"))
    due += interval
time.sleep(0.5)
