"""The middleware plugins in Rust through `tacho bench`: what zenoh's peers receive, and what iceoryx leaves in
shared memory."""

import os
import signal
import struct
import subprocess
import time
from pathlib import Path

import pytest
import zenoh
from domains import free_domain
from waiting import LIMIT_S, finished, wait_for

# Queues that hold everything that is sent, so that a busy machine loses nothing.
FAN = """
middleware: {middleware}
transport: {transport}
nodes:
  source: {{publishes: {{/points: {{size: {size}, rate: 20 Hz, depth: {depth}}}}}}}
{sinks}
run: {{duration: {duration}, domain: {domain}}}
"""


def fan(middleware, transport, size="64 KiB", sinks=1, duration="1 s", depth=100, domain=None):
    lines = [f"  sink{i}: {{subscribes: {{/points: {{depth: {depth}}}}}}}" for i in range(sinks)]
    domain = domain or free_domain()
    sinks = "\n".join(lines)
    return FAN.format(
        middleware=middleware,
        transport=transport,
        size=size,
        depth=depth,
        sinks=sinks,
        duration=duration,
        domain=domain,
    )


def point(tacho, text, run="run"):
    (tacho.directory / "w.yaml").write_text(text)
    return tacho.json("bench", "w.yaml", "-o", run)["points"][0]


@pytest.mark.parametrize("middleware, transport", [("zenoh", "peer"), ("zenoh", "shm"), ("iceoryx", "shm")])
def test_every_message_reaches_twelve_processes(tacho, middleware, transport):
    figures = point(tacho, fan(middleware, transport, sinks=12))
    assert figures["sent"] > 0
    assert (figures["received"], figures["lost"]) == (12 * figures["sent"], 0)


@pytest.mark.timing
def test_what_is_not_copied_takes_no_time(tacho):
    def least(run, *arguments):
        """Of some twenty messages, the latency of the one that other programs delayed least."""
        return point(tacho, fan(*arguments, size="8 MiB", depth=10), run)["latency_us"]["min"]

    by_tcp, serialised, lent = least("a", "zenoh", "peer"), least("b", "zenoh", "shm"), least("c", "iceoryx", "shm")
    assert lent < serialised / 2 and serialised < by_tcp / 1.5


class Ears:
    """A peer on Eclipse Zenoh's Python library that listens to a domain as rmw_zenoh would."""

    def __init__(self, domain):
        config = zenoh.Config()
        for key, value in {
            "mode": '"peer"',
            "listen/endpoints": '["tcp/127.0.0.1:0"]',
            "scouting/multicast/interface": '"127.0.0.1"',
            "scouting/multicast/address": f'"224.0.0.224:{17446 + domain}"',
        }.items():
            config.insert_json5(key, value)
        self.tokens, self.samples = [], []
        self.session = zenoh.open(config)
        self.session.liveliness().declare_subscriber(
            f"@ros2_lv/{domain}/**",
            lambda sample: self.tokens.append((sample.kind, str(sample.key_expr))),
            history=True,
        )
        self.session.declare_subscriber(
            f"{domain}/points/**",
            lambda sample: self.samples.append((str(sample.key_expr), bytes(sample.payload), bytes(sample.attachment))),
        )


DESERIALISE = """
import sys
from rclpy.serialization import deserialize_message
from {package}.msg import {name}
message = deserialize_message(bytes.fromhex(sys.stdin.read()), {name})
print(len(message.data), bytes(message.data[:24]).hex())
"""


@pytest.mark.parametrize(
    "size, package, name", [(64, "std_msgs", "UInt8MultiArray"), (8192, "sensor_msgs", "PointCloud2")]
)
def test_a_foreign_peer_hears_messages_and_tokens_of_ros_2(tacho, ros_python, size, package, name):
    domain = free_domain()
    ears = Ears(domain)
    with ears.session:
        sent = point(tacho, fan("zenoh", "peer", size=f"{size} B", domain=domain))["sent"]

        def gone():
            return sum(kind == zenoh.SampleKind.DELETE for kind, _ in ears.tokens)

        wait_for(lambda: gone() == 4, "the ends of 4 tokens")
    # Messages before and after the measured window came, too.
    assert len(ears.samples) >= sent > 0

    there = sorted(token.split("/") for kind, token in ears.tokens if kind == zenoh.SampleKind.PUT)
    assert sorted((t[5], t[8]) for t in there) == [("MP", "source"), ("MS", "sink0"), ("NN", "sink0"), ("NN", "source")]
    publisher = next(t for t in there if t[5] == "MP")
    assert publisher[9:11] == ["%points", f"{package}::msg::dds_::{name}_"] and publisher[12] == "::,100:,:,:,,"

    keys = {key for key, _, _ in ears.samples}
    assert keys == {f"{domain}/points/{package}::msg::dds_::{name}_/{publisher[11]}"}
    # Sequence number, CLOCK_REALTIME, and the sixteen bytes that identify the publisher, after their number.
    attachments = [struct.unpack("<qqB16s", attachment) for _, _, attachment in ears.samples]
    assert [a[0] for a in attachments] == list(range(1, len(ears.samples) + 1))
    assert all(0 <= time.time_ns() - a[1] < 600 * 10**9 for a in attachments)
    assert {a[2] for a in attachments} == {16} and len({a[3] for a in attachments}) == 1

    for at, (_, payload, _) in enumerate(ears.samples[:3]):
        done = subprocess.run(
            [ros_python, "-c", DESERIALISE.format(package=package, name=name)],
            input=payload.hex(),
            capture_output=True,
            text=True,
            check=True,
            timeout=LIMIT_S,
        )
        length, header = done.stdout.split()
        assert int(length) == 24 + size
        assert struct.unpack("<Q", bytes.fromhex(header)[:8])[0] == at


def segments():
    return set(Path("/dev/shm").glob(f"tacho_{os.getuid()}_*.data"))


def descendants(pid):
    found = []
    for children in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in map(int, children.read_text().split()):
            found += [child, *descendants(child)]
    return found


def test_the_next_run_of_iceoryx_removes_what_killed_processes_left(tacho):
    before = segments()
    (tacho.directory / "long.yaml").write_text(fan("iceoryx", "shm", duration="60 s"))
    killed = tacho.start("bench", "long.yaml", "-o", "killed")
    wait_for(lambda: segments() - before, "shared memory", killed)
    left = segments() - before
    # Stopped, it neither makes processes nor ends those that it has.
    killed.send_signal(signal.SIGSTOP)
    for pid in [*descendants(killed.pid), killed.pid]:
        os.kill(pid, signal.SIGKILL)
    finished(killed)
    assert left & segments()
    assert point(tacho, fan("iceoryx", "shm"))["lost"] == 0
    assert not left & segments()
