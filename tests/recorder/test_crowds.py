"""Programs with very many threads, recorded at default settings: nothing is lost when they all start at once, and
threads that come and go take little room."""

import os
import signal
import struct

import pyarrow.parquet as parquet
from places import ROOT

VICTIM = (ROOT / "build" / "native" / "recorder" / "tests" / "recorder_victim").resolve()
WORDS = 4096
"""The words of the file in which the victim counts; the last one makes it continue."""


def recorded(tacho, *arguments):
    """The row of the only process of a run of the victim, and the storage that its events take, bytes."""
    counts = tacho.directory / "counts"
    counts.write_bytes(struct.pack(f"<{WORDS}Q", *[0] * (WORDS - 1), 1))
    tacho("record", "-o", "run", "--", VICTIM, arguments[0], counts, *arguments[1:])
    (process,) = parquet.read_table(tacho.directory / "run" / "tables" / "processes.parquet").to_pylist()
    files = (tacho.directory / "run" / "events").glob("*.events")
    return process, sum(file.stat().st_blocks * 512 for file in files)


def spin_until_killed():
    parent, child = os.getpid(), os.fork()
    if child == 0:
        while os.getppid() == parent:  # nor longer than the tests, if those are killed
            pass
        os._exit(0)
    return child


def test_hundreds_of_threads_that_start_at_once_lose_nothing(tacho):
    spinning = [spin_until_killed() for _ in range(2 * os.cpu_count())]
    try:
        process, _ = recorded(tacho, "crowd", 100, 600)
    finally:
        for child in spinning:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
    assert process["dropped_events"] == 0
    assert process["events"] >= 1 + 600 * 100  # readings of the clock are events, too


def test_threads_that_come_and_go_take_a_page_and_not_a_chunk(tacho):
    process, storage = recorded(tacho, "pool", 10_000)
    assert process["dropped_events"] == 0
    assert process["events"] >= 10_000
    assert storage < 10_000 * 32_768 / 2
