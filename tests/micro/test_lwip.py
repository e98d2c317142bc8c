# SPDX-License-Identifier: Apache-2.0
"""The port to lwIP: Debian's lwIP in a process of its own behind a tap device, with ROS 2, with itself on the other ports; and on an emulated board."""

import os
import subprocess
from pathlib import Path

import pytest
from conftest import HERE, OUT, ROOT, make
from network import BridgedNetwork
from processes import Program, RosPeer


@pytest.fixture
def bridge():
    try:
        made = BridgedNetwork(f"lwip{os.getpid()}")
    except (PermissionError, FileNotFoundError) as why:
        pytest.skip(f"needs a network namespace with tap devices: {why}")
    yield made
    made.close()


@pytest.fixture(scope="session")
def lwip_node() -> Path:
    if not Path("/usr/include/lwip/lwip/udp.h").exists():
        pytest.skip("needs Debian's liblwip-dev")
    make(HERE, f"OUT={OUT}/test", "lwip")
    return OUT / "test" / "lwip_node"


def on_lwip(program, bridge, domain, *arguments) -> Program:
    """At 10.77.0.100, on a tap device of the bridge."""
    bridge.run("ip tuntap add lwip mode tap")
    bridge.run("ip link set lwip master bridge up")
    return Program(
        program, domain, "lwip_node", *arguments, "interface", "10.77.0.100", prefix=bridge.prefix, LWIP_TAP="lwip"
    )


def numbers(lines: list[str], size: int) -> list[int]:
    words = [line.split() for line in lines]
    assert all(word[0] == "got" and int(word[3]) == size for word in words), lines
    return [int(word[2]) for word in words]


@pytest.mark.parametrize("lwip_first", [True, False])
def test_ros_and_a_node_on_lwip_hear_each_other(lwip_node, kilted, domain, started, bridge, lwip_first):
    """3,000 bytes come from ROS 2 in IP fragments, which lwIP puts together from as many buffers."""
    node = on_lwip(lwip_node, bridge, domain, "both", "reliable", "size", 3000) if lwip_first else None
    if node:
        started(node).wait_for("up")
    ros = started(RosPeer(kilted, domain, prefix=bridge.prefix, localhost=False))
    ros.tell("subscribe /chatter reliable")
    ros.tell("publish /to_micro reliable 3000 20 20")
    node = node or started(on_lwip(lwip_node, bridge, domain, "both", "reliable", "size", 3000))
    heard = [int(text.split()[0]) for _, _, text, _ in ros.records("got", 20)]
    assert heard == list(range(heard[0], heard[0] + len(heard)))
    assert numbers(node.wait_for("got", 20), 3000) == list(range(1, 21))
    ros.graph_until(lambda nodes, *_: "/micro lwip_node" in nodes)
    assert node.stop() == 0
    assert node.find("counters malformed 0 unsupported 0 oversized 0 lost 0"), node.lines[-1]


@pytest.mark.parametrize("size", [25, 20_000])
def test_the_ports_to_lwip_and_to_linux_hear_each_other(lwip_node, programs, domain, started, bridge, size):
    hearing = started(on_lwip(lwip_node, bridge, domain, "sub", "reliable"))
    hearing.wait_for("up")
    saying = started(
        Program(
            programs / "node",
            domain,
            "linux_node",
            "pub",
            "reliable",
            "size",
            size,
            "count",
            20,
            "interface",
            "10.77.0.1",
            prefix=bridge.prefix,
        )
    )
    assert numbers(hearing.wait_for("got", 20), size) == list(range(1, 21))
    saying.wait_for("counters malformed 0")  # it ends by itself: all was acknowledged


def test_without_its_ports_a_node_says_so(lwip_node, domain, started, bridge):
    """All 120 pairs of ports of the domain are taken by the first lwIP that has them: here there is no interface to join the group on."""
    done = subprocess.run(
        [lwip_node, str(domain), "lwip_node", "sub"], capture_output=True, text=True, stdin=subprocess.DEVNULL
    )
    assert done.returncode == 3 and "up" not in done.stdout


def test_a_board_on_lwip(domain, kilted, started, bridge):
    sources = os.environ.get("LWIP")
    if not sources:
        pytest.skip("needs lwIP's sources in $LWIP; no Debian package has them")
    make(ROOT / "micro", f"OUT={OUT}", f"LWIP={sources}", "lwip")
    ros = started(RosPeer(kilted, domain, prefix=bridge.prefix, localhost=False))
    ros.tell("subscribe /chatter reliable")
    ros.tell("publish /to_micro reliable 40 10 20")
    board = started(bridge.board(OUT / "lwip" / "both.elf", domain))
    board.wait_for("heard", 10)
    ros.records("got", 5)
