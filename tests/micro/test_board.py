# SPDX-License-Identifier: Apache-2.0
"""The images on an emulated Cortex-M4 (QEMU mps2-an386) with real ROS 2, their sizes, and instructions counted."""

import json
import re
import subprocess
import sys

import pytest
from conftest import HERE, OUT, ROOT, make
from network import UserNetwork, best_network
from processes import PATIENCE_S, RosPeer
from wire import Capture

PROGRAMS = ("publisher", "subscriber", "both")


@pytest.fixture(params=["best", "user"])
def network(request):
    made = best_network() if request.param == "best" else UserNetwork()
    yield made
    made.close()


@pytest.fixture
def bridge():
    made = best_network()
    if made.kind != "bridge":
        pytest.skip("needs permission for a network namespace with tap devices")
    yield made
    made.close()


def expect_in_order(texts: list[str]):
    """From the first received message on, nothing is missing. A volatile writer owes its reader nothing that it
    sends before the reader has matched it, and the writer cannot see when that is."""
    numbers = [int(text[-4:]) for text in texts]
    assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))


def ros_in(network, python, domain):
    return RosPeer(python, domain, prefix=network.prefix, localhost=network.kind == "user")


@pytest.mark.parametrize("board_first", [True, False])
def test_ros_prints_what_the_microcontroller_says(images, kilted, domain, started, network, board_first):
    if board_first:
        board = started(network.board(images / "publisher.elf", domain))
        board.wait_for("up")
    ros = started(ros_in(network, kilted, domain))
    ros.tell("subscribe /chatter reliable")
    if not board_first:
        board = started(network.board(images / "publisher.elf", domain))
    texts = [text for _, _, text, _ in ros.records("got", 10)]
    assert {text[:-4] for text in texts} == {"hello from cortex-m4 "}
    expect_in_order(texts)
    nodes, topics, _ = ros.graph_until(lambda nodes, *_: "/micro publisher" in nodes)
    assert topics["/chatter"] == ["std_msgs/msg/String"]


@pytest.mark.parametrize("image, topic", [("subscriber", "/chatter"), ("both", "/to_micro")])
def test_the_microcontroller_prints_what_ros_says(images, kilted, domain, started, network, image, topic):
    ros = started(ros_in(network, kilted, domain))
    ros.tell(f"publish {topic} reliable 40 10 20")
    if image == "both":
        ros.tell("subscribe /chatter reliable")
    board = started(network.board(images / f"{image}.elf", domain))
    heard = board.wait_for("heard", 10)
    assert [int(line.split(": ")[1].split()[0].rstrip(".")) for line in heard] == list(range(1, 11))
    if image == "both":
        ros.records("got", 5)


def test_two_boards_talk(images, domain, started, bridge):
    hearing = started(bridge.board(images / "subscriber.elf", domain))
    hearing.wait_for("up")
    started(bridge.board(images / "publisher.elf", domain))
    expect_in_order(hearing.wait_for("heard", 10))


def test_a_board_does_not_overflow_beside_many_ros_nodes(images, kilted, domain, started, bridge):
    """Late joiner among ROS participants whose discovery comes in bursts of IP fragments."""
    peers = [started(ros_in(bridge, kilted, domain)) for _ in range(4)]
    for i, peer in enumerate(peers):
        for k in range(10):
            peer.tell(f"publish /other_{i}_{k} reliable 25 1 1")
    peers[-1].tell("subscribe /chatter reliable")
    peers[-1].graph_until(lambda nodes, topics, _: sum(t.startswith("/other_") for t in topics) == 40)
    board = started(bridge.board(images / "publisher.elf", domain))
    board.wait_for("matched 1")
    expect_in_order([text for _, _, text, _ in peers[-1].records("got", 10)])


