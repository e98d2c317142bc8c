# SPDX-License-Identifier: Apache-2.0
"""Writes a program that starts the nodes of a system, ends them, and waits for them."""

from collections.abc import Callable
from pathlib import Path

from systems import Node, System

PATIENCE_S = 5  # for the end of a node

LAUNCH = '''"""Starts the nodes, ends them after {duration_s} s, and waits for them, but not for ever."""
import signal, subprocess, sys, time

signal.signal(signal.SIGINT, signal.SIG_IGN)  # of the terminal: the nodes are ended here
started = time.monotonic()
running = []
deaths = []
for after_s, dies_after_s, command in {commands!r}:
    time.sleep(max(0, started + after_s - time.monotonic()))
    running.append(subprocess.Popen(command, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler)))
    if dies_after_s is not None:
        deaths.append((dies_after_s, running[-1]))
for after_s, process in sorted(deaths, key=lambda death: death[0]):
    time.sleep(max(0, started + after_s - time.monotonic()))
    process.kill()
time.sleep(max(0, started + {duration_s} - time.monotonic()))
killed = [process for _, process in deaths]
died = [(process.args, process.returncode) for process in running if process.poll() is not None and process not in killed]
for process in running:
    process.send_signal(signal.SIGINT)
for process in running:
    try:
        process.wait({patience_s})
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
sys.exit(f"ended by itself: {{died}}" if died else 0)
'''


def launch(system: System, folder: Path, python: str, command: Callable[[Node], list[str]]) -> list[str]:
    """Writes the program into a folder; returns the command that runs it. `command` runs a node."""
    commands = []
    for node in sorted(system.nodes, key=lambda node: node.start_after_s):
        pinned = ["taskset", "-c", node.cpus] if node.cpus else []
        commands.append((node.start_after_s, node.dies_after_s, [*pinned, *command(node)]))
    text = LAUNCH.format(duration_s=system.duration_s, patience_s=PATIENCE_S, commands=commands)
    (folder / "launch.py").write_text(text)
    return [python, str(folder / "launch.py")]
