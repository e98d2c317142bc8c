"""What the kernel's run delay costs a program: descriptors of threads that run callbacks, and none that stays."""

import json
import os
import sys
from pathlib import Path

import pyarrow.parquet as parquet
import pytest

PROGRAM = Path(__file__).with_name("callbacks_on_threads.py")
THREADS = 300
MOST = 256
"""Threads that may have a descriptor."""

pytestmark = pytest.mark.skipif(not os.path.exists("/proc/self/schedstat"), reason="the kernel does not count it")


def record(tacho, *options):
    done = tacho("record", *options, "-o", "run", "--", sys.executable, PROGRAM, THREADS)
    said = next(json.loads(line) for line in done.stdout.splitlines() if line.startswith("{"))
    return said, parquet.read_table(tacho.directory / "run/tables/executions.parquet").to_pylist()


def test_a_thread_has_a_descriptor_while_it_lives_and_a_forked_child_has_none_of_them(tacho):
    said, executions = record(tacho)
    assert (said["one"], said["in_turn"], said["afterwards"]) == (1, 1, 1)
    assert said["together"] == MOST and said["child"] == [0, 1]
    known = [execution for execution in executions if execution["runnable_ns"] is not None]
    assert len(executions) == 2 * THREADS + 4 and all(execution["cpu_ns"] is not None for execution in executions)
    # The first of a process makes its file, and 256 threads at once have one each.
    assert len(known) == len(executions) - 2 - (THREADS + 1 - MOST)


def test_without_cpu_time_there_is_none(tacho):
    said, executions = record(tacho, "--cpu-time=off")
    assert said == {"one": 0, "in_turn": 0, "together": 0, "child": [0, 0], "afterwards": 0}
    assert all(execution["runnable_ns"] is None for execution in executions)
