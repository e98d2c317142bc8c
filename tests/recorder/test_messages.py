"""Compares recorded sizes, types and QoS of messages with those that the nodes themselves print or were written with."""

from collections import defaultdict

import pyarrow.parquet as parquet
import pytest
import yaml
from places import PROGRAMS

COUNT = 400
STRING, ARRAY = "std_msgs/msg/String", "std_msgs/msg/UInt8MultiArray"
# Type, depth, reliable, transient local, keep all. Keep all has no depth.
WRITTEN = {
    ("publisher", "/text"): (STRING, COUNT, True, True, False),
    ("publisher", "/bytes"): (ARRAY, None, True, False, True),
    ("publisher", "/serialized"): (STRING, COUNT, True, False, False),
    ("publisher", "/unheard"): (STRING, 5, False, False, False),
    ("subscription", "/text"): (STRING, COUNT, True, True, False),
    ("subscription", "/bytes"): (ARRAY, 5, False, False, False),
    ("subscription", "/serialized"): (STRING, COUNT, True, False, False),
    ("subscription", "/unheard"): (STRING, COUNT, True, False, False),
}


@pytest.mark.parametrize("python", ["ros_python", "ros_python_jazzy"])
def test_sizes_types_and_qos_are_recorded_and_in_the_twin(tacho, request, python):
    done = tacho("record", "-o", "run", "--", request.getfixturevalue(python), PROGRAMS / "sized_messages.py", COUNT)
    printed = defaultdict(list)
    for line in done.stdout.splitlines():
        if line.startswith("/"):
            topic, size = line.split()
            printed[topic].append(int(size))
    summary = tacho.json("explain", "run")

    def table(name):
        return parquet.read_table(tacho.directory / f"run/tables/{name}.parquet").to_pylist()

    endpoints = table("endpoints")
    qos = ("message_type", "depth", "reliable", "transient_local", "keep_all")
    recorded = {(e["kind"], e["topic"]): tuple(e[of] for of in qos) for e in endpoints}
    assert {of: recorded[of] for of in WRITTEN} == WRITTEN

    sizes = defaultdict(list)
    for publication in sorted(table("publications"), key=lambda row: row["publish_ns"]):
        sizes[endpoints[publication["publisher"]]["topic"]].append(publication["size_bytes"])
    for topic, of in printed.items():
        known = [(size, printed) for size, printed in zip(sizes[topic], of, strict=True) if size is not None]
        assert all(size == printed for size, printed in known)
        assert len(known) == pytest.approx(COUNT / 8, abs=2) and sizes[topic][0] is not None
        # Sizes that alternate, or grow, are seen in their true proportion.
        assert sum(size for size, _ in known) / len(known) == pytest.approx(sum(of) / COUNT, rel=0.06)

    [finding] = [finding for finding in summary["findings"] if finding["lint"] == "never-received"]
    [silent] = finding["cases"]
    assert silent["subject"] == "/talker to /listener /unheard"
    assert "the publisher offers best effort, and the subscription asks for reliable" in silent["evidence"]

    tacho("model", "run", "-o", "twin.yaml")
    text = (tacho.directory / "twin.yaml").read_text()
    assert f"Messages of /text: {STRING}, 105 B to 3005 B." in text
    nodes = yaml.safe_load(text)["nodes"]
    published, taken = nodes["talker"]["publishes"], nodes["listener"]["subscribes"]
    assert float(published["/text"]["size"].removesuffix(" B")) == pytest.approx(1555, rel=0.06)
    assert published["/text"]["durability"] == taken["/text"]["durability"] == "transient_local"
    assert (
        "/unheard" in published
        and "/unheard" not in taken
        and "/unheard is left out: its QoS match no publisher." in text
    )
    assert published["/bytes"]["history"] == "keep_all" and taken["/bytes"]["reliability"] == "best_effort"
