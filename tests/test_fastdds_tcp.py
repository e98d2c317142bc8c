"""Fast DDS over TCP: connections that carry nothing are made again before a run begins, and what cannot work is
refused."""

import json
import subprocess

import pytest
from places import ROOT

WORKLOAD = """
middleware: {fastdds: tcp}
topology: {kind: [one-to-many, many-to-one], nodes: 3, size: 64 B, rate: 20 Hz, reliability: best_effort}
run: {duration: 500 ms}
"""


@pytest.fixture
def late_port(tacho):
    """Every connection of Fast DDS loses the race that it otherwise loses only sometimes; see plugins/late_port.cpp."""
    if not (ROOT / "build" / "lib" / "libtacho_fastdds.so").is_file():
        pytest.skip("the plugin fastdds was not built")
    library = tacho.directory / "late_port.so"
    source = ROOT / "tests" / "plugins" / "late_port.cpp"
    flags = ["-std=c++17", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC"]
    subprocess.run(["c++", *flags, "-o", library, source, "-ldl"], check=True)
    tacho.environment["LD_PRELOAD"] = str(library)
    return tacho


def test_every_subscriber_hears_every_publisher_though_no_connection_carries_anything_at_first(late_port):
    (late_port.directory / "w.yaml").write_text(WORKLOAD)
    points = late_port.json("bench", "w.yaml", "-o", "run")["points"]
    assert [(p["publishers"], p["subscribers"]) for p in points] == [(1, 3), (3, 3)]
    for point in points:
        assert point["sent"] > 0
        silent = [s["node"] + s["topic"] for s in point["subscribing"] if s["received"] == 0]
        assert not silent, json.dumps(point, indent=1)
    # The race was lost, so the new connection was necessary.
    logs = "".join(log.read_text() for log in (late_port.directory / "run").glob("**/logs/*.log"))
    assert "does not hear us over TCP" in logs


def test_both_ends_in_one_process_are_refused(tacho):
    (tacho.directory / "w.yaml").write_text("""
middleware: {fastdds: tcp}
nodes:
  talker: {process: one, publishes: {/x: {size: 64 B, rate: 20 Hz}}}
  listener: {process: one, subscribes: [/x]}
run: {duration: 500 ms}
""")
    said = tacho("bench", "w.yaml", "-o", "run", expect=3).stderr
    assert "/x: published and subscribed to in one process over tcp" in said
