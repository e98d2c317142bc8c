"""The diagnosis benchmark in a short form: twenty systems with planted faults whose signature does not depend on how busy the machine is. What
counts is how many culprits are named, not how late anything was; the whole benchmark has the other kinds and the healthy systems."""

import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from domains import free_domain, hold_domain
from places import ROOT

BENCHMARK = ROOT / "benchmarks" / "diagnosis"
sys.path.insert(0, str(BENCHMARK))

from measure import Results, bounded, crashes_since, measure  # noqa: E402
from score import figures, row  # noqa: E402

SEEDS = [11, 17]
"""Their sensors have 20 Hz, not 50: several systems run at once."""
RCLPY = [
    "rare-block",
    "mutual-exclusion",
    "qos-mismatch",
    "durability-mismatch",
    "queue-too-short",
    "slow-producer",
    "chatty-topic",
]
ROSCPP = ["rare-block", "slow-callback", "queue-too-short", "stale-input"]
OWN_NODES = ["slow-callback", "slow-producer"]
SYSTEMS = [
    *(("rclpy", kind, seed) for kind in RCLPY for seed in SEEDS),
    *(("roscpp", kind, 11) for kind in ROSCPP),
    *(("own-nodes", kind, 17) for kind in OWN_NODES),
]
AT_ONCE = 3
LIMIT_S = 600


def in_its_domain(nodes, kind, seed, folder):
    """Systems of one seed have the same topics, so each needs a domain that no other has meanwhile."""
    domain, held = hold_domain()
    try:
        return measure(nodes, kind, seed, folder, domain, LIMIT_S)
    finally:
        held.close()


@pytest.mark.timing
def test_most_culprits_of_twenty_systems_are_named_among_the_first_three(tmp_path):
    assert len(SYSTEMS) == 20
    with ThreadPoolExecutor(AT_ONCE) as pool:
        found = list(pool.map(lambda system: in_its_domain(*system, tmp_path / "runs"), SYSTEMS))
    table = "\n".join(map(row, found))
    assert not any(one["error"] for one in found), table
    percent = {figure["name"]: figure["ours"] for figure in figures(found)}
    # With 1.6 of 2 CPUs taken by others, 85 % and 75 %; of two systems in one domain, or without names, half and less.
    assert percent["diagnosis_first_three"] >= 70 and percent["diagnosis_first"] >= 50, f"{percent}\n{table}"


def test_a_system_that_hangs_is_ended_with_all_that_it_started_and_loses_nothing_that_was_measured(tmp_path):
    file = tmp_path / "results.jsonl"
    results = Results(file)
    before = {"nodes": "rclpy", "kind": "lock", "seed": 1, "culprit": "a b", "place": 1, "first": "b", "error": ""}
    results.add(before)
    # A limit that no system keeps: it is ended while it starts.
    hung = measure("rclpy", "lock", 2, tmp_path / "runs", free_domain(), 0)
    assert "record hung" in hung["error"] and hung["place"] is None
    results.add(hung)
    again = Results(file)
    assert again.known("rclpy", "lock", 1) == before and again.known("rclpy", "lock", 2) is None, (
        "what hung is tried again"
    )
    assert [json.loads(line) for line in file.read_text().splitlines()] == again.rows == [before, hung]
    (first, three) = figures(again.rows)
    assert (first["ours"], first["peer"]) == (50, 2) and three["ours"] == 50, "one that hung is not left out"


def test_a_crash_in_a_library_is_named_as_the_kernel_names_it(tmp_path):
    if subprocess.run(["dmesg"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode != 0:
        pytest.skip("the kernel's messages cannot be read here")
    if Path("/proc/sys/debug/exception-trace").read_text().strip() == "0":
        pytest.skip("the kernel prints no crashes of programs here (debug.exception-trace is 0)")
    crash = [sys.executable, "-c", "import ctypes; ctypes.memset(0, 1, 1)"]
    with pytest.raises(Exception, match=r"exits with -11: .*segfault at 0 .* in libc\.so\.6"):
        bounded(crash, tmp_path, dict(os.environ), time.monotonic() + LIMIT_S)
    assert crashes_since(
        7, "[    4.5] a[1]: segfault in libx.so[1]\n[    7.5] b[2]: segfault in liby.so[2]\n[ 8.5] no"
    ) == ("b[2]: segfault in liby.so[2]")


def test_what_ignores_an_interrupt_is_killed(tmp_path):
    told = tmp_path / "pid"
    deaf = f"trap '' INT; echo $$ > {told}; sleep 1000"
    with pytest.raises(Exception, match="hung"):
        bounded(["sh", "-c", deaf], tmp_path, dict(os.environ), 0)
    pid = int(told.read_text())
    assert subprocess.run(["ps", "-p", str(pid)], stdout=subprocess.DEVNULL).returncode != 0
    with pytest.raises(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)
