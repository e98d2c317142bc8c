"""Compares scheduler events with independent answers: the thread's own CPU-time clock, getrusage, schedstat, and a
thread that prints when it had the CPU."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as parquet
import pytest
from kernel import counts_run_delay
from places import ROOT
from recording import error_ns
from waiting import finished, succeeded, wait_for

PROGRAM = Path(__file__).with_name("beside_a_burner.py")
TRACETOOLS = ROOT / "build/native/recorder/tests/kilted/lib/libtracetools.so"

pytestmark = [
    pytest.mark.timing,
    pytest.mark.skipif(os.geteuid() != 0, reason="SCHED_FIFO and scheduler events of all CPUs need root"),
]

# PROC_PID_INIT_INO of the kernel. Elsewhere, as in a container, context switches are recorded instead of tracepoints.
in_the_first_pid_namespace = pytest.mark.skipif(
    os.stat("/proc/self/ns/pid").st_ino != 0xEFFFFFFC,
    reason="in a pid namespace tracepoints name threads by other ids than programs do",
)


def rows(run, table):
    return parquet.read_table(run / "tables" / f"{table}.parquet").to_pylist()


def record(tacho, *options, before=()):
    """The run, and the program's own output."""
    run, folder = tacho.directory / "run", tacho.directory / "program"
    folder.mkdir()
    done = tacho("record", *options, "-o", run, "--", sys.executable, PROGRAM, folder, before=before)
    said = next(json.loads(line) for line in done.stdout.splitlines() if line.startswith('{"tid"'))
    assert "--max-mib" not in done.stderr, "the kernel's file has no limit that it could reach"
    return run, said


SLEEP_NS = 1_000_000
"""The program's callbacks sleep for so long."""

BY_SWITCHES = ["--scheduler", "on", "--cpu-time=off"]
"""CPU time by switches alone, as the program's own clock is what it is compared with."""


def measured(run):
    """Executions of the callback in the program's output."""
    callbacks = rows(run, "callbacks")
    return {i: e for i, e in enumerate(rows(run, "executions")) if callbacks[e["callback"]]["address"] == 0x40}


def within(ours, theirs, part):
    assert abs(ours - theirs) <= part * theirs, f"{ours} and {theirs} differ by more than {part:.0%}"


def check_cpu_times(run, executions, said):
    assert len(executions) == len(said["callbacks"])
    known = [
        (ours, theirs) for ours, theirs in zip(executions.values(), said["callbacks"]) if ours["cpu_ns"] is not None
    ]
    # Some kernels do not report all switches; affected executions are left out, and the run reports it.
    notes = {note["name"]: note["text"] for note in rows(run, "notes")}
    assert len(known) == len(executions) or "kernel-switches-missing" in notes, notes
    if len(known) <= len(executions) / 2:
        pytest.skip(
            f"of {len(executions)} callbacks, the CPU time of {len(known)} is known: {notes['kernel-switches-missing']}"
        )
    error = error_ns(run)
    for ours, theirs in known:
        assert ours["start_ns"] - error <= theirs["from_ns"] and theirs["to_ns"] <= ours["end_ns"] + error
    lack = [(ours["cpu_ns"], theirs["cpu_ns"]) for ours, theirs in known if ours["cpu_ns"] < 0.95 * theirs["cpu_ns"]]
    # A kernel that omits switches may omit two in a row, and then nothing shows it.
    may_lack = 0.1 if "kernel-switches-missing" in notes else 0
    assert len(lack) <= may_lack * len(known), lack
    known = [pair for pair in known if (pair[0]["cpu_ns"], pair[1]["cpu_ns"]) not in lack]
    # Time that a hypervisor takes is CPU time by switches, but not by the thread's clock, so one execution may be far
    # longer.
    close = [(ours["cpu_ns"], theirs["cpu_ns"]) for ours, theirs in known if ours["cpu_ns"] <= 1.05 * theirs["cpu_ns"]]
    assert len(close) >= 0.8 * len(known), known
    within(sum(ours for ours, _ in close), sum(theirs for _, theirs in close), 0.02)


