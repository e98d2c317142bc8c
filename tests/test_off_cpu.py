"""Time off the CPU inside callbacks: a callback that sleeps for most of its time is told apart from one that computes, in every way out. The
program's own clocks are the independent answer: `on_scan` sleeps SLEEP_NS, then computes for WORK_NS, then publishes."""

import json
import os

import pyarrow.parquet as parquet
import pytest
from kernel import counts_run_delay
from places import PROGRAMS
from recording import error_ns

PROGRAM = PROGRAMS / "resting_nodes.py"
COUNT = 12
SLEEP_NS, WORK_NS = 50_000_000, 5_000_000
PATH = ["/sensor", "/scans", "/worker", "/plan", "/driver"]
PARTS = ("computation", "off_cpu", "preemption", "transport", "alignment", "queueing", "kept")


def record(tacho, python, *options):
    """Wall and CPU time of each `on_scan` by the program's own clocks."""
    printed = tacho("record", *options, "-o", "run", "--", python, PROGRAM, COUNT).stdout.splitlines()
    own = [tuple(map(int, line.split()[1:])) for line in printed if line.startswith("on_scan ")]
    assert len(own) >= COUNT
    return own


def tables(tacho, *names):
    return [parquet.read_table(tacho.directory / f"run/tables/{name}.parquet").to_pylist() for name in names]


def of_worker(tacho):
    """Of each instance: itself, its hop of `/worker`, the execution there, and its causes by kind that name `on_scan`."""
    chains, instances, hops, executions, causes = tables(tacho, "chains", "instances", "hops", "executions", "causes")
    (chain,) = (number for number, chain in enumerate(chains) if chain["path"] == PATH)
    for number, instance in enumerate(instances):
        if instance["chain"] != chain:
            continue
        own = [hop for hop in hops if hop["instance"] == number]
        # Its parts are its hops' and add up to it.
        for part in ("off_cpu_ns", "preemption_ns"):
            of_hops = [hop[part] for hop in own]
            assert instance[part] == (None if None in of_hops else sum(of_hops))
        assert sum(instance[f"{part}_ns"] or 0 for part in PARTS) == instance["end_to_end_ns"]
        of_instance = [cause for cause in causes if cause["instance"] == number]
        if of_instance:
            assert sum(cause["duration_ns"] for cause in of_instance) == instance["end_to_end_ns"]
        (hop,) = (hop for hop in own if hop["position"] == 1)
        named = {
            cause["kind"]: cause["duration_ns"]
            for cause in of_instance
            if cause["position"] == 1 and "Worker.on_scan (resting_nodes.py:" in cause["by"]
        }
        yield instance, hop, executions[hop["execution"]], named


