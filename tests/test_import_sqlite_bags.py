"""`tacho import` of rosbag2's SQLite bags: real messages, written by the rosbags project's own writer and by hand in the schema before Iron."""

import json
import sqlite3

import numpy
import pytest
from rosbags.rosbag2 import CompressionFormat, CompressionMode, StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore
from test_import_bags import Bag, agrees

# rosbag2_storage_sqlite3 of Humble: no definitions of types.
SCHEMA_3 = """
CREATE TABLE schema(schema_version INTEGER PRIMARY KEY, ros_distro TEXT NOT NULL);
INSERT INTO schema VALUES(3, 'humble');
CREATE TABLE metadata(id INTEGER PRIMARY KEY, metadata_version INTEGER NOT NULL, metadata TEXT NOT NULL);
CREATE TABLE topics(id INTEGER PRIMARY KEY, name TEXT NOT NULL, type TEXT NOT NULL, serialization_format TEXT NOT NULL,
                    offered_qos_profiles TEXT NOT NULL);
CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id INTEGER NOT NULL, timestamp INTEGER NOT NULL, data BLOB NOT NULL);
CREATE INDEX timestamp_idx ON messages (timestamp ASC);
INSERT INTO topics VALUES(1, '/battery', 'sensor_msgs/msg/BatteryState', 'cdr', ''), (2, '/text', 'std_msgs/msg/String', 'cdr', ''),
                         (3, '/own', 'my_msgs/msg/Own', 'cdr', '');
"""


@pytest.fixture(scope="module")
def bag(ros_python) -> Bag:
    return Bag(ros_python)


@pytest.fixture
def imported(tacho, tmp_path):
    """Imports a path; returns the figures by topic, and run.json."""

    def run(name: str):
        tacho("import", name, "-o", "run", "--json")
        summary = json.loads((tmp_path / "run/summary.json").read_text())
        return {of["topic"]: of for of in summary["bag_topics"]}, json.loads((tmp_path / "run/run.json").read_text())

    return run


def by_hand(bag: Bag, path, part: slice = slice(None)) -> sqlite3.Connection:
    database = sqlite3.connect(path)
    database.executescript(SCHEMA_3)
    rows = [
        (topic, log, data)
        for log, own in list(zip(bag.log.tolist(), bag.batteries))[part]
        for topic, data in ((1, own), (2, bag.text), (3, own))
    ]
    database.executemany("INSERT INTO messages(topic_id, timestamp, data) VALUES(?, ?, ?)", rows)
    database.commit()
    return database


@pytest.mark.parametrize("compression", [CompressionMode.NONE, CompressionMode.MESSAGE])
def test_gaps_and_ages_of_a_bag_that_another_writer_wrote(bag, imported, tmp_path, compression):
    types = get_typestore(Stores.ROS2_JAZZY)
    writer = Writer(tmp_path / "drive", version=9, storage_plugin=StoragePlugin.SQLITE3)
    if compression != CompressionMode.NONE:
        writer.set_compression(compression, CompressionFormat.ZSTD)
    with writer:
        battery = writer.add_connection("/battery", "sensor_msgs/msg/BatteryState", typestore=types)
        text = writer.add_connection("/text", "std_msgs/msg/String", typestore=types)
        for log, data in zip(bag.log.tolist(), bag.batteries):
            writer.write(battery, log, data)
            writer.write(text, log, bag.text)
    topics, info = imported("drive")
    battery, text = topics["/battery"], topics["/text"]
    agrees(battery["gap_ms"], numpy.diff(bag.log))
    agrees(battery["age_ms"], bag.log - bag.stamp)
    assert (battery["messages"], battery["stamped"], battery["bytes"]) == (120, 120, sum(map(len, bag.batteries)))
    assert (battery["datatype"], info["missing"]) == ("sensor_msgs/msg/BatteryState", [])
    assert text["messages"] == 120 and not {"stamped", "age_ms", "publish_to_log_ms"} & text.keys()


def test_files_of_humble_are_one_bag_and_of_types_that_it_does_not_define_no_stamp_is_told(bag, imported, tmp_path):
    (tmp_path / "drive").mkdir()
    for number, part in [(0, slice(0, 50)), (2, slice(50, 100)), (10, slice(100, 120))]:
        by_hand(bag, tmp_path / f"drive/drive_{number}.db3", part).close()
    before = sorted(path.name for path in (tmp_path / "drive").iterdir())
    topics, info = imported("drive")
    agrees(topics["/battery"]["gap_ms"], numpy.diff(bag.log))
    agrees(topics["/battery"]["age_ms"], bag.log - bag.stamp)
    assert topics["/own"]["messages"] == 120 and not {"stamped", "age_ms"} & topics["/own"].keys()
    assert info["missing"] == [] and sorted(path.name for path in (tmp_path / "drive").iterdir()) == before


def test_what_a_recorder_that_still_writes_has_in_its_log_is_read(bag, imported, tmp_path):
    database = by_hand(bag, tmp_path / "live.db3", slice(0, 100))
    database.execute("PRAGMA journal_mode=WAL")
    more = [(1, log, data) for log, data in list(zip(bag.log.tolist(), bag.batteries))[100:]]
    database.executemany("INSERT INTO messages(topic_id, timestamp, data) VALUES(?, ?, ?)", more)
    database.commit()
    topics, info = imported("live.db3")
    database.close()
    assert topics["/battery"]["messages"] == 120
    assert info["missing"][0].startswith("not-finished") and "live.db3-wal" in info["missing"][0]


def test_two_formats_are_no_bag(bag, tacho, tmp_path):
    by_hand(bag, tmp_path / "one.db3").close()
    (tmp_path / "two.mcap").write_bytes(bag.write())
    assert "all MCAP or all SQLite" in tacho("import", "one.db3", "two.mcap", "-o", "run", expect=2).stderr


def test_a_program_in_the_place_of_messages_is_refused(tacho, tmp_path):
    database = sqlite3.connect(tmp_path / "endless.db3")
    database.executescript(
        SCHEMA_3.replace("CREATE INDEX timestamp_idx ON messages (timestamp ASC);", "")
        + """
        DROP TABLE messages;
        CREATE VIEW messages AS WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n)
            SELECT i AS id, 1 AS topic_id, i AS timestamp, x'00' AS data FROM n;
    """
    )
    database.close()
    tacho("import", "endless.db3", "-o", "run")
    (missing,) = json.loads((tmp_path / "run/run.json").read_text())["missing"]
    assert "endless.db3" in missing and "messages is a view; expected a table" in missing
