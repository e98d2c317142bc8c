"""Callbacks of unmodified rclpy nodes under `tacho record`, compared with the clock inside each callback, on every
executor."""

from collections import defaultdict

import pyarrow.parquet as parquet
import pytest
from places import PROGRAMS

COUNT = 30
EXECUTORS = ["single", "multi", "events"]


def record(tacho, python, executor, *nodes):
    """The nodes' own notes: (name, start_ns, end_ns) of each callback; and the summary."""
    done = tacho("record", "-o", "run", "--", python, PROGRAMS / "clocked_nodes.py", executor, COUNT, *nodes)
    rows = [line.rsplit(" ", 2) for line in done.stdout.splitlines() if line.startswith("on_")]
    return [(name, int(start), int(end)) for name, start, end in rows], tacho.json("explain", "run")


def table(tacho, name):
    return parquet.read_table(tacho.directory / "run/tables" / f"{name}.parquet").to_pylist()


def executions_of(tacho, function):
    """(start_ns, end_ns) of each execution of a Python function, in order; and its callback."""
    ((index, callback),) = (
        (i, c) for i, c in enumerate(table(tacho, "callbacks")) if (c["symbol"] or "").startswith(function + " (")
    )
    rows = [e for e in table(tacho, "executions") if e["callback"] == index]
    return sorted((e["start_ns"], e["end_ns"]) for e in rows), callback


@pytest.mark.parametrize("release", ["kilted", "jazzy"])
@pytest.mark.parametrize("executor", EXECUTORS)
def test_every_callback_is_there_around_the_clock_inside_it(tacho, request, executor, release):
    python = request.getfixturevalue("ros_python" if release == "kilted" else "ros_python_jazzy")
    inside, summary = record(tacho, python, executor, "source", "relay", "sink")
    for function, kind, node in [
        ("Source.on_timer", "timer", "/source"),
        ("Relay.on_first", "subscription", "/relay"),
        ("Sink.on_second", "subscription", "/sink"),
    ]:
        ours, callback = executions_of(tacho, function)
        theirs = sorted((start, end) for name, start, end in inside if name == function.split(".")[1])
        assert len(ours) == len(theirs) >= COUNT
        error_ns = 10_000  # of the relation between the ticks and the clock
        for (start, end), (first_line, last_line) in zip(ours, theirs):
            assert start - error_ns <= first_line <= last_line <= end + error_ns
        assert callback["kind"] == kind and "clocked_nodes.py:" in callback["symbol"]
        (figures,) = (c for c in summary["callbacks"] if c["symbol"] == callback["symbol"])
        assert (figures["node"], figures["kind"], figures["count"]) == (node, kind, len(theirs))
        mean_us = sum(end - start for start, end in theirs) / len(theirs) / 1e3
        assert figures["duration_us"]["mean"] >= mean_us - error_ns / 1e3
    assert not [n for n in summary["notes"] if n["name"] in ("no-callback-events", "python-callbacks-not-recorded")]


@pytest.mark.parametrize("executor", EXECUTORS)
def test_a_chain_runs_from_the_timer_through_every_callback(tacho, ros_python, executor):
    inside, summary = record(tacho, ros_python, executor, "source", "relay", "sink")
    (chain,) = summary["chains"]
    assert chain["path"] == ["/source", "/first", "/relay", "/second", "/sink"]
    assert (chain["instances"], chain["lost"]) == (COUNT, 0)
    # Messages come in order, so that the n-th callback of each node handles the n-th message.
    published = [start for name, start, _ in inside if name == "on_timer_publishing"]
    heard = [end for name, _, end in inside if name == "on_second"]
    whole_us = sorted((end - start) / 1e3 for start, end in zip(published, heard))
    ours = sorted((i["end_to_end_ns"] / 1e3) for i in table(tacho, "instances"))
    # Our time begins before the first line of the timer and ends after the last line of the sink, with some Python on
    # either side.
    assert all(mine >= theirs - 10 for mine, theirs in zip(ours, whole_us))
    for instance in table(tacho, "instances"):
        parts = ["alignment_ns", "queueing_ns", "kept_ns", "transport_ns"]
        assert sum(instance[part] for part in parts) + inside_ns(instance) == instance["end_to_end_ns"]
        # It slept in the source and in the relay.
        assert inside_ns(instance) >= 3_000_000 and instance["off_cpu_ns"] > 0


