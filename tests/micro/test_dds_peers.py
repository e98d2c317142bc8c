# SPDX-License-Identifier: Apache-2.0
"""tacho-micro with plain DDS, without ROS 2 in between: Cyclone DDS 0.10 and 11, Fast DDS 2.9, and itself; as a
Linux process on the loopback, and on an emulated board. ctest tests Dust DDS with tacho-micro
(tacho_conformance_with)."""

import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import HERE, OUT, ROOT, make
from network import best_network
from processes import Program
from wire import Capture

XML = (
    '<CycloneDDS><Domain><General><Interfaces><NetworkInterface address="{address}" multicast="true"/></Interfaces></General>'
    "<Discovery><ParticipantIndex>none</ParticipantIndex></Discovery></Domain></CycloneDDS>"
)
QOS = ["best_effort", "reliable"]
# Sends once both have reported a match, because a volatile writer owes nothing that it sent before; its history has
# room for all.
HELD = ("reliable", "held", "count", 20, "depth", 64)
ENDLESS = 1_000_000  # of best effort a busy machine may lose any number
LOOPBACK = "127.0.0.1"


def needs(what: str, there: bool):
    if not there:
        pytest.skip(f"needs {what}")


def cyclone_0_10() -> Path:
    needs("Debian's cyclonedds-dev", Path("/usr/include/dds/dds.h").exists())
    needs("Debian's cyclonedds-tools", bool(shutil.which("idlc")))
    version = subprocess.run(
        ["dpkg-query", "-W", "-f=${Version}", "cyclonedds-dev"], capture_output=True, text=True
    ).stdout
    needs(f"Cyclone DDS 0.10, cyclonedds-dev is {version or 'not of Debian'}", version.startswith("0.10."))
    make(HERE, f"OUT={OUT}/test", "cyclone")
    return OUT / "test" / "cyclone_peer"


def cyclone_11() -> Path:
    prefix = ROOT / "build" / "cyclonedds"
    needs("Cyclone DDS 11 (make build)", (prefix / "bin" / "idlc").exists())
    make(HERE, f"OUT={OUT}/test", f"CYCLONE11={prefix}", "cyclone11")
    return OUT / "test" / "cyclone11_peer"


def fast_dds_2_9() -> Path:
    needs("Debian's libfastrtps-dev", Path("/usr/include/fastdds/dds/domain/DomainParticipant.hpp").exists())
    make(HERE, f"OUT={OUT}/test", "fastdds")
    return OUT / "test" / "fast_peer"


def itself() -> Path:
    make(HERE, f"OUT={OUT}/test", "all")
    return OUT / "test" / "node"


OTHERS = {"cyclone-0.10": cyclone_0_10, "cyclone-11": cyclone_11, "fastdds-2.9": fast_dds_2_9}


class Peer:
    """A program of another DDS, or of ours; all take the arguments of cyclone_peer.c and print as it does."""

    def __init__(self, name: str):
        self.name = name
        self.program = {**OTHERS, "micro": itself}[name]()

    def __call__(self, domain, qos, *what, prefix=(), address=LOOPBACK) -> Program:
        if self.name != "micro":
            return Program(
                self.program,
                domain,
                qos,
                *what,
                prefix=prefix,
                CYCLONEDDS_URI=XML.format(address=address),
                PEER_ADDRESS=address,
            )
        words = (
            ["sub"] if what[0] == "sub" else ["pub", "size", what[2], "count", what[3], "period", what[4], "depth", 64]
        )
        return Program(self.program, domain, "other_node", *words, *reliable(qos), "interface", address)


@pytest.fixture(scope="session", params=[*OTHERS, "micro"])
def peer(request) -> Peer:
    return Peer(request.param)


@pytest.fixture(scope="session", params=OTHERS)
def other_dds(request) -> Peer:
    """A program that can publish and subscribe at once on topics of its own."""
    return Peer(request.param)


def node(programs, domain, *arguments) -> Program:
    return Program(programs / "node", domain, "micro_node", *arguments, "interface", "127.0.0.1")


def reliable(qos: str) -> list[str]:
    return [] if qos == "best_effort" else [qos]


def in_order(started, first, second, first_starts: bool) -> tuple[Program, Program]:
    """Both programs; the first one is up before the second is started."""
    if first_starts:
        one = started(first())
        one.wait_for("up")
        return one, started(second())
    other = started(second())
    other.wait_for("up")
    return started(first()), other


def go_when_matched(writer: Program, reader: Program):
    """Lets a held writer send, when it and its reader know each other."""
    writer.wait_for("matched 1")
    reader.wait_for("matched 1")
    writer.tell("go")


def heard(lines: list[str], size: int) -> list[int]:
    """The numbers of messages, each of which must be whole."""
    words = [line.split() for line in lines]
    assert all(int(word[3]) == size for word in words), lines
    return [int(word[2]) for word in words]


