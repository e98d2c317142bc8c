"""Nodes on emulated boards (`host: micro`), beside ROS 2 and each other: the figures that they have, and those that
they must not have."""

import json
import os
import shutil
import subprocess

import pytest
from places import ROOT
from waiting import finished

NAMESPACES = shutil.which("ip") and subprocess.run(["unshare", "--net", "true"], capture_output=True).returncode == 0

pytestmark = [
    pytest.mark.timing,
    pytest.mark.skipif(not shutil.which("qemu-system-arm"), reason="boards need qemu-system-arm"),
    pytest.mark.skipif(
        not (ROOT / "build" / "micro" / "node.elf").is_file(), reason="boards need build/micro/node.elf: make micro"
    ),
]
bridged = pytest.mark.skipif(not NAMESPACES, reason="two boards need network namespaces: iproute2 and CAP_SYS_ADMIN")


def bench(tacho, workload: str, run: str = "run"):
    (tacho.directory / "w.yaml").write_text(workload)
    summary = tacho.json("bench", "w.yaml", "-o", run)
    return summary, json.loads((tacho.directory / run / "run.json").read_text())


def boards_of(info) -> dict:
    return {p["name"]: p for p in info["processes"] if "board" in p}


@bridged
def test_boards_and_ros_share_topics_and_no_message_is_lost(tacho):
    """Three boards and a ROS 2 node: a publisher, one that answers, one that receives; every message is accounted
    for on one timeline."""
    summary, info = bench(
        tacho,
        """
middleware: {ros2: udp}
nodes:
  board:  {host: micro, publishes: {/beat: {size: 12 B, rate: 20 Hz}}}
  echo:   {host: micro, subscribes: [/beat], publishes: {/echo: {size: 100 B}}}
  hears:  {subscribes: [/beat, /echo]}
  speaks: {publishes: {/talk: {size: 3 KiB, rate: 10 Hz}}}
  third:  {host: micro, subscribes: [/talk]}
run: {duration: 3 s}
""",
    )
    assert info["missing"] == []
    topics = {t["topic"]: t for t in summary["topics"]}
    beat, echo, talk = (topics[f"/{name}"] for name in ("beat", "echo", "talk"))
    # An emulator that has no CPU for a while sends less, and answers what was sent before the window.
    assert 30 <= beat["sent"] <= 61 and beat["received"] == 2 * beat["sent"] and beat["lost"] == 0
    assert abs(echo["sent"] - beat["sent"]) <= 10 and echo["received"] == echo["sent"] and echo["lost"] == 0
    assert 15 <= talk["sent"] <= 31 and talk["received"] == talk["sent"] and talk["lost"] == 0
    # No duration that includes emulated time counts as measured.
    point = summary["points"][0]
    assert not any("latency_us" in of for of in (point, beat, echo, talk))
    assert not any(word in of for of in (point, *point["subscribing"]) for word in ("in_time", "late"))
    assert point["received"] == beat["received"] + echo["received"] + talk["received"]
    assert all("end_to_end_ms" not in chain for chain in summary["chains"])
    assert not any("duration_us" in c for c in summary["callbacks"] if c["node"] in ("/board", "/echo", "/third"))
    assert sum(n["count"] for n in summary["notes"] if n["name"] == "emulated-board") == 3
    # It has its own name, with the error of the clocks; and no message comes long before it was sent.
    error_us = max(board["clock_error_us"] for board in point["boards"])
    assert 0 < error_us < 1e6 / 20, "less than the period of the messages"
    assert point["emulated_us"]["count"] == beat["received"] + echo["received"] + talk["received"]
    assert point["emulated_us"]["min"] > -2 * error_us
    boards = boards_of(info)
    assert set(boards) == {"board", "echo", "third"} and all(
        p["host"] == "micro" and p["code"] == 0 for p in boards.values()
    )
    for board in point["boards"]:
        assert board["emulated"] and board["counters"] == {}
        assert 10_000 < board["rom_bytes"] < 30_000 and 10_000 < board["ram_bytes"] - board["stack_bytes"] < 40_000


@bridged
def test_four_boards_and_nodes_of_three_middlewares_are_one_system(tacho):
    """Two boards send, one answers, one receives, among ROS 2, Dust DDS and tacho-micro at this machine's speed:
    every message reaches each of its readers."""
    plugins = [name for name in ("dustdds", "micro") if (ROOT / "build" / "lib" / f"libtacho_{name}.so").is_file()]
    summary, info = bench(
        tacho,
        """
middleware: {ros2: udp}
nodes:
  front:  {host: micro, publishes: {/front: {size: 12 B, rate: 10 Hz}}}
  rear:   {host: micro, publishes: {/rear: {size: 2 KiB, rate: 10 Hz}}}
  brakes: {host: micro, subscribes: [/front, /rear], publishes: {/brakes: {size: 16 B}}}
  lights: {host: micro, subscribes: [/brakes, /plan]}
  plans:  {subscribes: [/front, /rear], publishes: {/plan: {size: 64 B, rate: 10 Hz}}}
"""
        + "".join(f"  {name}: {{middleware: {name}, subscribes: [/front, /brakes, /plan]}}\n" for name in plugins)
        + "run: {duration: 3 s}\n",
    )
    assert info["missing"] == [] and len(boards_of(info)) == 4
    topics = {t["topic"]: t for t in summary["topics"]}
    point = summary["points"][0]
    readers = {topic: {s["node"] for s in point["subscribing"] if s["topic"] == topic} for topic in topics}
    others = {f"/{name}" for name in plugins}
    assert readers == {
        "/front": {"/brakes", "/plans", *others},
        "/rear": {"/brakes", "/plans"},
        "/brakes": {"/lights", *others},
        "/plan": {"/lights", *others},
    }
    for subscription in point["subscribing"]:  # none lost; the last ones may be on their way when the window closes
        assert (
            subscription["lost"] == 0 and subscription["received"] >= 0.8 * topics[subscription["topic"]]["sent"] > 0
        ), subscription
    # A deadline applies only to messages between nodes of this machine.
    assert "in_time" not in point and "late" not in point
    judged = {(s["node"], s["topic"]) for s in point["subscribing"] if "in_time" in s}
    assert judged == {(f"/{name}", "/plan") for name in plugins}
    assert all(board["counters"] == {} for board in point["boards"])