@pytest.mark.parametrize("there,here", [("single", "events"), ("events", "multi")])
def test_a_chain_runs_over_two_processes_and_agrees_with_the_clocks_in_both(tacho, ros_python, there, here):
    both = 'set -o pipefail; "$0" "$1" "$3" "$4" source sink | "$0" "$1" "$2" "$4" relay -'
    done = tacho(
        "record", "-o", "run", "--", "bash", "-c", both, ros_python, PROGRAMS / "clocked_nodes.py", there, here, COUNT
    )
    inside = {}
    for line in done.stdout.splitlines():
        if line.startswith("on_"):
            name, start, end = line.split()
            inside.setdefault(name, []).append((int(start), int(end)))
    (chain,) = tacho.json("explain", "run")["chains"]
    assert chain["path"] == ["/source", "/first", "/relay", "/second", "/sink"]
    assert (chain["instances"], chain["lost"]) == (COUNT, 0)
    assert (
        len({node["process"] for node in table(tacho, "nodes") if node["name"] in ("/source", "/relay", "/sink")}) == 2
    )
    assert_chain_agrees(tacho, inside["on_timer_publishing"], inside["on_first"], inside["on_second"])


def inside_ns(instance):
    """Inside the callbacks of an instance, on the CPU or off it."""
    return instance["computation_ns"] + (instance["off_cpu_ns"] or 0) + (instance["preemption_ns"] or 0)


def assert_chain_agrees(tacho, source, relay, sink):
    """Every instance and message of `source -> /first -> relay -> /second -> sink` lies where the clocks inside the
    callbacks show. The n-th callback of each node handles the n-th message."""
    error_ns = 20_000  # of the relation between the ticks of two processes and the clock
    instances = sorted(table(tacho, "instances"), key=lambda instance: instance["start_ns"])
    for instance, of_source, of_relay, of_sink in zip(instances, source, relay, sink, strict=True):
        assert instance["start_ns"] - error_ns <= of_source[0] and of_sink[1] <= instance["end_ns"] + error_ns
        # The program slept 1 ms before the one publish call and 2 ms before the other, which is no part of the
        # messages' waiting.
        assert inside_ns(instance) >= 3_000_000
        assert instance["end_to_end_ns"] - inside_ns(instance) <= of_sink[0] - of_source[0] - 3_000_000 + 3 * error_ns
    topics = [endpoint["topic"] for endpoint in table(tacho, "endpoints")]
    for topic, senders, receivers in [("/first", source, relay), ("/second", relay, sink)]:
        messages = sorted(
            (m for m in table(tacho, "messages") if topics[m["subscription"]] == topic), key=lambda m: m["publish_ns"]
        )
        for message, sender, receiver in zip(messages, senders, receivers, strict=True):
            assert sender[0] - error_ns <= message["publish_ns"] <= sender[1] + error_ns
            assert message["publish_ns"] < message["callback_ns"] <= receiver[0] + error_ns


@pytest.mark.parametrize("release", ["kilted", "jazzy"])
@pytest.mark.parametrize("executor", EXECUTORS)
def test_a_coroutine_is_one_call_in_parts_and_goes_on_with_the_response(tacho, request, executor, release):
    python = request.getfixturevalue("ros_python" if release == "kilted" else "ros_python_jazzy")
    inside, summary = record(tacho, python, executor, "caller", "server")
    callbacks = {i: c for i, c in enumerate(table(tacho, "callbacks"))}
    (timer,) = (i for i, c in callbacks.items() if (c["symbol"] or "").startswith("Caller.on_timer ("))
    executions = table(tacho, "executions")
    parts = [(i, e) for i, e in enumerate(executions) if e["callback"] == timer]
    resumed = [(executions[e["resumes"]], e) for _, e in parts if e["resumes"] is not None]
    # Its parts contain only what the callback did, not what it awaited; a callback that returned at once has a single
    # part.
    assert len(resumed) == COUNT
    for name, of_parts in [("on_timer part 0", [a for a, _ in resumed]), ("on_timer part 1", [b for _, b in resumed])]:
        theirs = sorted((start, end) for n, start, end in inside if n == name)
        assert len(theirs) == COUNT
        for part, (start, end) in zip(sorted(of_parts, key=lambda e: e["start_ns"]), theirs):
            assert part["start_ns"] - 10_000 <= start <= end <= part["end_ns"] + 10_000
    (figures,) = (c for c in summary["callbacks"] if (c.get("symbol") or "").startswith("Caller.on_timer ("))
    assert figures["count"] == len(parts) - COUNT
    worked = sum(end - start for name, start, end in inside if name.startswith("on_timer"))
    took = figures["duration_us"]["mean"] * figures["count"] * 1e3
    assert worked - 10_000 * COUNT <= took
    # The server works for 2 ms; the awaited time is not in it.
    assert took < sum(b["end_ns"] - a["start_ns"] for a, b in resumed) - 2_000_000 * COUNT
    (service,) = (s for s in summary["services"] if s["service"] == "/ask")
    assert (service["complete"], service["unanswered"]) == (COUNT, 0)
    (chain,) = (
        c for c in summary["chains"] if c["path"] == ["/caller", "/ask request", "/server", "/ask response", "/caller"]
    )
    assert chain["instances"] == COUNT


