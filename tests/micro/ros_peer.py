# SPDX-License-Identifier: Apache-2.0
"""A ROS 2 node on rclpy. Lines on its standard input are its commands; it prints one JSON list for each event.

    publish TOPIC QOS SIZE COUNT HZ    sends "N text", N from 1, once a subscriber is there
    subscribe TOPIC QOS                prints ["got", TOPIC, text, seconds since the subscription was made], and
                                       ["matched", TOPIC, N] when another number of publishers is there
    events TOPIC                       prints ["event", ...] for each event of a tacho-micro node
    graph                              prints ["graph", nodes, topics, endpoints]

QOS: best_effort, reliable or durable. Ends with its standard input.
"""

import json
import os
import select
import struct
import time

import rclpy
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from std_msgs.msg import String, UInt8MultiArray


def say(*what):
    print(json.dumps(what), flush=True)


def profile(qos: str) -> QoSProfile:
    reliable = ReliabilityPolicy.BEST_EFFORT if qos == "best_effort" else ReliabilityPolicy.RELIABLE
    durable = DurabilityPolicy.TRANSIENT_LOCAL if qos == "durable" else DurabilityPolicy.VOLATILE
    return QoSProfile(depth=200, reliability=reliable, durability=durable)


def publish(node, topic, qos, size, count, hz):
    publisher = node.create_publisher(String, topic, profile(qos))
    sent = 0

    def tick():
        nonlocal sent
        if sent < int(count) and publisher.get_subscription_count():
            sent += 1
            publisher.publish(String(data=f"{sent} ".ljust(int(size), ".")))

    node.create_timer(1 / float(hz), tick)


def subscribe(node, topic, qos):
    began = time.monotonic()
    made = node.create_subscription(
        String, topic, lambda m: say("got", topic, m.data, time.monotonic() - began), profile(qos)
    )
    matched = 0

    def tick():
        nonlocal matched
        if (now := made.get_publisher_count()) != matched:
            matched = now
            say("matched", topic, matched)

    node.create_timer(0.01, tick)


def events(node, topic):
    def on_events(message):
        data = bytes(message.data)
        for at in range(24, len(data), 34):  # behind the head
            time_ns, sequence, guid, kind, endpoint = struct.unpack_from("<QQ16sBB", data, at)
            say("event", kind, endpoint, time_ns, sequence, guid.hex(), message.layout.data_offset)

    node.create_subscription(UInt8MultiArray, topic, on_events, 10)


def graph(node):
    endpoints = [
        {
            "topic": topic,
            "node": f"{e.node_namespace} {e.node_name}",
            "type": e.topic_type,
            "hash": str(e.topic_type_hash),
            "kind": e.endpoint_type.name,
            "reliability": e.qos_profile.reliability.name,
            "durability": e.qos_profile.durability.name,
            "gid": bytes(e.endpoint_gid).hex(),
        }
        for topic in ("/chatter", "/to_micro")
        for e in node.get_publishers_info_by_topic(topic) + node.get_subscriptions_info_by_topic(topic)
    ]
    say(
        "graph",
        [f"{ns} {name}" for name, ns in node.get_node_names_and_namespaces()],
        dict(node.get_topic_names_and_types()),
        endpoints,
    )


def main():
    rclpy.init()
    node = rclpy.create_node("ros_peer")
    say("up")
    verbs = {"publish": publish, "subscribe": subscribe, "events": events, "graph": graph}
    pending = b""
    while True:
        rclpy.spin_once(node, timeout_sec=0.01)
        if not select.select([0], [], [], 0)[0]:
            continue
        pending += os.read(0, 65536)
        if not pending:
            break
        *lines, pending = pending.split(b"\n")
        for line in lines:
            verb, *arguments = line.decode().split()
            verbs[verb](node, *arguments)


main()