def expect(numbers: list[int], qos: str, count: int):
    if qos == "best_effort":  # received messages come once and in order
        assert numbers == sorted(set(numbers))
    else:
        assert numbers == list(range(1, count + 1))


# 1400: more than Cyclone DDS puts into one DATA (1344 by default). 20000: many DATA_FRAG, and from ours IP datagrams of
# one frame each.
@pytest.mark.parametrize("size", [25, 1400, 20_000])
@pytest.mark.parametrize("micro_first", [True, False], ids=["micro_first", "peer_first"])
@pytest.mark.parametrize("qos", QOS)
def test_a_peer_hears_a_micro_node(programs, peer, domain, started, qos, micro_first, size):
    micro, other = in_order(
        started,
        lambda: node(programs, domain, "pub", *(HELD if qos == "reliable" else []), "size", size),
        lambda: peer(domain, qos, "sub", "rt/chatter"),
        micro_first,
    )
    if qos == "best_effort":
        expect(heard(other.wait_for("got", 5), size), qos, 20)
    else:
        go_when_matched(micro, other)
        expect(heard(other.wait_for("got", 20), size), qos, 20)
        micro.wait_for("counters malformed 0 unsupported 0 oversized 0")  # it ends by itself: all was acknowledged


@pytest.mark.parametrize("size", [25, 1400, 20_000])
@pytest.mark.parametrize("micro_first", [True, False], ids=["micro_first", "peer_first"])
@pytest.mark.parametrize("qos", QOS)
def test_a_micro_node_hears_a_peer(programs, peer, domain, started, qos, micro_first, size):
    micro, _ = in_order(
        started,
        lambda: node(programs, domain, "sub", *reliable(qos)),
        lambda: peer(domain, qos, "pub", "rt/chatter", size, 20 if qos == "reliable" else ENDLESS, 20),
        micro_first,
    )
    count = 20 if qos == "reliable" else 5
    expect(heard(micro.wait_for("got", count), size), qos, 20)
    assert micro.stop() == 0
    assert micro.find("counters malformed 0 unsupported 0 oversized 0"), micro.lines[-1]


@pytest.mark.parametrize("micro_first", [True, False], ids=["micro_first", "peer_first"])
def test_both_ways_at_once(programs, other_dds, domain, started, micro_first):
    micro, other = in_order(
        started,
        lambda: node(programs, domain, "both", *HELD),
        lambda: other_dds(domain, "reliable", "sub", "rt/chatter", "pub", "rt/to_micro", 30, 20, 20),
        micro_first,
    )
    go_when_matched(micro, other)
    assert heard(other.wait_for("got", 20), 25) == list(range(1, 21))
    assert heard(micro.wait_for("got", 20), 30) == list(range(1, 21))


def test_a_late_peer_gets_what_was_sent_before(programs, peer, domain, started):
    micro = started(node(programs, domain, "pub", "durable", "depth", 5, "count", 12, "period", 1))
    micro.wait_for("sent 12")
    other = started(peer(domain, "durable", "sub", "rt/chatter"))
    assert heard(other.wait_for("got", 5), 25) == [8, 9, 10, 11, 12]


def test_a_late_micro_reader_gets_what_a_peer_sent_before(programs, peer, domain, started):
    other = started(peer(domain, "durable", "pub", "rt/chatter", 25, 6, 1))
    other.wait_for("sent 6")
    micro = started(node(programs, domain, "sub", "durable"))
    assert heard(micro.wait_for("got", 6), 25) == [1, 2, 3, 4, 5, 6]


def test_another_dds_and_a_board_both_ways(images, other_dds, domain, started, tmp_path):
    """The messages come in order, and Wireshark finds nothing malformed in what the board sends."""
    network = best_network()
    try:
        if network.kind != "bridge":
            pytest.skip("needs permission for a network namespace with tap devices")
        capture = Capture(network, tmp_path / "wire.pcap", started)
        other = started(
            other_dds(
                domain,
                "reliable",
                "sub",
                "rt/chatter",
                "pub",
                "rt/to_micro",
                30,
                20,
                50,
                prefix=network.prefix,
                address="10.77.0.1",
            )
        )
        other.wait_for("up")
        board = started(network.board(images / "both.elf", domain))
        assert heard(other.wait_for("got", 10), 25)[:1] == [0]  # "hello from ...", no number at its beginning
        assert len(board.wait_for("heard", 20)) == 20
        assert [int(line.split(": ")[1].split()[0]) for line in board.find("heard")] == list(range(1, 21))
        other.wait_for("got", 40)  # for the capture, which drops what it has not read when it ends
        capture.end()
        capture.expect_well_formed("10.77.0.2")
    finally:
        network.close()
