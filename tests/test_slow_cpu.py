"""The lint `slow-cpu` on a real trace: one of its two CPUs was slower for a while. Threads that the lint did not look at are the independent
answer, by the CPU that the trace has for each event and another program's reading of it.
"""

import json
import re
import statistics
import subprocess
import tarfile
from collections import defaultdict

import pyarrow.parquet as pq
from places import ROOT

TRACE = ROOT / "tests/fixtures/ctf/autoware_prio_discards_5s.tar.gz"
LONG_NS = 1_000_000
CALLBACK = re.compile(
    r"\[(\d+)\.(\d{9})\] \S+ \S+ ros2:callback_(start|end): \{ cpu_id = (\d+) \}, .*?vtid = (\d+) \}, \{ callback = (\w+)"
)


def executions(trace):
    """CPU, thread, callback, start and duration of each callback that begins and ends on one CPU and computes, as babeltrace2 reads it."""
    printed = subprocess.run(
        ["babeltrace2", "--clock-seconds", trace], capture_output=True, text=True, check=True
    ).stdout
    begun, found = {}, []
    for second, fraction, what, cpu, tid, callback in CALLBACK.findall(printed):
        ns = int(second) * 10**9 + int(fraction)
        if what == "start":
            begun[tid] = (cpu, callback, ns)
        elif begun.get(tid, ())[:2] == (cpu, callback) and ns - begun[tid][2] >= LONG_NS:
            found.append((cpu, int(tid), callback, begun[tid][2], ns - begun[tid][2]))
    return found


def test_the_other_threads_on_that_cpu_were_slower_too_and_those_on_the_other_cpu_were_not(tacho, tmp_path):
    with tarfile.open(TRACE) as archive:
        archive.extractall(tmp_path / "trace")
    tacho("import", "trace/ctf", "-o", "run", "--json")
    found = pq.read_table(tmp_path / "run/tables/slowdowns.parquet").to_pylist()
    (slow,) = {row["tid"] for row in found}
    offset_ns = json.loads((tmp_path / "run/run.json").read_text())["realtime_offset_ns"]
    stretches = [(row["from_ns"] + offset_ns, row["to_ns"] + offset_ns) for row in found]
    all_of_them = executions(tmp_path / "trace/ctf")
    times = defaultdict(lambda: ([], []))
    for cpu, tid, callback, start, took in all_of_them:
        within = any(start >= begin and start + took <= end for begin, end in stretches)
        times[cpu, tid, callback][within].append(took)
    # Of each thread the callbacks that computed in both.
    factors = {
        key[:2]: statistics.median(during) / statistics.median(otherwise)
        for key, (otherwise, during) in times.items()
        if otherwise and during
    }
    (of_it,) = {cpu for cpu, tid in factors if tid == slow}
    beside = [factor for (cpu, tid), factor in factors.items() if cpu == of_it and tid != slow]
    elsewhere = [factor for (cpu, _), factor in factors.items() if cpu != of_it]
    assert beside and min(beside) > 1.4
    assert len(elsewhere) >= 3 and max(elsewhere) < 1.1

    assert "The CPU of one thread was up to 1.4" in tacho("model", "run").stdout

    verdict = tacho.json("explain", "run")["verdict"]
    first = verdict["culprits"][0]
    assert (first["lint"], first["instances"]) == ("slow-cpu", verdict["late_cases"])
    assert "was 1.4 times slower" in first["text"] and "heat" in first["next"]
