"""`tacho export`: what other tools read of it, held against the tables."""

import csv
import json
import math
import shutil
import signal
from collections import Counter

import pyarrow.parquet as parquet
import pytest
from mcap.reader import make_reader
from perfetto.protos.perfetto.trace import perfetto_trace_pb2
from waiting import finished

WORKLOAD = """
middleware: cyclonedds
nodes:
  lidar:  {publishes: {/points: {size: 4 KiB, rate: 50 Hz}}}
  filter: {subscribes: [/points], on: arrival, publishes: {/filtered: {size: 1 KiB}}}
  ndt:    {subscribes: [/filtered], on: arrival}
  log:    {subscribes: [/filtered], on: arrival}
chains: {localisation: [lidar, filter, ndt]}
run: {duration: 1 s}
"""


@pytest.fixture
def run(tacho):
    (tacho.directory / "w.yaml").write_text(WORKLOAD)
    tacho("bench", "w.yaml", "-o", "run")
    return tacho.directory / "run"


def table(run, name):
    return parquet.read_table(run / "tables" / f"{name}.parquet").to_pylist()


def test_the_trace_has_the_callbacks_flows_and_latencies_of_the_tables(tacho, run):
    """Perfetto's own description of the format decodes it."""
    tacho("export", "run", "--to", "perfetto", "-o", "t.pftrace")
    trace = perfetto_trace_pb2.Trace.FromString((tacho.directory / "t.pftrace").read_bytes())
    event = perfetto_trace_pb2.TrackEvent
    tracks = {p.track_descriptor.uuid: p.track_descriptor for p in trace.packet if p.HasField("track_descriptor")}
    events = [(p.timestamp, p.track_event) for p in trace.packet if p.HasField("track_event")]
    assert all(e.track_uuid in tracks for _, e in events)
    processes, executions, messages = table(run, "processes"), table(run, "executions"), table(run, "messages")
    named = {t.process.pid for t in tracks.values() if t.HasField("process")}
    assert named == {process["pid"] for process in processes}
    assert {t.thread.tid for t in tracks.values() if t.HasField("thread")} == {e["tid"] for e in executions}

    begun = [(at, e) for at, e in events if e.type == event.TYPE_SLICE_BEGIN]
    assert sorted(at for at, _ in begun) == sorted(e["start_ns"] for e in executions)
    ended = [at for at, e in events if e.type == event.TYPE_SLICE_END]
    assert sorted(ended) == sorted(e["end_ns"] for e in executions if e["end_ns"] is not None)

    flows = [m for m in messages if None not in (m["publisher"], m["publish_ns"], m["execution"])]
    assert len(flows) > 50
    sent = {flow: at for at, e in events if e.type == event.TYPE_INSTANT for flow in e.flow_ids}
    arrived = {flow: at for at, e in begun for flow in e.flow_ids}
    assert sent.keys() == arrived.keys() and len(sent) == len(flows)
    of_tables = Counter((m["publish_ns"], executions[m["execution"]]["start_ns"]) for m in flows)
    assert Counter((sent[flow], arrived[flow]) for flow in sent) == of_tables

    latencies = [e.double_counter_value for _, e in events if e.type == event.TYPE_COUNTER]
    known = [(m["callback_ns"] or m["take_ns"]) - m["publish_ns"] for m in messages if m["callback_ns"] or m["take_ns"]]
    assert sorted(latencies) == pytest.approx(sorted(ns / 1e3 for ns in known))
    units = {t.counter.unit_name for t in tracks.values() if t.HasField("counter")}
    assert units == {"us"}


def same(written, expected):
    """Times and values: a value is written as text."""
    expected.sort()
    assert [at for at, _ in written] == [at for at, _ in expected]
    assert [value for _, value in written] == pytest.approx([value for _, value in expected])


def test_mcap_has_the_figures_of_the_tables_in_wall_time(tacho, run):
    """The reference reader of the format reads it."""
    tacho("export", "run", "--to", "mcap", "-o", "f.mcap")
    found = {}
    with (tacho.directory / "f.mcap").open("rb") as file:
        for schema, channel, message in make_reader(file).iter_messages(log_time_order=False):
            assert schema.encoding == "jsonschema" and channel.message_encoding == "json"
            value = json.loads(message.data)
            assert value.keys() <= json.loads(schema.data)["properties"].keys()
            found.setdefault(channel.topic, []).append((message.log_time, message.publish_time, value))
    offset = json.loads((run / "run.json").read_text())["realtime_offset_ns"]
    executions, messages, endpoints = table(run, "executions"), table(run, "messages"), table(run, "endpoints")
    nodes, instances, chains = table(run, "nodes"), table(run, "instances"), table(run, "chains")

    for channel, topic, node in (("points/filter", "/points", "/filter"), ("filtered/log", "/filtered", "/log")):
        of = [m for m in messages if endpoints[m["subscription"]]["topic"] == topic]
        of = [m for m in of if nodes[endpoints[m["subscription"]]["node"]]["name"] == node and m["callback_ns"]]
        expected = [(m["callback_ns"] + offset, (m["callback_ns"] - m["publish_ns"]) / 1e3) for m in of]
        latencies = [(at, value["latency_us"]) for at, _, value in found[f"/tacho/latency/{channel}"]]
        assert len(of) > 20
        same(latencies, expected)
    ended = sorted((e["end_ns"] + offset, e["start_ns"] + offset) for e in executions if e["end_ns"] is not None)
    of_callbacks = [of for topic, of in found.items() if topic.startswith("/tacho/callbacks/")]
    assert sorted((at, begun) for of in of_callbacks for at, begun, _ in of) == ended
    names = [chain["name"] for chain in chains]
    of_chain = [i for i in instances if names[i["chain"]] == "localisation"]
    arrived = [(at, value["end_to_end_ms"]) for at, _, value in found["/tacho/chains/localisation"]]
    same(arrived, [(i["end_ns"] + offset, i["end_to_end_ns"] / 1e6) for i in of_chain])
    lost = Counter(m["subscription"] for m in messages if m["delivery"] == "lost")
    assert sum(of[-1][2]["lost"] for topic, of in found.items() if "/lost/" in topic) == sum(lost.values())


