# SPDX-License-Identifier: Apache-2.0
"""tacho-micro with plain Cyclone DDS 0.10 (Debian), without ROS 2 between: as a Linux process on the loopback, and on an emulated board."""
import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import HERE, OUT, make
from network import best_network
from processes import Program

XML = ('<CycloneDDS><Domain><General><Interfaces><NetworkInterface {where} multicast="true"/></Interfaces></General>'
       "<Discovery><ParticipantIndex>none</ParticipantIndex></Discovery></Domain></CycloneDDS>")
QOS = ["best_effort", "reliable"]


@pytest.fixture(scope="session")
def cyclone() -> Path:
    """cyclone_peer, on the Cyclone DDS of the machine."""
    missing = [what for what, there in (("cyclonedds-dev", Path("/usr/include/dds/dds.h").exists()), ("cyclonedds-tools", shutil.which("idlc"))) if not there]
    if missing:
        pytest.skip(f"needs Debian's {' and '.join(missing)}")
    version = subprocess.run(["dpkg-query", "-W", "-f=${Version}", "cyclonedds-dev"], capture_output=True, text=True).stdout
    if not version.startswith("0.10."):
        pytest.skip(f"needs Cyclone DDS 0.10, cyclonedds-dev is {version or 'not of Debian'}")
    make(HERE, f"OUT={OUT}/test", "cyclone")
    return OUT / "test" / "cyclone_peer"


def peer(cyclone, domain, *arguments, prefix=(), where='address="127.0.0.1"') -> Program:
    return Program(cyclone, domain, *arguments, prefix=prefix, CYCLONEDDS_URI=XML.format(where=where))


def node(programs, domain, *arguments) -> Program:
    return Program(programs / "node", domain, "micro_node", *arguments, "interface", "127.0.0.1")


def reliable(qos: str) -> list[str]:
    return [] if qos == "best_effort" else [qos]


def in_order(started, first, second, first_starts: bool) -> tuple[Program, Program]:
    """Both programs; the one that starts first is up before the other is started."""
    if first_starts:
        one = started(first())
        one.wait_for("up")
        return one, started(second())
    other = started(second())
    other.wait_for("up")
    return started(first()), other


def heard(lines: list[str], size: int) -> list[int]:
    """The numbers of messages, each of which must be whole."""
    words = [line.split() for line in lines]
    assert all(int(word[3]) == size for word in words), lines
    return [int(word[2]) for word in words]


def expect(numbers: list[int], qos: str, count: int):
    if qos == "best_effort":  # what came, came once and in order
        assert numbers == sorted(set(numbers))
    else:
        assert numbers == list(range(1, count + 1))


# 1400: beyond what Cyclone DDS puts into one DATA (1344 by default); 20000: many DATA_FRAG, and of ours IP datagrams of a frame each.
@pytest.mark.parametrize("size", [25, 1400, 20_000])
@pytest.mark.parametrize("micro_first", [True, False], ids=["micro_first", "cyclone_first"])
@pytest.mark.parametrize("qos", QOS)
def test_cyclone_hears_a_micro_node(programs, cyclone, domain, started, qos, micro_first, size):
    micro, other = in_order(started, lambda: node(programs, domain, "pub", *reliable(qos), "size", size, "count", 20),
                            lambda: peer(cyclone, domain, qos, "sub", "rt/chatter"), micro_first)
    if qos == "best_effort":
        expect(heard(other.wait_for("got", 5), size), qos, 20)
    else:
        # Cyclone DDS drops what a volatile writer sent before it knew of it, which may be a round trip after the writer knew of the reader.
        # From the first one heard on nothing is missing.
        other.wait_for("got rt/chatter 20 ")
        numbers = heard(other.find("got"), size)
        assert numbers == list(range(numbers[0], 21)) and len(numbers) >= 15
        micro.wait_for("counters malformed 0 unsupported 0 oversized 0")  # it ends by itself: all was acknowledged


@pytest.mark.parametrize("size", [25, 1400, 20_000])
@pytest.mark.parametrize("micro_first", [True, False], ids=["micro_first", "cyclone_first"])
@pytest.mark.parametrize("qos", QOS)
def test_a_micro_node_hears_cyclone(programs, cyclone, domain, started, qos, micro_first, size):
    micro, _ = in_order(started, lambda: node(programs, domain, "sub", *reliable(qos)), lambda: peer(cyclone, domain, qos, "pub", "rt/chatter", size, 20, 20), micro_first)
    count = 20 if qos == "reliable" else 5
    expect(heard(micro.wait_for("got", count), size), qos, 20)
    assert micro.stop() == 0
    assert micro.find("counters malformed 0 unsupported 0 oversized 0"), micro.lines[-1]


@pytest.mark.parametrize("micro_first", [True, False], ids=["micro_first", "cyclone_first"])
def test_both_ways_at_once(programs, cyclone, domain, started, micro_first):
    micro, other = in_order(started, lambda: node(programs, domain, "both", "reliable"),
                            lambda: peer(cyclone, domain, "reliable", "sub", "rt/chatter", "pub", "rt/to_micro", 30, 20, 20), micro_first)
    numbers = heard(other.wait_for("got", 20), 25)
    assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))
    assert heard(micro.wait_for("got", 20), 30) == list(range(1, 21))


def test_a_late_cyclone_reader_gets_what_was_sent_before(programs, cyclone, domain, started):
    micro = started(node(programs, domain, "pub", "durable", "depth", 5, "count", 12, "period", 1))
    micro.wait_for("sent 12")
    other = started(peer(cyclone, domain, "durable", "sub", "rt/chatter"))
    assert heard(other.wait_for("got", 5), 25) == [8, 9, 10, 11, 12]


def test_a_late_micro_reader_gets_what_cyclone_sent_before(programs, cyclone, domain, started):
    other = started(peer(cyclone, domain, "durable", "pub", "rt/chatter", 25, 6, 1))
    other.wait_for("sent 6")
    micro = started(node(programs, domain, "sub", "durable"))
    assert heard(micro.wait_for("got", 6), 25) == [1, 2, 3, 4, 5, 6]


def test_cyclone_and_a_board_both_ways(images, cyclone, domain, started):
    network = best_network()
    try:
        if network.kind != "bridge":
            pytest.skip("needs permission for a network namespace with tap devices")
        other = started(peer(cyclone, domain, "reliable", "sub", "rt/chatter", "pub", "rt/to_micro", 30, 20, 50, prefix=network.prefix, where='name="host"'))
        other.wait_for("up")
        board = started(network.board(images / "both.elf", domain))
        assert heard(other.wait_for("got", 10), 25)[:1] == [0]  # "hello from ...", no number at its beginning
        assert len(board.wait_for("heard", 20)) == 20
        assert [int(line.split(": ")[1].split()[0]) for line in board.find("heard")] == list(range(1, 21))
    finally:
        network.close()
