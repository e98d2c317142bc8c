"""What blocked callbacks wait in: the program knows which system call it makes, and how long that took by its own clock."""

import os
from collections import defaultdict

import pyarrow.parquet as parquet
import pytest
from places import PROGRAMS
from recording import error_ns

PROGRAM = PROGRAMS / "waiting_callbacks.py"
COUNT = 20
WAIT_NS = 10_000_000
CALLS = {"sleeps": "clock_nanosleep", "locks": "futex", "reads": "read"}

pytestmark = [
    pytest.mark.skipif(os.geteuid() != 0, reason="scheduler events of all CPUs need root"),
    pytest.mark.skipif(
        os.stat("/proc/self/ns/pid").st_ino != 0xEFFFFFFC, reason="in a pid namespace there are no tracepoints"
    ),
]


def test_a_blocked_callback_names_the_system_call_that_it_waits_in(tacho, ros_python):
    own = defaultdict(list)
    for line in tacho("record", "--scheduler", "on", "-o", "run", "--", ros_python, PROGRAM, COUNT).stdout.splitlines():
        if line.split(" ")[0] in CALLS:
            own[line.split()[0]].append(int(line.split()[1]))

    preemptions, executions, callbacks = (
        parquet.read_table(tacho.directory / f"run/tables/{name}.parquet").to_pylist()
        for name in ("preemptions", "executions", "callbacks")
    )
    functions = [(callbacks[e["callback"]]["function"] or "").rpartition(".")[2] for e in executions]
    blocked_ns = defaultdict(lambda: defaultdict(int))
    off_ns = defaultdict(int)
    for row in preemptions:
        if row["execution"] is not None:
            off_ns[functions[row["execution"]]] += row["to_ns"] - row["from_ns"]
        if row["state"] == "blocked" and row["execution"] is not None:
            blocked_ns[functions[row["execution"]]][row["waits_in"]] += row["to_ns"] - row["from_ns"]
        else:
            assert row["waits_in"] is None
    # Twice: of our interval, and of the program's.
    error = 2 * error_ns(tacho.directory / "run")
    for function, call in CALLS.items():
        by_call, wall_ns = blocked_ns[function], own[function]
        assert len(wall_ns) >= COUNT and None not in by_call, (function, by_call)
        # Python's own lock, for which the other threads make it wait, is a futex, too.
        assert by_call[call] >= 0.8 * sum(by_call.values()), (function, dict(by_call))
        assert by_call[call] <= sum(wall_ns) + len(wall_ns) * error
    # Neither lasts less than it was asked to, unless the kernel left out a switch, and says so. Who loses the CPU before
    # it waits then waits for less.
    notes = {note["name"] for note in tacho.json("explain", "run")["notes"]}
    if "kernel-switches-missing" not in notes:
        for function in ("sleeps", "reads"):
            assert off_ns[function] >= len(own[function]) * (WAIT_NS - error), function
