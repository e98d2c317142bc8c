"""Recordings of two hosts, joined: the messages in both directions relate clocks that are apart, within a stated
uncertainty."""

import shutil
import struct

import pyarrow.parquet as parquet
import pytest
from places import PROGRAMS
from waiting import succeeded

MESSAGES = 100
AHEAD_NS = 7_000_000
HEADER, CHUNK, CHUNK_HEADER, SIZES = 4096, 32768, 64, 3920
CLOCK_SYNC, WIDE, VARIES = 2, 4, 15


def shift(events, ahead_ns, boot_id):
    """Turns event files (docs/event-file.md) into those of a host of another boot, whose clock is ahead by this
    much."""
    (events / "clock.sync").unlink()
    for path in events.glob("*.events"):
        data = bytearray(path.read_bytes())

        def add(at, data=data):
            struct.pack_into("<q", data, at, struct.unpack_from("<q", data, at)[0] + ahead_ns)

        add(40)  # start_monotonic_ns
        data[136:176] = boot_id.encode().ljust(40, b"\0")
        data[176:240] = b"roadside".ljust(64, b"\0")
        for chunk in range(HEADER, len(data) - CHUNK + 1, CHUNK):
            at = chunk + CHUNK_HEADER
            while at < chunk + CHUNK and (kind := struct.unpack_from("<I", data, at)[0] & 0xFF):
                size, payload = data[SIZES + kind // 2] >> 4 * (kind % 2) & 15, at + 4
                if size == VARIES:
                    size, of_kind = struct.unpack_from("<HH", data, payload)
                    payload += 4
                    kind = of_kind if kind == WIDE else kind
                if kind == CLOCK_SYNC:
                    add(payload)
                at = payload + 4 * size
        path.write_bytes(data)


def program(python, name, topic, *arguments):
    return " ".join(
        [
            python,
            str(PROGRAMS / f"{name}.py"),
            *map(str, arguments),
            "--ros-args",
            "-r",
            f"chatter:=/{topic}",
            "-r",
            f"__node:={name}_{topic}",
        ]
    )


@pytest.fixture
def recorded(tacho, ros_python):
    """Two runs at one time: a car that sends /ping and receives /pong, and a roadside unit that receives and sends."""

    def start(run, hears, sends):
        listener, talker = (
            program(ros_python, "listener", hears, MESSAGES),
            program(ros_python, "talker", sends, MESSAGES, 0.02),
        )
        return tacho.start("record", "-o", run, "--", "sh", "-c", f"{listener} & {talker} && wait $!")

    for process in [start("car", "pong", "ping"), start("roadside", "ping", "pong")]:
        succeeded(process)
    return tacho


def latencies(run):
    """Publish call to take, ns, by topic, in the order of the publish calls."""
    endpoints = parquet.read_table(run / "tables" / "endpoints.parquet").to_pylist()
    found = {}
    for row in parquet.read_table(run / "tables" / "messages.parquet").to_pylist():
        if row["publish_ns"] is not None and row["take_ns"] is not None:
            found.setdefault(endpoints[row["subscription"]]["topic"], []).append(
                (row["publish_ns"], row["take_ns"] - row["publish_ns"])
            )
    return {topic: [latency for _, latency in sorted(rows)] for topic, rows in found.items()}


def test_clocks_that_are_apart_are_related_within_the_uncertainty_that_is_said(recorded):
    tacho, folder = recorded, recorded.directory
    before = sorted(path.read_bytes() for path in (folder / "car" / "events").iterdir())
    tacho("import", "car", "roadside", "-o", "one-clock")
    truth = latencies(folder / "one-clock")
    assert parquet.read_table(folder / "one-clock" / "tables" / "clocks.parquet").num_rows == 0
    assert {topic: len(rows) for topic, rows in truth.items()} == {"/ping": MESSAGES, "/pong": MESSAGES}

    shutil.copytree(folder / "roadside", folder / "elsewhere")
    shift(folder / "elsewhere" / "events", AHEAD_NS, "00000000-0000-0000-0000-000000000001")
    text = tacho("import", "car", "elsewhere", "-o", "two-clocks").stdout
    assert sorted(path.read_bytes() for path in (folder / "car" / "events").iterdir()) == before, (
        "a run is never changed"
    )
    first, other = parquet.read_table(folder / "two-clocks" / "tables" / "clocks.parquet").to_pylist()
    offset, uncertainty = other["offset_ns"], other["uncertainty_ns"]
    # Clocks are relative to that of the process whose file comes first by name: by its id, of either host.
    ahead = AHEAD_NS if other["host"] == "roadside" else -AHEAD_NS
    assert first["host"] != other["host"] and abs(offset - ahead) <= uncertainty, other
    # No more than a message takes there and back.
    assert uncertainty <= max(truth["/ping"]) + max(truth["/pong"]), (other, truth)
    assert "clocks-related" in text and other["host"] in text
    found = latencies(folder / "two-clocks")
    for topic, rows in truth.items():
        assert len(found[topic]) == len(rows)
        for ours, true in zip(found[topic], rows):
            assert ours >= 0 and abs(ours - true) <= uncertainty + 20_000, (topic, ours, true, uncertainty)


def test_what_cannot_be_joined_is_said(tacho):
    (tacho.directory / "run" / "events").mkdir(parents=True)
    (tacho.directory / "run" / "run.json").write_text(
        '{"verb": "record", "command": [], "tacho_version": "", "started_at": "", "duration_s": 0, "versions": {}, "processes": []}'
    )
    assert "no events of its own" in tacho("import", "run", "-o", "joined", expect=2).stderr
    assert "no-such-run" in tacho("import", "run", "no-such-run", "-o", "joined2", expect=2).stderr