def check_burner(run, executions, said):
    """Each time that the burner ran inside a callback lies in an interval that names it, and in none that names
    another thread."""
    known = [e for e in executions.values() if e["cpu_ns"] is not None]
    off = [p for p in rows(run, "preemptions") if p["execution"] in executions]
    taken, asleep = ([p for p in off if p["state"] == state] for state in ("runnable", "blocked"))
    inside = [
        (start, end)
        for start, end in said["burned"]
        if any(e["start_ns"] < start and end < e["end_ns"] for e in known)
        and not any(p["from_ns"] < end and p["to_ns"] > start for p in asleep)
    ]
    assert len(inside) > 3, said
    alone = 0
    for start, end in inside:
        over = [p for p in taken if p["from_ns"] < end and p["to_ns"] > start]
        # If the kernel did not report a switch, no thread is named.
        if None in {p["by_comm"] for p in over}:
            continue
        assert "burner" in {p["by_comm"] for p in over}, (start, end, over)
        by_burner = sum(min(p["to_ns"], end) - max(p["from_ns"], start) for p in over if p["by_comm"] == "burner")
        # Another real-time thread of this machine may have come in between.
        alone += by_burner == end - start
        assert by_burner > 0.5 * (end - start), (start, end, over)
    assert alone >= 0.8 * len(inside), f"{alone} of {len(inside)}"


@in_the_first_pid_namespace
def test_preemption_names_who_preempted_and_agrees_with_the_kernels_counts(tacho):
    run, said = record(tacho, *BY_SWITCHES)
    info = json.loads((run / "run.json").read_text())
    assert info["scheduler"]["source"] == "tracepoints" and info["scheduler"]["lost"] == 0
    executions = measured(run)
    check_cpu_times(run, executions, said)
    check_burner(run, executions, said)

    # time.sleep in the callback: blocked, not preempted.
    blocked = [p for p in rows(run, "preemptions") if p["execution"] in executions and p["state"] == "blocked"]
    assert len(blocked) >= sum(e["cpu_ns"] is not None for e in executions.values())

    summary = json.loads((run / "summary.json").read_text())
    assert {"burner"} <= {p.get("by") for p in summary["preemptors"]}
    callback = next(c for c in summary["callbacks"] if c["callback"] == "0x40")
    assert callback["cpu_us"]["mean"] < callback["duration_us"]["mean"]

    [thread] = [e for e in rows(run, "executors") if e["tid"] == said["tid"]]
    notes = {n["name"] for n in rows(run, "notes")}
    if thread["running_ns"] is None:
        assert "kernel-switches-missing" in notes
        pytest.skip("the kernel did not report all switches of this thread")
    # Our span begins and ends with an event; the program's span lies beside it.
    assert abs(thread["voluntary_switches"] - said["voluntary"]) <= 2
    assert abs(thread["involuntary_switches"] - said["involuntary"]) <= 2 + 0.05 * said["involuntary"]
    assert thread["running_ns"] >= 0.97 * said["on_cpu_ns"]  # more if a hypervisor took some
    if said["waiting_ns"]:
        within(thread["runnable_ns"], said["waiting_ns"], 0.05)
    # The kernel may leave out a switch, and the run says so; the time around it is in no state. Beyond 1 % no state is told.
    missing_ns = (
        thread["to_ns"] - thread["from_ns"] - sum(thread[f"{s}_ns"] for s in ("running", "runnable", "blocked"))
    )
    assert 0 <= missing_ns <= 0.01 * (thread["to_ns"] - thread["from_ns"])
    assert missing_ns == 0 or "kernel-switches-missing" in notes


