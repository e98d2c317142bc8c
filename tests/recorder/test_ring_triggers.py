"""`tacho record --ring` on a live rclpy system: what each trigger saves, compared with the program's own output."""

import json
import os
import re
import signal

import pyarrow.parquet as parquet
import pytest
from recording import error_ns
from waiting import succeeded

SLOW_S = 2.5
PROGRAM = f"""
import os, select, time, rclpy
from rclpy.node import Node
from std_msgs.msg import String
rclpy.init()
node = Node("both")
publisher = node.create_publisher(String, "chatter", 10)
slow_s = 0.0
node.create_subscription(String, "chatter", lambda message: time.sleep(slow_s), 10)
timer = node.create_timer(0.05, lambda: publisher.publish(String(data="x")))
def told(word):
    print(word, time.monotonic_ns(), flush=True)
def spin(seconds):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        rclpy.spin_once(node, timeout_sec=0.05)
spin(0.5)
told("steady")
while True:
    spin(0.05)
    asked = os.read(0, 100).decode().strip() if select.select([0], [], [], 0)[0] else ""
    if asked == "late":
        # The second one waits for the first one's callback.
        slow_s = {SLOW_S}
        told("late")
        publisher.publish(String(data="one"))
        publisher.publish(String(data="two"))
        spin(0.1)
        slow_s = 0.0
    elif asked == "silent":
        timer.cancel()
        told("silent")
    elif asked == "end":
        break
"""


def line_with(stream, pattern):
    """The match of a pattern in the first line of a stream that has one."""
    seen = []
    for line in stream:
        if found := re.search(pattern, line):
            return found
        seen.append(line)
    raise AssertionError(f"no {pattern} in:\n{''.join(seen)}")


@pytest.mark.parametrize("by", ["late", "silent", "signal"])
def test_what_a_trigger_saves_has_what_it_was_pulled_for(tacho, ros_python, by):
    trigger = ["--trigger", f"{by} /chatter 2s", "--after", "500ms"] if by != "signal" else []
    command = ["--ring", "10s", *trigger, "-o", "run", "--", ros_python, "-c", PROGRAM]
    recording = tacho.start("record", *command, stdin=-1)
    word, instant = recording.stdout.readline().split()
    assert word == "steady"
    if by == "signal":
        recording.send_signal(signal.SIGUSR1)
    else:
        os.write(recording.stdin.fileno(), f"{by}\n".encode())
        word, instant = recording.stdout.readline().split()
        assert word == by
    why, saved = line_with(recording.stderr, r"saved \((.*)\): (\S+)").groups()
    os.write(recording.stdin.fileno(), b"end\n")
    succeeded(recording)
    assert json.loads((tacho.directory / saved / "run.json").read_text())["ring"]["saved_for"] == why
    assert {"late": "late /chatter", "silent": "silent /chatter", "signal": "SIGUSR1"}[by] in why
    (topic,) = (
        topic for topic in tacho.json("import", saved, "-o", "tables")["topics"] if topic["topic"] == "/chatter"
    )
    assert topic["sent"] > 0
    published = parquet.read_table(tacho.directory / "tables/tables/publications.parquet").to_pylist()
    instants = sorted(row["publish_ns"] for row in published)
    error = error_ns(tacho.directory / "tables")
    if by == "late":
        assert topic["latency_us"]["max"] >= SLOW_S * 1e6 - error / 1e3
        # And the events after it.
        assert instants[0] < int(instant) < instants[-1]
    elif by == "silent":
        assert instants[-1] <= int(instant) + error