def test_csv_has_every_row_and_column_of_every_table(tacho, run):
    tacho("export", "run", "--to", "csv", "-o", "tables")
    for path in (run / "tables").glob("*.parquet"):
        rows = table(run, path.stem)
        written = list(csv.DictReader((tacho.directory / "tables" / f"{path.stem}.csv").open(newline="")))
        assert len(written) == len(rows), path.stem
        for ours, theirs in zip(written, rows, strict=True):
            assert list(ours) == list(theirs)
            integers = {name: value for name, value in theirs.items() if type(value) is int}
            assert {name: int(ours[name]) for name in integers} == integers
            assert all(ours[name] == "" for name, value in theirs.items() if value is None)
    assert "start_ns" in (tacho.directory / "tables" / "executions.csv").open().readline()


def test_what_cannot_be_exported_is_refused_and_nothing_is_left(tacho, run):
    (tacho.directory / "full").mkdir()
    (tacho.directory / "full" / "mine").write_text("")
    assert "full" in tacho("export", "run", "--to", "csv", "-o", "full", expect=2).stderr
    shutil.copytree(run, tacho.directory / "whole" / "repeats" / "0")
    shutil.copy(run / "run.json", tacho.directory / "whole" / "run.json")
    assert "whole/repeats/0" in tacho("export", "whole", "--to", "perfetto", "-o", "x", expect=2).stderr
    assert "nowhere" in tacho("export", "run", "--to", "perfetto", "-o", "nowhere/x", expect=3).stderr
    (run / "tables" / "executions.parquet").write_bytes(b"PAR1")
    assert "executions" in tacho("export", "run", "--to", "csv", "-o", "y", expect=3).stderr
    assert not [path for path in tacho.directory.iterdir() if path.name[0] in "xy"]


def test_an_interrupt_leaves_no_torn_file(tacho, run):
    export = tacho.start("export", "run", "--to", "csv", "-o", "y")
    export.send_signal(signal.SIGINT)
    finished(export)
    left = [path.name for path in tacho.directory.iterdir() if path.name.startswith("y")]
    assert left == (["y"] if export.returncode == 0 else []), export.returncode


def test_signals_of_a_drive_are_counters_and_json(tacho, workloads):
    options = ["--virtual", "--duration", "5s", "--set=world.work.obstacles=2", "--set=world.work.obstacle_at=20 m"]
    tacho("drive", workloads / "drive.yaml", *options, "-o", "run")
    run = tacho.directory / "run"
    nodes = [row["name"] for row in table(run, "nodes")]
    signals = table(run, "signals")
    told = Counter()
    expected = {}
    for row in table(run, "samples"):
        signal = signals[row["signal"]]
        told[nodes[signal["node"]], signal["name"]] += 1
        expected.setdefault((nodes[signal["node"]], row["at_ns"]), {}).setdefault(signal["name"], []).append(
            row["value"]
        )

    tacho("export", "run", "--to", "perfetto", "-o", "t.pftrace")
    trace = perfetto_trace_pb2.Trace.FromString((tacho.directory / "t.pftrace").read_bytes())
    tracks = {p.track_descriptor.uuid: p.track_descriptor for p in trace.packet if p.HasField("track_descriptor")}
    counters = Counter()
    for packet in trace.packet:
        track = tracks.get(packet.track_event.track_uuid)
        if packet.HasField("track_event") and track.HasField("counter") and not track.name.startswith("latency"):
            counters[tuple(track.name.split())] += 1
            node, name = track.name.split()
            assert packet.track_event.double_counter_value in expected[node, packet.timestamp][name]
    plain = {(nodes[s["node"]], s["name"]) for s in signals if not s["list"]}
    assert counters == {key: count for key, count in told.items() if key in plain} and counters["/car", "speed"] > 400

    tacho("export", "run", "--to", "mcap", "-o", "m.mcap")
    offset = json.loads((run / "run.json").read_text()).get("realtime_offset_ns") or 0
    found = {}
    with open(tacho.directory / "m.mcap", "rb") as file:
        for schema, channel, message in make_reader(file).iter_messages():
            if channel.topic.startswith("/tacho/signals/"):
                values = json.loads(message.data)
                assert values.keys() <= json.loads(schema.data)["properties"].keys()
                found[channel.topic.removeprefix("/tacho/signals"), message.log_time - offset] = values
    assert found.keys() == expected.keys()
    units = {(nodes[s["node"]], s["name"]): s["unit"] for s in signals}
    for key, values in expected.items():
        suffix = {"": "", "m": "_m", "m/s": "_m_per_s", "m/s^2": "_m_per_s2", "rad": "_rad", "ms": "_ms", "s": "_s"}
        for name, numbers in values.items():
            has_list = (key[0], name) not in plain
            assert found[key][name + suffix[units[key[0], name]]] == (numbers if has_list else numbers[0])
    at_start = next(
        values for (node, _), values in sorted(found.items(), key=lambda item: item[0][1]) if node == "/world"
    )
    assert at_start["obstacle_x_m"] == [20, pytest.approx(100 + 60 * math.sin(20 / 60))] and at_start["obstacles"] == 2
