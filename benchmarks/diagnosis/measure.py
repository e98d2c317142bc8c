# SPDX-License-Identifier: Apache-2.0
"""Runs and records one system within a limit of time, and keeps what was found of each."""

import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import own_nodes
import rclpy_programs
import roscpp_programs
from faults import FAULTS, Truth
from score import accusations, place
from systems import System, healthy

ROOT = Path(__file__).resolve().parents[2]
TACHO = ROOT / "build" / "tacho"
RECORDED = {"rclpy": rclpy_programs.recorded, "roscpp": roscpp_programs.recorded, "own-nodes": own_nodes.recorded}
NAMED = "open('/proc/self/comm', 'w').write('burner')\n"
BURNER = [sys.executable, "-c", NAMED + "while True: pass"]
# 45 ms of every 110: a real-time thread that takes all of a CPU would be stopped by the kernel, and what a pulse delays by less than the
# period of the planner's timer is often no later for it.
PULSE = [
    sys.executable,
    "-c",
    NAMED
    + "import time\nwhile True:\n    end = time.monotonic() + 0.045\n    while time.monotonic() < end: pass\n    time.sleep(0.065)",
]
PATIENCE_S = 5
"""What a system that is told to end has for it."""
KERNEL_CLOCK_S = 2
"""The clock of the kernel's messages may be off ours by this."""


class NotExplained(Exception):
    """A system that hung or failed, with what was printed."""


class Results:
    """What was found of each system, in a file if there is one: written as soon as it is known, so that nothing is lost or run twice."""

    def __init__(self, path: Path | None):
        self.path = path
        there = path.read_text().splitlines() if path and path.is_file() else []
        self.rows = [json.loads(line) for line in there if line.endswith("}")]  # the last may have been cut short

    def known(self, nodes: str, kind: str | None, seed: int) -> dict | None:
        wanted = (nodes, kind, seed)
        return next((row for row in self.rows if key(row) == wanted and not row["error"]), None)

    def add(self, row: dict):
        self.rows = [known for known in self.rows if key(known) != key(row)]
        self.rows.append(row)
        if self.path:
            new = self.path.with_name(self.path.name + ".new")
            new.write_text("".join(json.dumps(row) + "\n" for row in self.rows))
            new.replace(self.path)


def key(row: dict) -> tuple[str, str | None, int]:
    return row["nodes"], row["kind"], row["seed"]


def measure(
    nodes: str,
    kind: str | None,
    seed: int,
    folder: Path,
    domain: int,
    limit_s: float,
    is_kept: bool = False,
    scheduler: str = "auto",
) -> dict:
    """Of a system with a fault, or of a healthy one without a kind: the place of the truth among the accusations, the first of them, and why
    there are none. `nodes`: one of faults.KINDS. `is_kept`: its recording in the folder is analysed anew, nothing runs. `scheduler`: whether
    scheduler events are recorded, as tacho's option has it."""
    system = healthy(seed)
    if nodes == "own-nodes":
        own_nodes.give_work(system)
    truth = FAULTS[kind](system, random.Random(f"{kind} {seed}")) if kind else None
    if truth and nodes == "own-nodes":
        truth = without_functions(truth, system)
    culprit = f"{truth.node} {truth.culprit}".strip() if truth else "nobody"
    found = {"nodes": nodes, "kind": kind, "seed": seed, "culprit": culprit, "place": None, "first": "", "error": ""}
    try:
        own = folder / f"{nodes}-{kind or 'healthy'}-{seed}"
        if is_kept:
            said = analysed_anew(own, limit_s)
        else:
            said = explained(RECORDED[nodes], system, own, domain, limit_s, scheduler)
    except NotExplained as failure:
        return found | {"error": str(failure)}
    found["first"] = next(iter(accusations(said)), "")
    found["place"] = place(truth, said) if truth else None
    return found


def without_functions(truth: Truth, system: System) -> Truth:
    """A callback of an own node has no function: it is the one of its topic, or the node's only timer."""
    callbacks = [callback for node in system.nodes for callback in node.callbacks if callback.name == truth.culprit]
    return replace(truth, culprit=callbacks[0].topic or "") if callbacks else truth


