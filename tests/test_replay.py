"""Replay of a bag's messages as a source, against the bag's own content, byte by byte."""

import json
import random
import sqlite3
import struct
from pathlib import Path

import numpy as np
import pytest
from mcap.writer import CompressionType, Writer
from places import ROOT
from signals import Signals
from task_library import Task, TaskFailed, kind_number, stamp_ns

SIZE = 4096
LIBRARY = ROOT / "build/lib/libtacho_tasks_replay.so"
# Times of day: a recorder's clock.
BEGIN_NS = 1_700_000_000_000_000_000


def recorded(seed: int) -> list[tuple[int, bytes]]:
    """Messages of a topic: when they were logged, and their bytes: CDR with a header, then anything."""
    draws = random.Random(seed)
    found, at = [], BEGIN_NS
    for number in range(40):
        head = struct.pack("<4BiI", 0, 1, 0, 0, 100 + number, 5)
        found.append((at, head + draws.randbytes(draws.randrange(0, 3000))))
        # Some come together, some after a pause.
        at += draws.choice([0, 1_000, 7_000_000, 31_000_000])
    return found


def write_mcap(path: Path, compression: CompressionType) -> dict[str, list[tuple[int, bytes]]]:
    topics = {"/points": recorded(1), "/other": recorded(2)}
    with open(path, "wb") as file:
        writer = Writer(file, compression=compression, chunk_size=9000)
        writer.start()
        text = b"std_msgs/Header header\n"
        schema = writer.register_schema("sensor_msgs/msg/PointCloud2", "ros2msg", text)
        channels = {name: writer.register_channel(name, "cdr", schema) for name in topics}
        rows = [(at, name, data) for name, messages in topics.items() for at, data in messages]
        for at, name, data in sorted(rows, key=lambda row: row[0]):
            writer.add_message(channels[name], log_time=at, data=data, publish_time=at)
        writer.finish()
    return topics


def write_sqlite(path: Path) -> dict[str, list[tuple[int, bytes]]]:
    topics = {"/points": recorded(3), "/other": recorded(4)}
    database = sqlite3.connect(path)
    database.executescript("""
        CREATE TABLE topics(id INTEGER PRIMARY KEY, name TEXT NOT NULL, type TEXT NOT NULL,
                            serialization_format TEXT NOT NULL, offered_qos_profiles TEXT NOT NULL);
        CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id INTEGER NOT NULL, timestamp INTEGER NOT NULL,
                              data BLOB NOT NULL);
    """)
    for number, (name, messages) in enumerate(topics.items(), 1):
        database.execute("INSERT INTO topics VALUES(?, ?, 'sensor_msgs/msg/PointCloud2', 'cdr', '')", (number, name))
        database.executemany(
            "INSERT INTO messages(topic_id, timestamp, data) VALUES(?, ?, ?)", [(number, *row) for row in messages]
        )
    database.commit()
    database.close()
    return topics


@pytest.fixture(params=["none.mcap", "zstd.mcap", "lz4.mcap", "bag_0.db3"])
def bag(request, tmp_path) -> tuple[Path, dict[str, list[tuple[int, bytes]]]]:
    path = tmp_path / request.param
    if path.suffix == ".db3":
        return path, write_sqlite(path)
    return path, write_mcap(path, CompressionType[path.stem.upper()])


def content(message: bytes) -> bytes:
    """The recorded bytes of a message; what follows them in its buffer is zero."""
    kind, count = struct.unpack_from("<II", message)
    assert kind == kind_number("RAW1") and not any(message[16 + count :])
    return message[16 : 16 + count]