@bridged
def test_rom_and_ram_are_those_of_the_image_and_what_messages_take(tacho):
    """Compares with arm-none-eabi-size; a message of 4 KiB ten deep takes 40 KiB more than one of 12 B."""
    if not shutil.which("arm-none-eabi-size"):
        pytest.skip("needs arm-none-eabi-size")
    sizes = []
    for size in ("12 B", "4 KiB"):
        text = f"middleware: micro\nnodes:\n  a: {{host: micro, publishes: {{/t: {{size: {size}, rate: 20 Hz}}}}}}\n  b: {{subscribes: [/t]}}\nrun: {{duration: 1 s}}\n"
        summary, _ = bench(tacho, text, f"run-{len(sizes)}")
        sizes.append(summary["points"][0]["boards"][0])
    found = subprocess.run(
        ["arm-none-eabi-size", "-A", ROOT / "build" / "micro" / "node.elf"], capture_output=True, text=True, check=True
    ).stdout
    sections = {line.split()[0]: int(line.split()[1]) for line in found.splitlines() if line.startswith(".")}
    rom = sections[".text"] + sections[".ARM.exidx"] + sections[".data"]
    ram = sections[".data"] + sections[".bss"] + sections[".stack"]
    assert sizes[0]["rom_bytes"] == sizes[1]["rom_bytes"] == rom
    assert ram < sizes[0]["ram_bytes"] < ram + 2_000
    assert sizes[1]["ram_bytes"] - sizes[0]["ram_bytes"] == 10 * (4096 - 12)


def test_without_permission_one_board_uses_qemus_user_networking_and_says_so(tacho):
    if os.geteuid() != 0 or not shutil.which("setpriv"):
        pytest.skip("only root can give its permissions away, with setpriv")
    (tacho.directory / "w.yaml").write_text(
        "middleware: {ros2: udp}\nnodes:\n  a: {host: micro, publishes: {/t: {size: 12 B, rate: 20 Hz}}}\n  b: {subscribes: [/t]}\nrun: {duration: 2 s}\n"
    )
    done = tacho(
        "bench",
        "w.yaml",
        "-o",
        "run",
        "--json",
        before=["setpriv", "--bounding-set=-sys_admin", "--inh-caps=-sys_admin"],
    )
    point = json.loads(done.stdout)["points"][0]
    assert 20 <= point["sent"] <= 41 and point["received"] == point["sent"] and point["lost"] == 0
    info = json.loads((tacho.directory / "run" / "run.json").read_text())
    assert any("QEMU's user networking instead" in text and "CAP_SYS_ADMIN" in text for text in info["missing"])
    assert boards_of(info)["a"]["board"]["network"] == "QEMU's user networking"


@bridged
def test_bytes_on_the_wire_are_those_of_the_frames(tacho):
    """Plain UDP: 14 bytes of Ethernet, 20 of IP, 8 of UDP, 32 of a piece's head (native/middleware/socket/wire.h), 24 of tacho's, then the data."""
    text = "middleware: {{socket: udp}}\nhosts: {{x: {{}}, y: {{}}}}\nnodes:\n  a: {{host: x, publishes: {{/t: {{size: {size} B, rate: 50 Hz, reliability: best_effort}}}}}}\n  b: {{host: y, subscribes: {{/t: {{reliability: best_effort}}}}}}\nrun: {{duration: 1 s, wire: true}}\n"
    for size in (64, 512):
        summary, info = bench(tacho, text.format(size=size), f"run-{size}")
        point = summary["points"][0]
        assert point["data_frame_bytes"] == 14 + 20 + 8 + 32 + 24 + size
        assert info["wire"]["missed"] == 0 and abs(info["wire"]["data_frames"] - point["sent"]) <= 2
        assert abs(point["wire_bytes_per_message"] - point["data_frame_bytes"]) < 0.2 * point["data_frame_bytes"]


@bridged
def test_a_board_that_dies_is_a_failure_that_names_it(tacho):
    (tacho.directory / "w.yaml").write_text(
        "middleware: micro\nnodes:\n  a: {host: micro, publishes: {/t: {size: 12 B, rate: 20 Hz}}}\n  b: {subscribes: [/t]}\nrun: {duration: 8 s}\n"
    )
    process = tacho.start("bench", "w.yaml", "-o", "run")
    emulator = None
    while emulator is None and process.poll() is None:
        for keeper in children(process.pid):
            emulator = next((child for child in children(keeper) if "qemu-system-arm" in command_of(child)), emulator)
        events = tacho.directory / "run" / "events"
        if not (events.is_dir() and len(list(events.glob("*.events"))) == 2):
            emulator = None
    os.kill(emulator, 9)
    _, error = finished(process)
    assert process.returncode != 0 and "the board of node a stopped" in error


def children(pid: int) -> list[int]:
    found = []
    try:
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/children") as file:
                found += [int(child) for child in file.read().split()]
    except (FileNotFoundError, ProcessLookupError):
        pass  # ended just now
    return found


def command_of(pid: int) -> str:
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return file.read().replace(b"\0", b" ").decode(errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return ""
