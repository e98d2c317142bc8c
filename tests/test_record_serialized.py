"""Serialised messages (`raw=True`, publishers of bytes) of unmodified rclpy nodes under `tacho record`, compared
with the clocks inside them."""

import pyarrow.parquet as parquet
import pytest
from places import PROGRAMS
from recording import error_ns

COUNT = 30


@pytest.mark.parametrize("release", ["kilted", "jazzy"])
def test_bytes_are_followed_like_any_message(tacho, request, release):
    python = request.getfixturevalue("ros_python" if release == "kilted" else "ros_python_jazzy")
    done = tacho("record", "-o", "run", "--", python, PROGRAMS / "serialized_nodes.py", COUNT)
    told = {}
    for line in done.stdout.splitlines():
        if line.startswith("told "):
            _, name, number, at = line.split()
            told.setdefault(name, {})[int(number)] = int(at)
    assert {name: len(times) for name, times in told.items()} == {"sent": COUNT, "on_first": COUNT, "on_second": COUNT}
    summary = tacho.json("explain", "run")
    topics = {topic["topic"]: topic for topic in summary["topics"]}
    for name in ("/first", "/second"):
        assert (topics[name]["sent"], topics[name]["received"], topics[name]["lost"]) == (COUNT, COUNT, 0)
        assert topics[name]["latency_us"]["count"] == COUNT

    def table(name):
        return parquet.read_table(tacho.directory / "run/tables" / f"{name}.parquet").to_pylist()

    first = {i for i, e in enumerate(table("endpoints")) if e["topic"] == "/first"}
    messages = sorted((m for m in table("messages") if m["subscription"] in first), key=lambda m: m["publish_ns"])
    error = error_ns(tacho.directory / "run")
    for number, message in enumerate(messages):
        # Each lies between the clock before the publish call and that in the first line of the callback.
        assert told["sent"][number] - error <= message["publish_ns"] <= message["take_ns"]
        assert message["take_ns"] <= message["callback_ns"] <= told["on_first"][number] + error
    (chain,) = summary["chains"]
    assert chain["path"] == ["/source", "/first", "/relay", "/second", "/sink"]
    assert (chain["instances"], chain["lost"]) == (COUNT, 0)
    (relay,) = (c for c in summary["callbacks"] if (c.get("symbol") or "").startswith("Relay.on_first ("))
    assert (relay["kind"], relay["count"]) == ("subscription", COUNT)
    assert relay["duration_us"]["min"] >= 2_000
