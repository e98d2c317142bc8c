"""Running programs, recorded by uprobes: the recording is compared with their calls and with their own output."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as parquet
import pytest
from places import ROOT
from waiting import succeeded, wait_for

sys.path.append(str(ROOT / "native" / "recorder" / "tests"))
from event_file import read_directory  # noqa: E402

STAND_INS = ROOT / "build" / "native" / "recorder" / "tests"
PROGRAMS = ROOT / "tests" / "programs"

pytestmark = pytest.mark.skipif(
    os.geteuid() != 0 or not os.path.exists("/sys/bus/event_source/devices/uprobe"),
    reason="uprobes need root and a kernel that has them",
)


def loaded(pid):
    """Waits until a process that was just started has mapped what is probed."""
    wait_for(
        lambda: "libtracetools.so" in Path(f"/proc/{pid}/maps").read_text(), f"process {pid} to load libtracetools.so"
    )


def attach(tacho, *pids, run, options=()):
    """`tacho record --attach`, once it is attached."""
    for pid in pids:
        loaded(pid)
    process = tacho.start("record", "--attach", ",".join(map(str, pids)), "-o", run, *options)
    first = process.stderr.readline()
    assert "attached to" in first, first + process.stderr.read()
    return process


@pytest.fixture
def uprobes(tmp_path):
    """The kernel's list of uprobes, of all pid namespaces."""
    folder = tmp_path / "tracing"
    folder.mkdir()
    if subprocess.run(["mount", "-t", "tracefs", "tracefs", folder]).returncode != 0:
        pytest.skip("this machine does not let root mount tracefs")
    yield folder / "uprobe_events"
    subprocess.run(["umount", folder], check=True)


def command(file, line):
    """Appends a line in one write, as tracefs requires."""
    with os.fdopen(os.open(file, os.O_WRONLY | os.O_APPEND), "wb", buffering=0) as opened:
        opened.write(f"{line}\n".encode())


def test_probes_of_a_dead_tacho_go_and_those_of_another_pid_namespace_stay(tacho, uprobes):
    namespace = re.sub(r"\D", "", os.readlink("/proc/self/ns/pid"))
    dead = subprocess.Popen(["true"])
    dead.wait()
    ours, others = (f"tacho_{dead.pid}_{of}/left" for of in (namespace, 1))
    for name in (ours, others):
        command(uprobes, f"p:{name} /bin/true:0x1000")
    try:
        with subprocess.Popen(
            [STAND_INS / "rclcpp_order_kilted", "wait"], stdin=subprocess.PIPE, text=True
        ) as stand_in:
            recording = attach(tacho, stand_in.pid, run="run")
            defined = uprobes.read_text()
            stand_in.communicate("go\n")
            succeeded(recording)
    finally:
        command(uprobes, f"-:{others}")
    assert ours not in defined and others in defined and f"tacho_{recording.pid}_{namespace}/" in defined
    assert f"tacho_{recording.pid}_" not in uprobes.read_text()


@pytest.mark.parametrize("release", ["humble", "iron", "jazzy", "kilted"])
def test_every_call_is_recorded_with_its_arguments(tacho, release):
    environment = tacho.environment | {"ROS_DISTRO": release}
    program = [STAND_INS / f"rclcpp_order_{release}", "wait"]
    with subprocess.Popen(
        program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    ) as stand_in:
        recording = attach(tacho, stand_in.pid, run="run")
        called = stand_in.communicate("go\n")[0].splitlines()
        succeeded(recording)
    (file,) = read_directory(tacho.directory / "run" / "events")
    recorded = [
        " ".join([event.kind, *map(str, event.words)]) + (" | " + " ".join(event.texts) if event.texts else "")
        for event in file.events
    ]
    assert len(called) > 30
    assert recorded == called, "\n".join(f"{a}   {b}" for a, b in zip(called, recorded) if a != b)
    assert file.dropped == 0 and file.closed == 1


def test_a_ring_keeps_the_last_seconds_of_an_attached_program_whole_and_named_on_a_bounded_disk(tacho):
    # 4,000 events a second, for five times as long as the ring; node, topic and callback are made in the first moment.
    tracetools = STAND_INS / "kilted" / "lib" / "libtracetools.so"
    command = [sys.executable, Path(__file__).parent / "ring_program.py", tracetools, "500", "15", "wait"]
    run, used = tacho.directory / "run", []
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=tacho.environment
    ) as program:
        loaded(program.pid)
        recording = tacho.start("record", "--attach", program.pid, "--ring", "3s", "--json", "-o", run)
        for word in ("keeping the last", "attached to"):
            assert word in (line := recording.stderr.readline()), line + recording.stderr.read()
        program.stdin.write("go\n")
        program.stdin.flush()
        seconds = []
        while (line := program.stdout.readline()).startswith("second"):
            seconds.append(tuple(map(int, line.split()[1:])))
            files = [path.stat() for path in (run / "events").glob("*.events")]
            used.append((sum(512 * file.st_blocks for file in files), sum(file.st_size for file in files)))
    figures, _ = succeeded(recording)
    # While it ran, other load may have kept the thread that gives room back from its work at times.
    assert any(on_disk < 0.6 * written for on_disk, written in used[8:]), f"bytes on the disk, and written: {used}"
    info, figures = json.loads((run / "run.json").read_text()), json.loads(figures)
    begin = info["measured_from_ns"]
    assert seconds[5][3] < begin, "the first seconds are gone"
    assert [(t["topic"], t["publishers"], t["subscribers"]) for t in figures["topics"]] == [
        ("/points", ["/demo"], ["/demo"])
    ]
    assert [(c["node"], c["topic"]) for c in figures["callbacks"]] == [("/demo", "/points")]
    published = [row["publish_ns"] for row in parquet.read_table(run / "tables" / "publications.parquet").to_pylist()]
    # A machine that is busy with other things may lose some events; the run then reports when.
    gaps = [(gap["from_ns"], gap["to_ns"]) for gap in info.get("gaps", [])]
    whole = [s for s in seconds if s[2] >= begin and not any(to >= s[2] and from_ns <= s[3] for from_ns, to in gaps)]
    assert whole or gaps
    for _, count, first, last in whole:
        assert sum(first <= ns <= last for ns in published) == count


