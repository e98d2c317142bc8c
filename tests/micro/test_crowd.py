# SPDX-License-Identifier: Apache-2.0
"""tacho-micro beside a ROS 2 side of 50 nodes, each a DDS participant, and 300 endpoints: as a Linux process, and on an emulated board."""

import pytest
from conftest import HERE
from network import best_network
from processes import Program, RosPeer, missed_until_heard

NODES, ENDPOINTS = 50, 6
RATE_HZ = 50


@pytest.fixture
def bridge():
    made = best_network()
    if made.kind != "bridge":
        pytest.skip("needs permission for a network namespace")
    yield made
    made.close()


def crowd(python: str, bridge, domain: int, started) -> Program:
    """All fifty, once each knows every other."""
    program = started(
        Program(
            python,
            HERE / "ros_crowd.py",
            NODES,
            ENDPOINTS,
            prefix=bridge.prefix,
            ROS_DOMAIN_ID=str(domain),
            ROS_AUTOMATIC_DISCOVERY_RANGE="SUBNET",
        )
    )
    assert program.wait_for("up") == [f"up {NODES} {NODES * ENDPOINTS}"]
    return program


def listener(programs, bridge, domain) -> Program:
    return Program(
        programs / "node", domain, "micro_node", "sub", "reliable", "interface", "10.77.0.1", prefix=bridge.prefix
    )


def messages_until_the_first(programs, bridge, domain, beside: Program) -> int:
    """How many messages are published until a reliable subscription that comes late receives one. It must receive
    them in order, and refuse no peer."""
    micro = listener(programs, bridge, domain)
    try:
        micro.wait_for("up")
        missed = missed_until_heard(micro, beside)
        numbers = [int(line.split()[2]) for line in micro.wait_for("got", 100)]
    finally:
        micro.stop()
    assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))
    counters = micro.find("counters")[0]
    assert all(
        f"{name} 0" in counters for name in ("malformed", "oversized", "lost", "peers_refused", "matches_refused")
    ), counters
    return missed


def test_a_crowd_of_ros_nodes_neither_overflows_nor_delays_a_node(programs, kilted, domain, started, bridge):
    ros = started(RosPeer(kilted, domain, prefix=bridge.prefix, localhost=False))
    ros.tell(f"publish /chatter reliable 25 1000000 {RATE_HZ}")
    hearing = started(listener(programs, bridge, domain))
    alone = [messages_until_the_first(programs, bridge, domain, hearing) for _ in range(3)]
    crowd(kilted, bridge, domain, started)
    beside = [messages_until_the_first(programs, bridge, domain, hearing) for _ in range(3)]
    print(f"alone {alone}, beside {NODES} nodes {beside}")
    # If the protocol misses one of its announcements or heartbeats, that costs 3 s.
    assert max(min(alone), min(beside)) < 3 * RATE_HZ / 2, (alone, beside)


def test_a_crowd_of_ros_nodes_neither_overflows_nor_delays_a_board(images, kilted, domain, started, bridge):
    crowd(kilted, bridge, domain, started)
    ros = started(RosPeer(kilted, domain, prefix=bridge.prefix, localhost=False))
    ros.tell("subscribe /chatter reliable")
    board = started(bridge.board(images / "both.elf", domain))
    board.wait_for("matched 1")
    texts = [text for _, _, text, _ in ros.records("got", 20)]
    assert [int(text[-4:]) for text in texts] == list(range(int(texts[0][-4:]), int(texts[0][-4:]) + len(texts)))
    ros.tell("publish /to_micro reliable 40 20 20")
    assert [int(line.split(": ")[1].split()[0].rstrip(".")) for line in board.wait_for("heard", 20)] == list(
        range(1, 21)
    )
