"""Leaves a process behind that publishes `count` messages on /chatter once the file `go` is there, and ends at once itself."""

import os
import sys
import time

go, count = sys.argv[1], int(sys.argv[2])
if os.fork() == 0:
    os.setsid()
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)
    while not os.path.exists(go):
        time.sleep(0.02)
    import rclpy
    from std_msgs.msg import String

    rclpy.init()
    node = rclpy.create_node("daemon")
    publisher = node.create_publisher(String, "/chatter", 10)
    for number in range(count):
        publisher.publish(String(data=str(number)))
    node.destroy_node()
    rclpy.shutdown()