def test_nothing_on_the_wire_is_malformed(images, kilted, domain, started, bridge, tmp_path):
    """Compares with Wireshark's dissector of RTPS."""
    capture = Capture(bridge, tmp_path / "wire.pcap", started)
    ros = started(ros_in(bridge, kilted, domain))
    ros.tell("subscribe /chatter reliable")
    ros.tell("publish /to_micro reliable 40 10 20")
    board = started(bridge.board(images / "both.elf", domain))
    board.wait_for("heard", 10)
    # Four seconds, because the capture loses up to its last second when it ends.
    ros.records("got", 40)
    capture.end()
    capture.expect_well_formed("10.77.0.2")


def test_a_board_answers_pings_of_every_length(images, domain, started, bridge):
    """Its checksums, which sum words with code for this processor, compared with checksums computed here from RFC
    1071."""
    board = started(bridge.board(images / "publisher.elf", domain))
    board.wait_for("up")
    done = subprocess.run(
        [*bridge.prefix, sys.executable, HERE / "ping.py", "10.77.0.2", "130"],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def sizes(folder) -> dict:
    """{program: {"rom": bytes, "ram": bytes}}; RAM with 2048 bytes of stack."""
    found = {}
    for program in PROGRAMS:
        text, data, bss = map(
            int,
            subprocess.run(
                ["arm-none-eabi-size", folder / f"{program}.elf"], capture_output=True, text=True, check=True
            )
            .stdout.splitlines()[1]
            .split()[:3],
        )
        found[program] = {"rom": text + data, "ram": data + bss}
    return found


@pytest.mark.parametrize("board", ["mps2-an386", "stm32f407"])
def test_sizes_are_those_recorded(images, board):
    """We promise 20 kB of ROM and 16 kB of RAM. sizes.json records the sizes; change it with a reason. The STM32's
    receive ring for its controller's DMA adds to the RAM (ports/stm32f4)."""
    folder = OUT
    if board == "stm32f407":
        make(ROOT / "micro", f"OUT={OUT}", "stm32f4")
        folder = OUT / "stm32f4"
    recorded = json.loads((HERE / "sizes.json").read_text())[board]
    found = sizes(folder)
    for program in PROGRAMS:
        assert found[program]["rom"] <= 20_000, found
        assert board != "mps2-an386" or found[program]["ram"] <= 16_000, found
        for memory in ("rom", "ram"):
            assert abs(found[program][memory] - recorded[program][memory]) <= 0.03 * recorded[program][memory], (
                f"{program} {memory}: {found[program][memory]}, recorded {recorded[program][memory]}"
            )


@pytest.mark.parametrize("qos", ["best_effort", "reliable"])
def test_the_same_instructions_at_every_boot_and_no_more_than_promised(domain, started, bridge, qos):
    """QEMU's -icount counts exactly, so two runs agree to the instruction, and a change of the code is visible."""
    folder = OUT / "counted" / qos
    make(ROOT / "micro", f"OUT={folder}", f"DEFINES=-DQOS={int(qos == 'reliable')}", "measure")
    counts = []
    for _ in range(2):
        hearing = started(bridge.board(folder / "measure" / "subscriber.elf", domain, "-icount", "shift=7"))
        hearing.wait_for("up")
        saying = started(bridge.board(folder / "measure" / "publisher.elf", domain, "-icount", "shift=7"))
        ticks = {}
        for program, what in ((saying, "publish"), (hearing, "take")):
            lines = program.wait_for(f"ticks {what}", 16)[:16]
            values = [int(re.search(r"ticks \w+ (\d+)", line)[1]) * 40 / 128 for line in lines]
            ticks[what] = min(values)  # the interrupt of the millisecond falls into some
            assert all(int(re.search(r"stack (\d+)", line)[1]) <= 1536 for line in lines), (
                lines
            )  # of the 2048 set aside
        counts.append(ticks)
        saying.stop()
        hearing.stop()
    print(counts)
    for what in ("publish", "take"):
        assert abs(counts[0][what] - counts[1][what]) < 1, counts  # a tick of the counter is a third of an instruction
    assert counts[0]["publish"] <= 1100 and counts[0]["take"] <= 900, counts