def test_what_does_not_fit_is_dropped_and_counted(tacho):
    tracetools = STAND_INS / "kilted" / "lib" / "libtracetools.so"
    command = [sys.executable, Path(__file__).parent / "ring_program.py", tracetools, "20000", "600", "wait"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=tacho.environment
    ) as program:
        recording = attach(tacho, program.pid, run="run", options=["--max-mib", 1])
        program.stdin.write("go\n")
        program.stdin.flush()
        # Each message is eight events of at least 16 bytes: these are twice what fits.
        published = 0
        while published < 2 * (1 << 20) / (8 * 16):
            published += int(program.stdout.readline().split()[2])
        program.send_signal(signal.SIGINT)
        program.communicate()
    _, err = succeeded(recording)
    assert "--max-mib" in err and "events dropped" in err, err
    (process,) = parquet.read_table(tacho.directory / "run" / "tables" / "processes.parquet").to_pylist()
    assert process["dropped_events"] > 0
    (file,) = (tacho.directory / "run" / "events").glob("*.events")
    assert file.stat().st_size <= 1 << 20


def told(printed, word):
    """Number to ns of the lines that a program has printed about its messages."""
    lines = [line.split() for line in printed.read_text().splitlines(keepends=True) if line.endswith("\n")]
    return {int(number): int(ns) for name, number, ns in lines if name == word}


def test_a_running_talker_and_listener_are_measured_as_they_measure_themselves(tacho, ros_python):
    hears, talks = tacho.directory / "heard", tacho.directory / "published"

    def start(printed, program, *arguments):
        with open(printed, "w") as file:  # not a pipe: nobody reads it meanwhile
            return subprocess.Popen(
                [ros_python, PROGRAMS / program, *map(str, arguments)], stdout=file, env=tacho.environment
            )

    listener, talker = start(hears, "listener.py", 1_000_000), start(talks, "talker.py", 1_000_000, 0.02)
    wait_for(lambda: told(hears, "heard"), "a message", listener)
    os.setpriority(os.PRIO_PROCESS, talker.pid, 13)
    succeeded(attach(tacho, talker.pid, listener.pid, run="run", options=["--duration", "3s"]))
    scheduling = json.loads((tacho.directory / "run/run.json").read_text())["scheduling"]
    assert {"pid": talker.pid, "tid": talker.pid, "policy": {"nice": 13}} in scheduling
    assert talker.poll() is None and listener.poll() is None, "the programs go on"
    for process in (talker, listener):
        process.kill()
        process.wait()
    published, heard = told(talks, "published"), told(hears, "heard")
    endpoints = parquet.read_table(tacho.directory / "run" / "tables" / "endpoints.parquet").to_pylist()
    assert sorted((e["kind"], e["topic"]) for e in endpoints) == [
        ("publisher", "/chatter"),
        ("subscription", "/chatter"),
    ]
    messages = parquet.read_table(tacho.directory / "run" / "tables" / "messages.parquet").to_pylist()
    assert len(messages) > 5
    # Each recorded publish call follows the program's own clock reading of one message, and comes before its next one.
    numbers = sorted(published)
    for message in messages:
        if message["publish_ns"] is None:
            continue  # on its way when we attached
        number = max(n for n in numbers if published[n] <= message["publish_ns"])
        assert number + 1 not in published or message["publish_ns"] < published[number + 1]
        if message["take_ns"] is not None and number in heard:
            assert message["publish_ns"] < message["take_ns"] < heard[number]


def test_what_cannot_be_attached_to_is_said(tacho):
    with subprocess.Popen(["sleep", "100"]) as sleeper:
        said = tacho("record", "--attach", sleeper.pid, "-o", "run", expect=2).stderr
        sleeper.kill()
    assert f"process {sleeper.pid}" in said and "no libtracetools.so" in said
    assert "no such process" in tacho("record", "--attach", 4_194_303, "-o", "gone", expect=2).stderr
    assert not (tacho.directory / "run").exists() and not (tacho.directory / "gone").exists(), "their places are free"
