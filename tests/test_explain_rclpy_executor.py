"""`tacho explain` of an executor in Python that computes more than the callbacks that it calls."""

import json
import re
import statistics

import pyarrow.parquet as parquet
from places import PROGRAMS


def test_an_executor_with_many_subscriptions_is_found_by_the_cpu_time_that_the_program_reads_itself(tacho, ros_python):
    program = f"{ros_python} {PROGRAMS / 'many_subscriptions.py'}"
    roles = f"{program} small 8 & {program} large 8 300 & {program} camera 8; wait"
    output = tacho("record", "-o", "recorded", "--", "sh", "-c", roles).stdout
    told = {name: int(ns) / int(count) for name, count, ns in (line.split() for line in output.splitlines())}
    executions, callbacks, nodes = (
        parquet.read_table(tacho.directory / f"recorded/tables/{name}.parquet").to_pylist()
        for name in ("executions", "callbacks", "nodes")
    )
    for name, own_ns in told.items():
        node = next(node["row_id"] for node in nodes if node["name"] == f"/{name}")
        rows = [row for row in executions if callbacks[row["callback"]]["node"] == node]
        outside_ns = [row["executor_cpu_ns"] for row in rows if row["executor_cpu_ns"] is not None]
        assert len(outside_ns) >= len(rows) - 1
        assert statistics.mean(outside_ns) > 0.9 * own_ns
        assert statistics.mean(outside_ns) < 1.1 * own_ns
    summary = json.loads((tacho.directory / "recorded/summary.json").read_text())
    [finding] = [finding for finding in summary["findings"] if finding["lint"] == "executor-overhead"]
    [case] = finding["cases"]
    assert case["subject"] == "executor of /large"
    assert "301 subscriptions, 0 timers" in case["evidence"]
    assert "EventsExecutor" in case["next"]


def test_a_loop_that_looks_for_messages_seldom_is_found_by_the_time_that_it_reads_itself(tacho, ros_python):
    program = f"{ros_python} {PROGRAMS / 'seldom_looking.py'}"
    roles = f"{program} sensor & {program} tracker; kill -TERM $!; wait"
    longest_s = int(tacho("record", "-o", "recorded", "--", "sh", "-c", roles).stdout.split()[0]) / 1000
    summary = json.loads((tacho.directory / "recorded/summary.json").read_text())
    [finding] = [finding for finding in summary["findings"] if finding["lint"] == "stalled-executor"]
    [case] = finding["cases"]
    assert case["subject"] == "/tracker /points" and case["next"].startswith("what else its process runs")
    found_s = float(re.search(r"the longest time ([\d.]+) s, in which \d+ more were sent", case["evidence"])[1])
    # A message comes every 20 ms, so the first one may come that much later.
    assert longest_s - 0.1 < found_s < longest_s + 0.1
    point = next(topic for topic in summary["topics"] if topic["topic"] == "/points")
    assert point["lost"] == 0