@pytest.mark.parametrize("release", ["kilted", "jazzy"])
@pytest.mark.parametrize("groups", ["shared", "apart"])
def test_a_callback_that_waits_for_its_group_on_several_threads_names_who_runs(tacho, request, groups, release):
    python = request.getfixturevalue("ros_python" if release == "kilted" else "ros_python_jazzy")
    done = tacho("record", "-o", "run", "--", python, PROGRAMS / "callback_groups.py", groups, COUNT // 3)
    reloads = [tuple(map(int, line.split()[1:])) for line in done.stdout.splitlines() if line.startswith("reload ")]
    path = ["/source", "/points", "/worker", "/plans", "/sink"]
    (chain,) = (i for i, c in enumerate(table(tacho, "chains")) if c["path"] == path)
    # Only instances that are explained have causes.
    waited_ns = defaultdict(int)
    for cause in table(tacho, "causes"):
        if cause["chain"] == chain and cause["instance"] is not None:
            is_group = cause["kind"] == "group_busy" and " Worker.reload " in cause["by"]
            waited_ns[cause["instance"]] += cause["duration_ns"] if is_group else 0
    if groups == "apart":
        assert waited_ns and not any(waited_ns.values())
        return
    error_ns = 1_000_000  # of the relation between the ticks and the clock
    known = 0
    executions, _ = executions_of(tacho, "Worker.reload")
    for hop in table(tacho, "hops"):
        if hop["instance"] not in waited_ns or hop["position"] != 1:
            continue
        arrival, start = hop["arrival_ns"], hop["start_ns"]
        together = sum(max(0, min(end, start) - max(begin, arrival)) for begin, end in executions)
        assert waited_ns[hop["instance"]] <= together + error_ns
        # What arrived while it ran waited for its end at least.
        for begin, end in reloads:
            if begin <= arrival < end:
                assert end - arrival - error_ns <= waited_ns[hop["instance"]], hop
                known += 1
    assert known, "no message arrived while it ran"


def without(tacho, module, method):
    """Takes a method out of rclpy before the program begins."""
    (tacho.directory / "sitecustomize.py").write_text(f"import {module}\ndel {module}.{method}\n")
    tacho.environment["PYTHONPATH"] = str(tacho.directory)


def test_rclpy_of_humble_and_iron_which_takes_no_done_callback_back_is_recorded(tacho, ros_python):
    without(tacho, "rclpy.task", "Future.remove_done_callback")
    inside, summary = record(tacho, ros_python, "single", "caller", "server")
    assert {c["symbol"].split(" ")[0] for c in summary["callbacks"] if c.get("symbol")} >= {
        "Caller.on_timer",
        "Server.on_request",
    }
    assert not [n for n in summary["notes"] if n["name"] == "python-callbacks-not-recorded"]


def test_rclpy_that_is_not_as_expected_is_left_as_it_was_and_said_so(tacho, ros_python):
    without(tacho, "rclpy.client", "Client.get_pending_request")
    inside, summary = record(tacho, ros_python, "single", "source", "relay", "sink")
    assert len(inside) >= 3 * COUNT
    (note,) = (n for n in summary["notes"] if n["name"] == "python-callbacks-not-recorded")
    assert "get_pending_request" in note["text"]
    assert summary["callbacks"] == []