def explained(recorded, system: System, folder: Path, domain: int, limit_s: float, scheduler: str) -> dict:
    """Runs and records a system, and returns what `tacho explain --json` says of it."""
    folder.mkdir(parents=True, exist_ok=True)
    environment = os.environ | {"ROS_DOMAIN_ID": str(domain), "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST"}
    until = time.monotonic() + limit_s
    run = f"run-{time.monotonic_ns()}"  # one that failed before may lie beside it
    burners = []
    try:
        for before in system.burners:
            words = before.split()
            program = PULSE if words[-1:] == ["pulse"] else BURNER
            # A session of its own: the kernel shares the CPUs among sessions first (sched_autogroup).
            command = [*[word for word in words if word != "pulse"], *program]
            burners.append(subprocess.Popen(command, start_new_session=True))
        with recorded(system, folder, run) as ([verb, *words], variables):
            command = [TACHO, verb, "--cpu-time", "--scheduler", scheduler, *words]
            bounded(command, folder, environment | variables, until)
    finally:
        for burner in burners:
            burner.kill()
            burner.wait()
    return json.loads(bounded([TACHO, "explain", "--json", run], folder, environment, until))


def analysed_anew(folder: Path, limit_s: float) -> dict:
    """What this tacho says of the newest recording in a folder."""
    runs = sorted(folder.glob("run-*"), key=lambda run: int(run.name.removeprefix("run-")))
    if not runs:
        raise NotExplained(f"{folder}: no recording is kept")
    until = time.monotonic() + limit_s
    with tempfile.TemporaryDirectory() as made:
        return json.loads(
            bounded([TACHO, "import", "--json", "-o", f"{made}/run", runs[-1]], folder, os.environ, until)
        )


def bounded(command: list, folder: Path, environment: Mapping[str, str], until: float) -> str:
    """What a command prints on stdout. One that takes longer is ended with all that it started: in order first, by force then."""
    began_s = time.monotonic()
    with (folder / "out").open("w+") as out, (folder / "err").open("w+") as err:
        process = subprocess.Popen(
            [str(word) for word in command], cwd=folder, env=environment, stdout=out, stderr=err, start_new_session=True
        )
        try:
            process.wait(max(1, until - time.monotonic()))
            hung = ""
        except subprocess.TimeoutExpired:
            hung = f"{command[1]} hung: not ended in time"
        finally:
            end(process)
        out.seek(0)
        err.seek(0)
        if hung or process.returncode != 0:
            tail = err.read()[-4000:].strip()  # a recording's notes follow what its program printed
            crashes = crashes_since(began_s, subprocess.run(["dmesg"], capture_output=True, text=True).stdout)
            raise NotExplained(f"{hung or f'{command[1]} exits with {process.returncode}'}: {tail} {crashes}")
        return out.read()


def crashes_since(began_s: float, kernel: str) -> str:
    """What the kernel printed of crashes in shared objects since then, by its own clock: it names thread and library."""
    lines = (re.match(r"\[ *(\d+\.\d+)\] (.* in \S+\.so.*)", line) for line in kernel.splitlines())
    return "; ".join(line[2] for line in lines if line and float(line[1]) >= began_s - KERNEL_CLOCK_S)


def end(process: subprocess.Popen):
    """Ends what is left of the session of a process."""
    for number, patience_s in [(signal.SIGINT, PATIENCE_S), (signal.SIGKILL, PATIENCE_S)]:
        try:
            os.killpg(process.pid, number)
        except ProcessLookupError:
            break
        until = time.monotonic() + patience_s
        while time.monotonic() < until and is_left(process):
            time.sleep(0.05)
    process.wait(PATIENCE_S)


def is_left(process: subprocess.Popen) -> bool:
    """Whether the group of a process has one that runs."""
    process.poll()
    try:
        os.killpg(process.pid, 0)
    except ProcessLookupError:
        return False
    return True
