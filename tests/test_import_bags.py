"""`tacho import` of bags: real messages, serialised by rclpy and written by the MCAP project's own writer, compared
with numpy's results."""

import json
import re
import subprocess
from io import BytesIO
from pathlib import Path

import numpy
import pytest
from mcap.reader import make_reader
from mcap.writer import CompressionType, Writer

MS = 1_000_000
START = 1_780_000_000 * 1_000_000_000
SERIALISE = """
import json, sys
from rclpy.serialization import serialize_message
from sensor_msgs.msg import BatteryState
from std_msgs.msg import String
stamps = json.load(sys.stdin)
def battery(ns):
    message = BatteryState(voltage=12.5)
    message.header.frame_id = "base_link"
    message.header.stamp.sec, message.header.stamp.nanosec = divmod(ns, 10**9)
    return message
print(json.dumps([serialize_message(battery(ns)).hex() for ns in stamps] + [serialize_message(String(data="good morning")).hex()]))
"""


class Bag:
    """120 messages of a battery with a header, one about every 10 ms and about 5 ms old, and some texts, which have
    no header."""

    def __init__(self, ros_python: str):
        random = numpy.random.default_rng(7)
        self.log = START + numpy.cumsum(random.integers(9 * MS, 11 * MS, 120))
        self.publish = self.log - random.integers(1 * MS, 2 * MS, 120)
        self.stamp = self.log - random.integers(4 * MS, 6 * MS, 120)
        done = subprocess.run(
            [ros_python, "-c", SERIALISE],
            input=json.dumps(self.stamp.tolist()),
            capture_output=True,
            text=True,
            check=True,
        )
        *self.batteries, self.text = map(bytes.fromhex, json.loads(done.stdout))
        self.definitions = Path(ros_python).parent.parent / "share"

    def definition(self, package: str, name: str, language: str) -> bytes:
        """As rosbag2 writes it into a file: in msg files, the own definition comes first without a heading; in idl
        files, each has one."""
        text = (self.definitions / package / "msg" / f"{name}.{language}").read_text()
        return (text if language == "msg" else f"{'=' * 80}\nIDL: {package}/msg/{name}\n{text}").encode()

    def write(
        self,
        language: str = "msg",
        compression: CompressionType = CompressionType.NONE,
        part: slice = slice(None),
        numbers=lambda row: (0, 0),
    ) -> bytes:
        """`numbers`: those of the battery's and of the text's messages by row."""
        out = BytesIO()
        writer = Writer(out, chunk_size=2000, compression=compression)
        writer.start(profile="ros2")

        def channel(topic: str, package: str, name: str) -> int:
            schema = writer.register_schema(
                f"{package}/msg/{name}", f"ros2{language}", self.definition(package, name, language)
            )
            return writer.register_channel(topic, "cdr", schema)

        battery, text = channel("/battery", "sensor_msgs", "BatteryState"), channel("/text", "std_msgs", "String")
        channel("/silent", "std_msgs", "String")
        for row, (log, publish, data) in enumerate(
            list(zip(self.log.tolist(), self.publish.tolist(), self.batteries))[part]
        ):
            of_battery, of_text = numbers(row)
            writer.add_message(battery, log, data, publish, of_battery)
            writer.add_message(text, log, self.text, log, of_text)
        writer.finish()
        return out.getvalue()


@pytest.fixture(scope="module")
def bag(ros_python) -> Bag:
    return Bag(ros_python)


@pytest.fixture
def imported(tacho, tmp_path):
    """Imports bytes as one file; returns the figures by topic, and run.json."""

    def run(content: bytes):
        (tmp_path / "own.mcap").write_bytes(content)
        tacho("import", "own.mcap", "-o", "run", "--json")
        summary = json.loads((tmp_path / "run/summary.json").read_text())
        return {of["topic"]: of for of in summary["bag_topics"]}, json.loads((tmp_path / "run/run.json").read_text())

    return run


def agrees(found: dict, ns: numpy.ndarray):
    """A distribution in ms equals numpy's result for the values."""
    values = ns / MS
    assert found["count"] == len(values)
    expected = [
        values.min(),
        *numpy.percentile(values, [25, 50, 75, 99]),
        values.max(),
        values.mean(),
        values.std(ddof=1),
    ]
    names = ["min", "q1", "median", "q3", "p99", "max", "mean", "std"]
    assert [found[name] for name in names] == pytest.approx(expected)


@pytest.mark.parametrize("language", ["msg", "idl"])
@pytest.mark.parametrize("compression", [CompressionType.NONE, CompressionType.LZ4, CompressionType.ZSTD])
def test_gaps_and_ages_are_those_of_the_messages(bag, imported, language, compression):
    topics, info = imported(bag.write(language, compression))
    battery, text, silent = topics["/battery"], topics["/text"], topics["/silent"]
    gaps = numpy.diff(bag.log)
    agrees(battery["gap_ms"], gaps)
    agrees(battery["jitter_ms"], abs(gaps - numpy.median(gaps)))
    agrees(battery["stamp_gap_ms"], numpy.diff(bag.stamp))
    agrees(battery["age_ms"], bag.log - bag.stamp)
    agrees(battery["publish_to_log_ms"], bag.log - bag.publish)
    assert battery["rate_hz"] == pytest.approx(119e9 / (bag.log[-1] - bag.log[0]))
    assert (battery["messages"], battery["stamped"], battery["bytes"]) == (120, 120, sum(map(len, bag.batteries)))
    assert (battery["datatype"], info["missing"]) == ("sensor_msgs/msg/BatteryState", [])
    # A text has no header, and its writer had only one time.
    assert text["messages"] == 120 and not {"stamped", "age_ms", "stamp_gap_ms", "publish_to_log_ms"} & text.keys()
    assert silent["messages"] == 0 and not {"rate_hz", "gap_ms", "jitter_ms"} & silent.keys()


