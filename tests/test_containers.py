"""Containers, made of their namespaces: recording inside one, reading outside; attaching and asking from outside."""

import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pyarrow.parquet as parquet
import pytest
from places import PROGRAMS, ROOT
from waiting import finished, succeeded, wait_for

STAND_INS = ROOT / "build" / "native" / "recorder" / "tests"

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="making namespaces needs root")

# As Docker makes them: process ids, network, shared memory and mounts of its own.
CONTAINER = ["unshare", "--pid", "--mount", "--mount-proc", "--net", "--ipc", "--fork", "--kill-child"]
INSIDE = 'ip link set lo up && mount -t tmpfs tmpfs /dev/shm && exec "$@"'
CONTAINED = [*CONTAINER, "sh", "-c", INSIDE, "sh"]


def test_what_is_recorded_inside_is_read_outside(tacho, ros_python):
    before = time.monotonic_ns()
    done = tacho(
        "record", "-o", "run", "--", "sh", PROGRAMS / "talk_and_listen.sh", ros_python, 30, 0.02, before=CONTAINED
    )
    after = time.monotonic_ns()
    said = [line.split() for line in done.stdout.splitlines() if re.match(r"(published|heard) \d+ \d+$", line)]
    summary = tacho.json("explain", "run")
    (topic,) = [topic for topic in summary["topics"] if topic["topic"] == "/chatter"]
    assert (topic["sent"], topic["received"]) == tuple(
        sum(1 for line in said if line[0] == word) for word in ("published", "heard")
    )
    processes = parquet.read_table(tacho.directory / "run" / "tables" / "processes.parquet").to_pylist()
    assert len(processes) == 2 and len({process["pid"] for process in processes}) == 2
    assert all(process["ended"] for process in processes)
    # Ids are those of the inside, times are the same everywhere.
    inside = {
        int(line)
        for line in re.findall(
            r"^(\d+)-", "\n".join(p.name for p in (tacho.directory / "run" / "events").iterdir()), re.M
        )
    }
    assert inside == {process["pid"] for process in processes} and max(inside) < 1000
    publications = parquet.read_table(tacho.directory / "run" / "tables" / "publications.parquet").to_pylist()
    assert publications and all(before < row["publish_ns"] < after for row in publications)


def pid_of(process, program):
    """The process below `process` that executes `program`, by its id here."""

    def found():
        below = [process.pid]
        for pid in below:
            try:
                below += map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split())
                if (
                    os.readlink(f"/proc/{pid}/exe").startswith(str(program))
                    and "libtracetools.so" in Path(f"/proc/{pid}/maps").read_text()
                ):
                    return pid
            except (FileNotFoundError, ProcessLookupError):
                continue
        return None

    return wait_for(found, f"one below {process.pid} to execute {program}", process)


@pytest.mark.skipif(not os.path.exists("/sys/bus/event_source/devices/uprobe"), reason="a kernel without uprobes")
def test_a_program_in_a_container_is_attached_to_from_outside(tacho):
    """Its program and its libtracetools are visible only to it."""
    folder = tacho.directory / "image"
    folder.mkdir()
    inside = (
        f"mount -t tmpfs tmpfs {folder} && cp {STAND_INS}/rclcpp_order_kilted {STAND_INS}/kilted/lib/libtracetools.so {folder} && "
        f"LD_LIBRARY_PATH={folder} exec {folder}/rclcpp_order_kilted wait"
    )
    environment = tacho.environment | {"ROS_DISTRO": "kilted"}
    command = [*CONTAINER, "sh", "-c", inside]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    ) as container:
        try:
            pid = pid_of(container, folder / "rclcpp_order_kilted")
            assert not any(folder.iterdir()), "only the container sees them"
            recording = tacho.start("record", "--attach", pid, "-o", "run")
            first = recording.stderr.readline()
            assert "attached to" in first, first + recording.stderr.read()
            called = finished(container, "go\n")[0].splitlines()
            succeeded(recording)
        finally:
            container.kill()
    sys.path.append(str(ROOT / "native" / "recorder" / "tests"))
    from event_file import read_directory

    (file,) = read_directory(tacho.directory / "run" / "events")
    recorded = [
        " ".join([e.kind, *map(str, e.words)]) + (" | " + " ".join(e.texts) if e.texts else "") for e in file.events
    ]
    assert len(called) > 30 and recorded == called
    assert file.tracetools.startswith("8.")


def test_a_ring_inside_is_saved_from_outside(tacho):
    program = [
        sys.executable,
        PROGRAMS.parent / "recorder" / "ring_program.py",
        STAND_INS / "kilted" / "lib" / "libtracetools.so",
        100,
        600,
    ]
    container = tacho.start("record", "--ring", "1s", "-o", "run", "--", *program, before=CONTAINED)
    for _ in range(5):
        line = container.stdout.readline()
        assert line.startswith("second"), line + container.stderr.read()
    saved = tacho("record", "--save", "run").stdout.strip()
    container.kill()
    finished(container)
    (topic,) = tacho.json("explain", saved)["topics"]
    assert topic["topic"] == "/points" and topic["sent"] > 0
    info = json.loads((tacho.directory / saved / "run.json").read_text())
    assert info["ring"]["saved_for"] == "tacho record --save"
    shutil.rmtree(tacho.directory / "run")
