# SPDX-License-Identifier: Apache-2.0
"""Many ROS 2 nodes in one process, each with a context, so a DDS participant, of its own: ros_crowd.py NODES ENDPOINTS, for each node.

One of the endpoints is rclpy's publisher of /parameter_events; the others are publishers and subscriptions of topics of their own, on which
nothing is sent. Prints "up NODES ENDPOINTS" (all of them) once the last node knows every other, and ends with its standard input."""

import sys
import time

import rclpy
from std_msgs.msg import String


def crowd(nodes: int, endpoints: int) -> list:
    made = []
    for i in range(nodes):
        context = rclpy.Context()
        rclpy.init(context=context)
        node = rclpy.create_node(f"crowd_{i}", context=context, start_parameter_services=False, enable_rosout=False)
        for k in range((endpoints - 1) // 2):
            node.create_publisher(String, f"/crowd_{i}_said_{k}", 1)
        for k in range(endpoints - 1 - (endpoints - 1) // 2):
            node.create_subscription(String, f"/crowd_{i}_heard_{k}", lambda _: None, 1)
        made.append(node)
    return made


nodes, endpoints = map(int, sys.argv[1:])
made = crowd(nodes, endpoints)
while sum(name.startswith("crowd_") for name in made[-1].get_node_names()) < nodes:
    time.sleep(0.05)
print("up", nodes, nodes * endpoints, flush=True)
sys.stdin.read()