def test_numbers_of_a_publisher_that_are_missing_are_told(bag, imported):
    topics, _ = imported(bag.write(numbers=lambda row: (5 + row + 3 * (row > 40), 9 * row)))
    assert topics["/battery"]["numbers_missing"] == 3
    assert "numbers_missing" not in topics["/text"], "most would be missing: not those of one publisher"


def test_numbers_that_the_writer_gave_tell_nothing_where_a_part_is_damaged_either(bag, imported):
    content = bytearray(bag.write(numbers=lambda row: (2 * row, 2 * row + 1)))
    content[content.index(bag.batteries[60]) + 20] ^= 1
    topics, info = imported(bytes(content))
    assert 0 < topics["/battery"]["messages"] < 120 and info["missing"]
    assert not any("numbers_missing" in topic for topic in topics.values())


def test_a_file_that_was_not_finished_is_read_up_to_its_last_whole_message(bag, imported):
    whole = bag.write()
    cut = len(whole) // 3
    ends = [whole.index(data) + len(data) for data in bag.batteries]
    topics, info = imported(whole[:cut])
    expected = sum(end <= cut for end in ends)
    assert 0 < expected < 120 and topics["/battery"]["messages"] == expected
    agrees(topics["/battery"]["gap_ms"], numpy.diff(bag.log[:expected]))
    (missing,) = info["missing"]
    assert missing.startswith("not-finished") and "offset" in missing


def test_of_a_chunk_with_a_wrong_checksum_nothing_counts_and_no_gap_is_made_of_it(bag, imported):
    content = bytearray(bag.write())
    place = content.index(bag.batteries[60])
    content[place + 4] ^= 1
    chunks = make_reader(BytesIO(bag.write())).get_summary().chunk_indexes
    (broken,) = [
        chunk for chunk in chunks if chunk.chunk_start_offset <= place < chunk.chunk_start_offset + chunk.chunk_length
    ]
    left_out = (bag.log >= broken.message_start_time) & (bag.log <= broken.message_end_time)
    topics, info = imported(bytes(content))
    (missing,) = info["missing"]
    assert missing.startswith("bad-chunk") and "CRC-32" in missing
    assert int(re.search(r"offset (\d+)", missing)[1]) == broken.chunk_start_offset
    # A chunk may end between the two messages of one time.
    assert abs(120 - topics["/battery"]["messages"] - left_out.sum()) <= 1 and left_out.sum() > 1
    assert topics["/battery"]["gap_ms"]["max"] <= 11 and topics["/battery"]["rate_hz"] == pytest.approx(100, rel=0.02)


def test_the_files_of_a_recorded_folder_are_one_bag(bag, tacho, tmp_path):
    folder = tmp_path / "drive"
    folder.mkdir()
    (folder / "metadata.yaml").write_text("rosbag2_bagfile_information: {version: 9, storage_identifier: mcap}\n")
    for number, part in [(0, slice(0, 50)), (2, slice(50, 100)), (10, slice(100, 120))]:
        (folder / f"drive_{number}.mcap").write_bytes(bag.write(part=part))
    shown = tacho("import", "drive", "-o", "run").stdout
    assert "/battery" in shown and shown == tacho("explain", "run").stdout
    topics = {of["topic"]: of for of in json.loads((tmp_path / "run/summary.json").read_text())["bag_topics"]}
    agrees(topics["/battery"]["gap_ms"], numpy.diff(bag.log))
    tacho("report", "run")


def test_what_is_no_bag_is_refused_with_what_makes_it_one(bag, tacho, tmp_path):
    (tmp_path / "ros1").mkdir()
    (tmp_path / "ros1/drive.bag").write_bytes(b"#ROSBAG V2.0\n")
    refused = tacho("import", "ros1", "-o", "run", expect=2).stderr
    assert "drive.bag" in refused and "mcap convert" in refused
    (tmp_path / "none_0.db3").write_bytes(b"neither")
    assert "SQLite format 3" in tacho("import", "none_0.db3", "-o", "run", expect=2).stderr
    (tmp_path / "good.mcap").write_bytes(bag.write())
    (tmp_path / "other").mkdir()
    assert "other: no bag, beside one" in tacho("import", "good.mcap", "other", "-o", "run", expect=2).stderr
    assert "missing.mcap" in tacho("import", "missing.mcap", "-o", "run", expect=2).stderr
    (tmp_path / "empty.mcap").write_bytes(b"")
    assert "empty.mcap: does not begin as an MCAP file" in tacho("import", "empty.mcap", "-o", "run", expect=2).stderr
    assert not (tmp_path / "run").exists()
