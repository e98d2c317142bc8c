"""Late messages of rclpy programs that know the reason: `tacho explain` names it, with the time that the programs'
own clocks show. Every bound is between instants of one run, so it holds on any busy machine."""

import bisect
import os
import re
from collections import defaultdict

import pyarrow.parquet as parquet
import pytest
from places import PROGRAMS
from recording import error_ns

COUNT = 24


def record(tacho, python, *options, cpu=()):
    """The output of the programs under `tacho record`: the instants of each word and number, and when the sleeper
    awoke."""
    printed, awake = defaultdict(dict), []
    command = ["sh", PROGRAMS / "late_for_reasons.sh", python, COUNT, *cpu]
    for line in tacho("record", *options, "-o", "run", "--", *command).stdout.splitlines():
        word, *numbers = line.split() or [""]
        if word == "awake":
            awake.append(int(numbers[0]))
        elif word in ("sent", "logged", "planned", "seen") and all(number.isdigit() for number in numbers):
            printed[word][int(numbers[0])] = [int(number) for number in numbers[1:]]
    assert len(printed["sent"]) == COUNT
    return printed, awake


@pytest.fixture
def told(tacho, ros_python):
    return record(tacho, ros_python)


def without_function(by):
    """`/planner /points` of `/planner /points Planner.plan (late_for_reasons.py:12)`."""
    return re.sub(r" \S+ \(late_for_reasons\.py:\d+\)$", "", by)


def instances(tacho, path, sent):
    """Each instance of a path with causes: number of its message, when that was there, and its parts."""
    tables = {
        name: parquet.read_table(tacho.directory / f"run/tables/{name}.parquet").to_pylist()
        for name in ("chains", "instances", "causes")
    }
    (chain,) = (index for index, chain in enumerate(tables["chains"]) if chain["path"] == path)
    causes = defaultdict(list)
    for cause in tables["causes"]:
        if cause["chain"] == chain and cause["instance"] is not None:
            causes[cause["instance"]].append(cause)
    numbers = {instant: number for number, (instant,) in sent.items()}
    error = error_ns(tacho.directory / "run")
    for index, parts in causes.items():
        instance = tables["instances"][index]
        assert sum(part["duration_ns"] for part in parts) == instance["end_to_end_ns"]
        length = {(part["position"], part["kind"], without_function(part["by"])): part["duration_ns"] for part in parts}
        # It was sent in the callback with which the instance begins.
        instants = sorted(numbers)
        number = numbers[instants[bisect.bisect_left(instants, instance["start_ns"] - error)]]
        arrival = instance["start_ns"] + sum(
            ns for (position, kind, _), ns in length.items() if position == 0 or kind in ("transport", "no_cpu")
        )
        yield number, arrival, length


def test_computation_and_an_executor_that_is_busy_with_another_callback(tacho, told):
    printed, _ = told
    busy = computed = 0
    error = error_ns(tacho.directory / "run")
    for number, arrival, parts in instances(tacho, ["/driver", "/points", "/planner"], printed["sent"]):
        begun, ended, _ = printed["planned"][number]
        named = [(1, "off_cpu", "/planner /points"), (1, "preemption", "what is not known")]
        inside = parts[(1, "computation", "/planner /points")] + sum(parts.get(part, 0) for part in named)
        assert inside >= ended - begun - error
        computed += number % 4 == 0
        if number % 4 == 1 and printed["logged"][number][1] < begun:
            log_begun, log_ended = printed["logged"][number]
            waited = parts.get((1, "executor_busy", "/planner /log"), 0)
            assert log_ended - max(arrival, log_begun) - error <= waited <= begun - printed["sent"][number][0] + error
            busy += waited > 0
    # The worst ten have causes: of six that came after the other callback and six with computation, most are among
    # them.
    assert busy >= 2 and computed >= 2
    said = tacho("explain", "run", "--from", "/points", "--to", "/planner").stdout
    assert "executor busy with /planner /log" in said
    own = tacho.json("explain", "run", "--node", "Planner")
    assert {callback["node"] for callback in own["callbacks"]} == {"/planner"}
    assert {chain["path"][-1] for chain in own["chains"]} == {"/planner"} and {
        topic["topic"] for topic in own["topics"]
    } == {"/points", "/log"}
    assert "chain driver to planner" in tacho("explain", "run", "--node", "planner").stdout.lower()
    assert "there are: /driver, /planner, /sleeper" in tacho("explain", "run", "--node", "radar", expect=2).stderr


def test_waiting_for_a_wake_up_and_overwritten_while_asleep(tacho, told):
    printed, awake = told
    found, error = 0, error_ns(tacho.directory / "run")
    for number, arrival, parts in instances(tacho, ["/driver", "/points", "/sleeper"], printed["sent"]):
        (seen,) = printed["seen"][number]
        awoke = awake[bisect.bisect_right(awake, seen) - 1]
        waited = parts.get((1, "wake_up", "/sleeper"), 0)
        assert awoke - arrival - error <= waited <= seen - arrival + error
        found += waited > 0
    assert found >= 2
    (chain,) = (c for c in tacho.json("explain", "run")["chains"] if c["path"] == ["/driver", "/points", "/sleeper"])
    lost = defaultdict(int)
    for ended in chain["lost_inputs"]:
        lost[ended["kind"], ended["by"]] += ended["inputs"]
    # Messages sent before the first one that it saw do not count, because the two may not have found each other yet.
    unseen = [number for number in printed["sent"] if number > min(printed["seen"]) and number not in printed["seen"]]
    overwritten, pending = (
        lost.pop(("overwritten", "queue of depth 1 of /sleeper")),
        lost.pop(("pending", "/sleeper"), 0),
    )
    assert not lost and overwritten > 0 and overwritten + pending == len(unseen)
    # The last one lies in its queue if it did not see it; the earlier ones were overwritten.
    assert pending == (COUNT - 1 not in printed["seen"]) and chain["lost"] <= overwritten + pending


@pytest.mark.skipif(os.geteuid() != 0, reason="scheduler events need root")
def test_preempted_by_a_burner_for_as_long_as_the_callback_had_no_cpu(tacho, ros_python):
    printed, _ = record(tacho, ros_python, "--scheduler", "on", cpu=[min(os.sched_getaffinity(0))])
    known = []
    for number, _, parts in instances(tacho, ["/driver", "/points", "/planner"], printed["sent"]):
        begun, ended, without_cpu = printed["planned"][number]
        if number % 4 == 0:
            of = {by: ns for (position, kind, by), ns in parts.items() if (position, kind) == (1, "preemption")}
            preempted = sum(of.values())
            # The callback is longer than the time between its clocks, and may be preempted in that time, too.
            blocked = sum(parts.get((1, kind, "/planner /points"), 0) for kind in ("blocked", "off_cpu"))
            around = parts[(1, "computation", "/planner /points")] + blocked + preempted - (ended - begun)
            known.append((without_cpu, preempted, around, of.get("burner", 0)))
    # A kernel that omits switches may omit two in a row, and then nothing shows that the thread was back in between.
    notes = {note["name"] for note in tacho.json("explain", "run")["notes"]}
    whole = [row for row in known if row[1] <= 1.1 * row[0] + row[2]]
    assert len(known) - len(whole) <= (len(known) // 3 if "kernel-switches-missing" in notes else 0), known
    without_cpu, preempted, around, by_burner = map(sum, zip(*whole))
    assert without_cpu > 0 and 0.9 * without_cpu <= preempted <= 1.1 * without_cpu + around, known
    # Other programs of this machine come in between, too.
    assert by_burner > 0