def test_each_message_goes_out_at_its_time_byte_by_byte(bag):
    path, topics = bag
    for topic, messages in topics.items():
        task = Task("replay", sizes=[SIZE], texts={"bag": str(path), "topic": topic})
        out = []
        for tick in range(3000):
            (message,) = task(5 + tick / 1000)
            if message is not None:
                out.append((tick / 1000, message))
        assert [content(message) for _, message in out] == [data for _, data in messages]
        assert [stamp_ns(message) for _, message in out] == [
            (100 + number) * 10**9 + 5 for number in range(len(messages))
        ]
        # At the first tick of 1 ms at or after its time, one message a tick.
        before = -1
        for (at, _), (log_ns, _) in zip(out, messages, strict=True):
            expected = max(-(-(log_ns - BEGIN_NS) // 1_000_000), before + 1)
            assert round(at * 1000) == expected
            before = expected
        figures = task.figures()
        assert figures["messages"] == figures["messages_of_the_bag"] == 40
        assert task(9)[0] is None, "it ends with the bag"


def test_it_begins_again_if_it_repeats(tmp_path):
    messages = write_mcap(tmp_path / "a.mcap", CompressionType.NONE)["/points"]
    task = Task("replay", sizes=[SIZE], texts={"bag": str(tmp_path / "a.mcap"), "topic": "/points"}, repeat=1)
    out = [message for tick in range(6000) if (message := task(tick / 1000)[0]) is not None]
    assert len(out) > 80 and [content(m) for m in out[40:80]] == [data for _, data in messages]


@pytest.mark.parametrize(
    "texts,size,words",
    [
        ({"topic": "/points"}, SIZE, "found no `bag`, expected a bag and a topic of it"),
        ({"bag": "{bag}"}, SIZE, "found no `topic`, expected a bag and a topic of it"),
        ({"bag": "{bag}", "topic": "/pints"}, SIZE, "found no topic /pints; there are: /other, /points"),
        ({"bag": "{bag}.gone", "topic": "/points"}, SIZE, "a.mcap.gone"),
        ({"bag": "{bag}", "topic": "/points"}, 100, "expected a size of at least"),
    ],
)
def test_what_it_cannot_replay_is_named(tmp_path, texts, size, words):
    path = tmp_path / "a.mcap"
    write_mcap(path, CompressionType.NONE)
    with pytest.raises(TaskFailed) as failed:
        Task("replay", sizes=[size], texts={name: text.replace("{bag}", str(path)) for name, text in texts.items()})
    assert words in str(failed.value).replace("/points, /other", "/other, /points")


def test_a_damaged_bag_is_replayed_as_far_as_it_can_be_read(tmp_path):
    path = tmp_path / "a.mcap"
    messages = write_mcap(path, CompressionType.NONE)["/points"]
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    task = Task("replay", sizes=[SIZE], texts={"bag": str(path), "topic": "/points"})
    out = [content(message) for tick in range(3000) if (message := task(tick / 1000)[0]) is not None]
    assert 5 < len(out) < 40 and out == [data for _, data in messages[: len(out)]]


def digest(data: bytes) -> float:
    """FNV-1a, of which a double holds the lower 53 bits: as task probe_digest reports it."""
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return float(value % 2**53)


@pytest.mark.timing
@pytest.mark.parametrize("middleware", ["inproc", "ros2", "virtual"])
def test_what_arrives_over_a_middleware_is_what_the_bag_holds(tacho, tmp_path, middleware):
    home = tmp_path / "home"
    (home / "lib").mkdir(parents=True)
    for entry in (*(ROOT / "build").iterdir(), *(ROOT / "build/lib").iterdir()):
        at = home / "lib" if entry.parent.name == "lib" else home
        if entry.name != "lib":
            (at / entry.name).symlink_to(entry)
    probe = ROOT / "build/native/tasks/tests/libtacho_tasks_probe.so"
    (home / "lib" / probe.name).symlink_to(probe)
    tacho.environment["TACHO_HOME"] = str(home)
    messages = write_mcap(tacho.directory / "a.mcap", CompressionType.ZSTD)["/points"]
    (tacho.directory / "w.yaml").write_text(f"""
middleware: {"inproc" if middleware == "virtual" else middleware}
nodes:
  source:
    work: {{task: replay, bag: a.mcap, topic: /points}}
    publishes: {{/points: {{size: 4 KiB, rate: 1 kHz, depth: 100}}}}
  sink: {{work: {{task: probe_digest}}, subscribes: {{/points: {{depth: 100}}}}}}
run: {{duration: 2 s}}
""")
    tacho(*(["simulate"] if middleware == "virtual" else ["bench"]), "w.yaml", "-o", "run")
    run = tacho.directory / "run"
    expected = [digest(data) for _, data in messages]
    signals = Signals(run)
    assert signals.values("sink", "digest").tolist() == expected
    figures = {f["name"]: f["values"][0] for f in json.loads((run / "summary.json").read_text())["quality"]}
    assert figures["messages"] == 40
    # Between arrivals lies the time between the recorded messages, but for ticks and the machine.
    log = np.array([at for at, _ in messages])
    apart = np.diff(signals.column("sink", "digest", "reported_ns")) - np.diff(log)
    assert np.median(np.abs(apart)) < 2e6
    if middleware != "virtual":
        return
    # One tick each, and never early.
    begin = signals.column("sink", "digest", "reported_ns")[0]
    late = signals.column("sink", "digest", "reported_ns") - begin - (log - log[0])
    assert late.min() >= 0 and late.max() < 10e6
