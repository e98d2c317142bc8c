"""`tacho bench --unrecorded`: the nodes' own figures, and the cost of recording."""

import json

import pytest

pytestmark = pytest.mark.timing

WORKLOAD = """
middleware: inproc
nodes:
  talker: {publishes: {/chatter: {size: 64 B, rate: 100 Hz, depth: 100}}}
  listener: {subscribes: {/chatter: {depth: 100}}, work: 100 us}
run: {duration: 1 s, in_node_clock: %s}
"""


def row(text, *words):
    """The cells after the first line that begins with these words."""
    for line in text.splitlines():
        if line.split()[: len(words)] == list(words):
            return line.split()[len(words) :]
    raise AssertionError(f"{words} begins no line of\n{text}")


@pytest.mark.parametrize("clock", ["true", "false"])
def test_the_nodes_own_counts_and_the_cost_of_recording_are_printed(tacho, clock):
    (tacho.directory / "w.yaml").write_text(WORKLOAD % clock)
    said = tacho("bench", "w.yaml", "-o", "run", "--unrecorded").stdout
    run = tacho.directory / "run"
    nodes = {node["node"]: node for node in json.loads((run / "nodes.json").read_text())}
    # A busy machine may make it skip some.
    sent, skipped = (nodes["talker"]["outputs"][0][count] for count in ("sent", "skipped"))
    assert sent > 50 and nodes["listener"]["taken"] == [sent]
    assert row(said, "talker", "/chatter") == [str(sent), str(skipped), "0"]
    assert row(said, "listener", "/chatter") == [str(sent)]

    assert not list((run / "events").glob("*.events")) and list((run / "recorded" / "events").glob("*.events"))
    cpu = {}
    for name, folder in (("unrecorded", run), ("recorded", run / "recorded")):
        used = [process["resources"] for process in json.loads((folder / "run.json").read_text())["processes"]]
        cpu[name] = sum(1e2 * of["cpu_ns"] / of["over_ns"] for of in used)
    without, with_it, cost, _ = row(said, "CPU", "of", "all", "node", "processes,", "%", "of", "one")
    assert float(without) == pytest.approx(cpu["unrecorded"], abs=0.01) and float(with_it) == pytest.approx(
        cpu["recorded"], abs=0.01
    )
    assert float(cost) == pytest.approx(cpu["recorded"] - cpu["unrecorded"], abs=0.02)
    assert ("latency by the nodes' clocks, median" in said) == (clock == "true")
    # The recorded part is a run like any other.
    assert tacho.json("explain", run / "recorded")["points"][0]["sent"] > 0


def test_alone_it_runs_once(tacho):
    (tacho.directory / "w.yaml").write_text(WORKLOAD % "false")
    said = tacho("bench", "w.yaml", "-o", "run", "--unrecorded=alone").stdout
    assert "talker" in said and "What recording costs" not in said
    assert not (tacho.directory / "run" / "recorded").exists()
