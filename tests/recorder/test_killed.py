"""Kills a recorded process at random moments, a hundred times. Every run stays readable, and `tacho` reads from it
what the program had committed, or counted as dropped."""

import os
import random
import signal
import struct
import time
from pathlib import Path

import pyarrow.parquet as parquet
from places import ROOT
from waiting import finished, wait_for

VICTIM = (ROOT / "build" / "native" / "recorder" / "tests" / "recorder_victim").resolve()
WRITERS = 3
KILLS = 100


def committed(path):
    """How many calls had returned, by the program's own count in a mapping that outlives it."""
    try:
        return sum(struct.unpack(f"<{WRITERS}Q", path.read_bytes()[: 8 * WRITERS]))
    except (FileNotFoundError, struct.error):
        return 0


def child_of(pid, program):
    """The process of `tacho record` that executes a program; it may have had others before."""
    children = Path(f"/proc/{pid}/task/{pid}/children")
    return wait_for(
        lambda: next((child for child in map(int, children.read_text().split()) if executes(child, program)), None),
        f"a child of {pid} that executes {program}",
    )


def executes(pid, program):
    try:
        return os.readlink(f"/proc/{pid}/exe") == str(program)
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_a_killed_process_leaves_a_readable_run_and_loses_nothing(tacho):
    seed = random.randrange(1 << 32)
    print("seed", seed)
    moments = random.Random(seed)
    recorded = 0
    for kill in range(KILLS):
        run, counts = tacho.directory / f"run-{kill}", tacho.directory / f"counts-{kill}"
        # A quarter have so little room that they drop.
        process = tacho.start(
            "record", "--max-mib", 2 if kill % 4 == 0 else 64, "-o", run, "--", VICTIM, "on", counts, 0
        )
        pid = child_of(process.pid, VICTIM)
        if kill % 2:
            time.sleep(moments.random() * 0.01)
        else:
            enough = moments.randrange(1, 200_000)
            while committed(counts) < enough:
                time.sleep(0.0005)
        os.kill(pid, signal.SIGKILL)
        _, err = finished(process)
        assert process.returncode == 128 + signal.SIGKILL, err

        summary = tacho.json("explain", run)
        processes = (
            parquet.read_table(run / "tables" / "processes.parquet").to_pylist() if (run / "tables").is_dir() else []
        )
        if not processes:
            assert committed(counts) == 0 and summary["topics"] == []
            continue
        recorded += 1
        (found,) = processes
        assert not found["ended"]
        seen = found["events"] + found["dropped_events"]
        # Clock readings are events, too; each writer may have been inside one more call.
        assert committed(counts) <= seen <= committed(counts) + WRITERS + 10
        if found["dropped_events"]:
            assert any(
                note["name"] == "dropped-events" and note["count"] == found["dropped_events"]
                for note in summary["notes"]
            )
        for path in (counts, *(run / "events").iterdir()):
            path.unlink()
    # On a busy machine, all that the clock kills may end before their first event.
    assert recorded >= KILLS // 2
