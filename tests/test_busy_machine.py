"""A run beside other work reports it, and judges no callback by time in which it had no CPU."""

import json
import os
import subprocess
import sys
import time

import pytest
from kernel import counts_run_delay
from waiting import wait_for

pytestmark = pytest.mark.timing

BURN = "while True: pass"
TICKS_S = os.sysconf("SC_CLK_TCK")
# It needs half a CPU. Beside four computing processes for each CPU, it gets about a quarter of one.
WORKING = """
middleware: ros2
nodes:
  lidar: {publishes: {/points: {size: 64 B, rate: 100 Hz}}}
  filter: {subscribes: [/points], work: 5 ms}
run: {duration: 1 s}
"""


def cpu_s(pid):
    with open(f"/proc/{pid}/stat") as stat:
        fields = stat.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS_S


def not_idle_s():
    """Time since boot in which CPUs were not idle: they worked, or the hypervisor gave them to others."""
    with open("/proc/stat") as stat:
        idle, iowait = (int(field) for field in stat.readline().split()[4:6])
    return os.cpu_count() * time.monotonic() - (idle + iowait) / TICKS_S


@pytest.fixture
def burning():
    """Four computing processes for each CPU, once they have begun."""
    processes = [subprocess.Popen([sys.executable, "-c", BURN]) for _ in range(4 * len(os.sched_getaffinity(0)))]
    try:
        wait_for(lambda: all(cpu_s(process.pid) > 0.1 for process in processes), "all compute", processes[0])
        yield processes
    finally:
        for process in processes:
            process.kill()
            process.wait()


@pytest.mark.parametrize(
    "options, evidence",
    [(["--cpu-time"], "was wall time without CPU time"), ([], "CPU time is not recorded, and other processes")],
)
def test_work_that_had_no_cpu_is_not_too_much_work(tacho, burning, options, evidence):
    (tacho.directory / "w.yaml").write_text(WORKING)
    summary = tacho.json("bench", "w.yaml", "-o", "run", *options)

    load = json.loads((tacho.directory / "run" / "run.json").read_text())["load"]
    assert load["others_cpu_s"] > 0.5 * load["over_s"]
    assert load["own_cpu_s"] + load["others_cpu_s"] == pytest.approx(load["machine_cpu_s"], abs=0.05)
    note = next(note for note in summary["notes"] if note["name"] == "busy-machine")
    assert "other processes used" in note["text"] and "CPUs on the average" in note["text"]

    finding = next(finding for finding in summary["findings"] if finding["lint"] == "callback-exceeds-period")
    case = next(case for case in finding["cases"] if case["subject"] == "/filter /points")
    assert evidence in case["evidence"] and "less work" not in case["next"]
    assert all("less work" not in case["next"] for finding in summary["findings"] for case in finding["cases"])
    callback = next(callback for callback in summary["callbacks"] if callback.get("topic") == "/points")
    if options:
        assert callback["off_cpu_us"]["mean"] == pytest.approx(
            callback["duration_us"]["mean"] - callback["cpu_us"]["mean"], abs=1
        )
        assert callback["off_cpu_us"]["mean"] > callback["cpu_us"]["mean"]
    else:
        assert "off_cpu_us" not in callback


@pytest.mark.skipif(not counts_run_delay(), reason="the kernel does not count it")
@pytest.mark.parametrize(
    "takes, blames, because",
    [
        ("work: 5 ms", "preemption", "could run and has no CPU"),
        # Others have nothing to do with these two.
        ("sleep: 12 ms", "executor_busy", "earlier calls of"),
        ("work: 15 ms", "executor_busy", "earlier calls of"),
    ],
)
def test_others_are_to_blame_for_a_full_queue_only_if_it_would_be_empty_without_them(
    tacho, burning, takes, blames, because
):
    (tacho.directory / "w.yaml").write_text(WORKING.replace("work: 5 ms", takes).replace("1 s", "3 s"))
    verdict = tacho.json("bench", "w.yaml", "-o", "run", "--cpu-time")["verdict"]
    first = verdict["culprits"][0]
    assert (first["kind"], first["node"]) == (blames, "/filter") and because in first["text"], verdict


@pytest.mark.parametrize("verb", ["bench", "record"])
def test_what_else_ran_agrees_with_proc(tacho, verb):
    (tacho.directory / "w.yaml").write_text(WORKING.replace("ros2", "inproc"))
    before_s = not_idle_s()
    if verb == "bench":
        done = tacho("bench", "w.yaml", "-o", "run")
        assert done.returncode == 0, done.stderr
    else:
        tacho("record", "-o", "run", "--", sys.executable, "-c", "sum(range(20_000_000))")
    used_s = not_idle_s() - before_s
    load = json.loads((tacho.directory / "run" / "run.json").read_text())["load"]
    assert 0 < load["own_cpu_s"] <= load["machine_cpu_s"] + 0.05
    assert load["machine_cpu_s"] <= used_s + 0.05
    assert load["cpus"] == os.cpu_count() and load["over_s"] > 0
    assert os.path.exists("/proc/pressure/cpu") == ("pressure_some_percent" in load)


def test_doctor_tells_what_others_use(tacho, burning):
    told = json.loads(tacho("doctor", "--json").stdout)
    finding = next(finding for finding in told["findings"] if finding["name"] == "load")
    assert finding["verdict"] == "costs" and "others used" in finding["found"]