@in_the_first_pid_namespace
@pytest.mark.skipif(not os.path.exists("/sys/bus/event_source/devices/uprobe"), reason="attaching needs uprobes")
def test_programs_that_run_already_are_followed_with_the_threads_that_they_make_later(tacho):
    folder = tacho.directory / "program"
    folder.mkdir()
    command = [sys.executable, PROGRAM, folder, TRACETOOLS]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=tacho.environment
    ) as program:
        wait_for(lambda: TRACETOOLS.name in Path(f"/proc/{program.pid}/maps").read_text(), "its tracetools", program)
        recording = tacho.start("record", "--attach", program.pid, "--scheduler", "on", "-o", "run")
        first = recording.stderr.readline()
        assert "attached to" in first, first + recording.stderr.read()
        said = json.loads(finished(program, "go\n")[0])
    succeeded(recording)
    run = tacho.directory / "run"
    assert json.loads((run / "run.json").read_text())["scheduler"]["source"] == "tracepoints"
    executions = measured(run)
    check_cpu_times(run, executions, said)
    check_burner(run, executions, said)


@pytest.mark.skipif(shutil.which("unshare") is None, reason="unshare makes the pid namespace")
def test_in_a_pid_namespace_context_switches_still_tell_who_preempted(tacho):
    run, said = record(tacho, *BY_SWITCHES, before=["unshare", "--pid", "--fork", "--mount-proc"])
    info = json.loads((run / "run.json").read_text())
    assert info["scheduler"]["source"] == "context_switch" and info["scheduler"]["wakeups"] == 0
    executions = measured(run)
    check_cpu_times(run, executions, said)
    check_burner(run, executions, said)


def test_the_cpu_time_clock_tells_cpu_time_without_the_kernels_help(tacho):
    run, said = record(tacho, "--scheduler", "off", "--cpu-time")
    assert "scheduler" not in json.loads((run / "run.json").read_text())
    check_cpu_times(run, measured(run), said)
    assert rows(run, "preemptions") == []


@pytest.mark.skipif(shutil.which("setpriv") is None, reason="setpriv gives privileges away")
def test_without_permission_the_run_says_what_to_do_and_on_is_an_error(tacho):
    away = ["setpriv", "--bounding-set", "-all", "--inh-caps", "-all", "--ambient-caps", "-all"]
    level = int(Path("/proc/sys/kernel/perf_event_paranoid").read_text())
    if level < 1:
        pytest.skip(f"perf_event_paranoid is {level}: anybody may")

    refused = tacho("record", "--scheduler", "on", "-o", "on", "--", "true", before=away, expect=3)
    assert "CAP_PERFMON" in refused.stderr, refused.stderr
    tacho("record", "--scheduler", "auto", "-o", "auto", "--", "true", before=away)
    info = json.loads((tacho.directory / "auto" / "run.json").read_text())
    assert "CAP_PERFMON" in info["scheduler"]["why_not"] and "source" not in info["scheduler"]


@pytest.mark.skipif(not counts_run_delay(), reason="the kernel does not count it")
def test_without_scheduler_events_the_time_without_a_cpu_is_what_the_kernel_counts(tacho):
    run, said = record(tacho, "--scheduler", "off")
    executions, error = list(measured(run).values()), error_ns(run)
    assert len(executions) == len(said["callbacks"]) and rows(run, "preemptions") == []

    def burned(start, end):
        return sum(max(0, min(end, to) - max(start, begin)) for begin, to in said["burned"])

    for ours, theirs in zip(executions, said["callbacks"], strict=True):
        off_ns = ours["end_ns"] - ours["start_ns"] - ours["cpu_ns"]
        # It sleeps for a millisecond, and then is not ready to run, whether the burner runs or not.
        assert off_ns - ours["runnable_ns"] >= SLEEP_NS - error
        assert ours["runnable_ns"] >= burned(theirs["from_ns"], theirs["to_ns"]) - 2 * SLEEP_NS
    between = said["waiting_ns"] - sum(execution["runnable_ns"] for execution in executions)
    inside = sum(burned(execution["start_ns"], execution["end_ns"]) for execution in executions)
    first, last = executions[0]["start_ns"], executions[-1]["end_ns"]
    # Between two callbacks it may have had no CPU, too: when the burner ran there.
    assert -error <= between <= burned(first, last) - inside + 0.05 * said["waiting_ns"]
    assert inside > 0, said
