"""A chain through nodes of both kinds, compiled ones on rcl and Python's on rclpy, compared with the clocks inside
them."""

import csv
import json

import pyarrow.parquet as parquet
import pytest
from domains import free_domain
from places import PROGRAMS, ROOT
from recording import error_ns

OF = {"ros2": ROOT / "build/tacho-node", "rclpy": ROOT / "build/nodes/rclpy/node"}
QOS = {"reliable": True, "transient_local": False, "keep_all": False, "depth": 100}


def plan(middleware, clock, domain, number, name, hears=None, says=None, rate_hz=None):
    size = 64
    publishes = (
        [{"topic": says, "message_type": "Bytes", "size_bytes": size, "rate_hz": rate_hz, "qos": QOS}] if says else []
    )
    subscribes = [{"topic": hears, "qos": QOS, "latest": False}] if hears else []
    node = {
        "name": name,
        "process": name,
        "executor": "arrival",
        "subscribes": subscribes,
        "publishes": publishes,
        "work": "none",
    }
    inputs = [{"publishers": 1, "size_bytes": size, "message_type": "Bytes"} for _ in subscribes]
    outputs = [{"publisher_id": number, "subscribers": 1} for _ in publishes]
    of_node = {"node": node, "phase": 0.5, "seed": number, "cpus": [], "inputs": inputs, "outputs": outputs}
    whole = {
        "libraries": str(ROOT / "build/lib"),
        "middleware": middleware,
        "transport": "",
        "address": "",
        "domain": domain,
        "clock": str(clock),
        "nodes": [of_node],
    }
    return {"program": str(OF[middleware]), "plan": whole}


@pytest.mark.parametrize("source,relay,sink", [("ros2", "rclpy", "ros2"), ("rclpy", "ros2", "rclpy")])
def test_every_message_of_the_chain_agrees_with_the_clocks_inside_its_nodes(tacho, ros_python, source, relay, sink):
    clock, domain = tacho.directory / "clock", free_domain()
    clock.mkdir()
    (tacho.directory / "plans.json").write_text(
        json.dumps(
            [
                plan(source, clock, domain, 1, "source", says="/first", rate_hz=20.0),
                plan(relay, clock, domain, 2, "relay", hears="/first", says="/second"),
                plan(sink, clock, domain, 3, "sink", hears="/second"),
            ]
        )
    )
    done = tacho("record", "-o", "run", "--", ros_python, PROGRAMS / "node_processes.py", "plans.json")
    assert done.stdout.startswith("ok"), done.stderr
    (chain,) = tacho.json("explain", "run")["chains"]
    assert chain["path"] == ["/source", "/first", "/relay", "/second", "/sink"] and chain["lost"] == 0

    def table(name):
        return parquet.read_table(tacho.directory / "run/tables" / f"{name}.parquet").to_pylist()

    topics = [endpoint["topic"] for endpoint in table("endpoints")]
    received, error = {}, error_ns(tacho.directory / "run")
    for topic, node in [("/first", "relay"), ("/second", "sink")]:
        ours = {m["sequence"]: m for m in table("messages") if topics[m["subscription"]] == topic}
        with open(clock / f"{node}.messages.csv") as file:
            theirs = {int(row["sequence"]): row for row in csv.DictReader(file)}
        assert ours.keys() == theirs.keys() and len(theirs) >= 5
        for sequence, row in theirs.items():
            # The stamp is read just before the publish call, and the other just before the callback's event.
            assert int(row["stamp_ns"]) - error <= ours[sequence]["publish_ns"] <= ours[sequence]["take_ns"]
            assert ours[sequence]["publish_ns"] < int(row["received_ns"]) <= ours[sequence]["callback_ns"] + error
        # Between these two, the thread may lose its CPU.
        apart = [ours[sequence]["callback_ns"] - int(row["received_ns"]) for sequence, row in theirs.items()]
        assert sum(ns > error for ns in apart) * 5 <= len(apart), apart
        received[topic] = theirs
    # An instance begins in the source's callback, and ends in the sink's, after the first reading of its clock.
    instances = sorted(table("instances"), key=lambda instance: instance["start_ns"])
    pairs = [(received["/first"][sequence], received["/second"][sequence]) for sequence in sorted(received["/second"])]
    for instance, (first, second) in zip(instances, pairs, strict=True):
        assert (
            instance["start_ns"] <= int(first["stamp_ns"]) + error
            and instance["end_ns"] >= int(second["received_ns"]) - error
        )
        assert instance["end_to_end_ns"] == instance["end_ns"] - instance["start_ns"]
