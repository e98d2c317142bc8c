# SPDX-License-Identifier: Apache-2.0
"""What ROS 2 sees of others: dds_graph.py TOPIC NODES waits until so many nodes other than this one are there, and a publisher and a subscription of
the topic are known to be a node's; prints as JSON their names, and {kind: [type, hash, node]} of the topic's endpoints."""

import json
import sys
import time

import rclpy

topic, count = sys.argv[1], int(sys.argv[2])
rclpy.init()
node = rclpy.create_node("dds_graph")
while True:
    names = sorted(set(node.get_node_names()) - {"dds_graph"})
    ends = node.get_publishers_info_by_topic(topic) + node.get_subscriptions_info_by_topic(topic)
    found = {end.endpoint_type.name: [end.topic_type, str(end.topic_type_hash), end.node_name] for end in ends}
    if len(names) == count and len(found) == 2 and all(name in names for *_, name in found.values()):
        break
    time.sleep(0.02)
print(json.dumps([names, found]))