def test_a_callback_that_sleeps_says_so_in_text_json_parquet_and_page_without_a_permission(tacho, ros_python):
    own = record(tacho, ros_python)
    found = list(of_worker(tacho))
    assert len(found) == COUNT
    named, error = 0, error_ns(tacho.directory / "run")
    for (_, hop, execution, causes), (wall_ns, cpu_ns) in zip(found, own, strict=False):
        off_ns, stretch_ns = hop["off_cpu_ns"], hop["output_ns"] - hop["start_ns"]
        # The clock around the callback saw what its own clocks saw, and what the recorder and rclpy did besides.
        assert execution["cpu_ns"] >= cpu_ns and execution["end_ns"] - execution["start_ns"] >= wall_ns - error
        # Never more than was so: it computed for WORK_NS before it published. Never less than what its CPU time leaves.
        assert (hop["preemption_ns"] is not None) == counts_run_delay()
        ready_ns = hop["preemption_ns"] or 0
        assert stretch_ns - off_ns - ready_ns >= WORK_NS
        assert off_ns + ready_ns >= SLEEP_NS - (execution["cpu_ns"] - WORK_NS)
        # The kernel counts a thread that sleeps as not ready to run.
        assert off_ns >= SLEEP_NS - (execution["cpu_ns"] - WORK_NS) - error
        assert 0 <= ready_ns <= (execution["runnable_ns"] or 0)
        if causes:
            assert (causes["off_cpu"], causes["computation"]) == (off_ns, stretch_ns - off_ns - ready_ns)
            named += 1
    assert named > 0

    (chain,) = (chain for chain in tacho.json("explain", "run")["chains"] if chain["path"] == PATH)
    mean = sum(instance["off_cpu_ns"] for instance, *_ in found) / COUNT / 1e6
    assert chain["off_cpu_ms"]["mean"] == pytest.approx(mean)
    parts = sum(chain[f"{part}_ms"]["mean"] for part in PARTS if f"{part}_ms" in chain)
    assert parts == pytest.approx(chain["end_to_end_ms"]["mean"])
    assert "off_cpu" in {part["kind"] for part in chain["worst"][0]["parts"]}

    text = tacho("explain", "run", "--chain", chain["name"]).stdout
    assert "\n  off CPU " in text and "▤ off CPU" in text
    assert " off the CPU inside /worker /scans Worker.on_scan" in text

    tacho("report", "run", "-o", "page.html")
    page = (tacho.directory / "page.html").read_text().split('id="tacho-data">')[1].split("</script>")[0]
    (run,) = json.loads(page)["runs"]
    (drawn,) = (drawn for drawn in run["chains"] if drawn["path"] == PATH)
    for instance in drawn["instances"]:
        assert sum(hop["parts"]["off_cpu_ms"] for hop in instance["hops"]) == pytest.approx(
            instance["parts"]["off_cpu_ms"]
        )
        assert instance["hops"][1]["parts"]["off_cpu_ms"] > 0


def test_without_cpu_time_it_is_part_of_computation_and_not_told(tacho, ros_python):
    record(tacho, ros_python, "--cpu-time=off")
    for _, hop, execution, causes in of_worker(tacho):
        assert hop["off_cpu_ns"] is None and hop["preemption_ns"] is None and "off_cpu" not in causes
        assert execution["cpu_ns"] is None and execution["runnable_ns"] is None
        assert hop["output_ns"] - hop["start_ns"] >= SLEEP_NS + WORK_NS
    (chain,) = (chain for chain in tacho.json("explain", "run")["chains"] if chain["path"] == PATH)
    assert "off_cpu_ms" not in chain
    assert "off CPU" not in tacho("explain", "run", "--chain", chain["name"]).stdout.split("Callbacks:")[0]


@pytest.mark.skipif(os.geteuid() != 0, reason="scheduler events need root")
def test_with_scheduler_events_what_was_blocked_is_told_from_what_had_no_cpu(tacho, ros_python):
    record(tacho, ros_python, "--scheduler", "on", "--cpu-time=off")
    told, error = 0, error_ns(tacho.directory / "run")
    for instance, hop, execution, causes in of_worker(tacho):
        if instance["preemption_ns"] is None:
            continue  # a switch that the kernel did not report
        inside_ns = hop["output_ns"] - hop["start_ns"]
        assert hop["off_cpu_ns"] >= SLEEP_NS - error
        # What is neither is computation, and there was no less of it than its own clock says.
        assert inside_ns - hop["off_cpu_ns"] - hop["preemption_ns"] >= WORK_NS - error
        if causes:
            assert causes["blocked"] == hop["off_cpu_ns"] and "off_cpu" not in causes
            told += 1
    notes = {note["name"] for note in tacho.json("explain", "run")["notes"]}
    assert told > 0 or "kernel-switches-missing" in notes, notes
    # Context switches, as in a container, have no call chain.
    if json.loads((tacho.directory / "run/run.json").read_text())["scheduler"]["source"] == "tracepoints":
        waits = [cause["by"] for cause in tables(tacho, "causes")[0] if cause["kind"] == "blocked"]
        assert told == 0 or any(by.endswith("), in clock_nanosleep") for by in waits), waits
