# SPDX-License-Identifier: Apache-2.0
"""Writes the nodes of a system as rclpy programs, and a program that starts them all: functions are named as in the system, so that a diagnosis
can name them with file and line."""

from pathlib import Path

from systems import MESSAGE_BYTES, Callback, Node, System

HERE = Path(__file__).resolve().parent
PATIENCE_S = 5  # for the end of a node
STALLS = {"sleep": "block", "compute": "compute", "lock": "wait_for_lock", "write": "write"}

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
died = [process.args for process in running if process.poll() is not None and process not in killed]
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


def write(system: System, folder: Path, python: str) -> list[str]:
    """Writes the programs into a folder; returns the command that runs them."""
    commands = []
    for node in sorted(system.nodes, key=lambda node: node.start_after_s):
        path = folder / f"{node.name}.py"
        path.write_text(source(node, system))
        pinned = ["taskset", "-c", node.cpus] if node.cpus else []
        commands.append((node.start_after_s, node.dies_after_s, [*pinned, python, str(path)]))
    (folder / "launch.py").write_text(
        LAUNCH.format(duration_s=system.duration_s, patience_s=PATIENCE_S, commands=commands)
    )
    return [python, str(folder / "launch.py")]


def source(node: Node, system: System) -> str:
    """The program of one node."""
    kept = {topic for callback in node.callbacks for topic in callback.uses}
    title = node.name.title().replace("_", "")
    lines = [
        "import sys",
        "",
        f"sys.path.insert(0, {str(HERE)!r})",
        "",
        "from runtime import MeasuredNode, block, compute, image, spin, wait_for_lock, write",
        "",
        "",
        f"class {title}(MeasuredNode):",
        "    def __init__(self):",
        f"        super().__init__({node.name!r})",
    ]
    lines += [
        f"        self.{callback.publishes} = self.gives({callback.publishes!r}, {callback.publishes not in system.best_effort})"
        for callback in node.callbacks
        if callback.publishes
    ]
    lines += [
        f"        self.{callback.calls} = self.client({callback.calls!r})"
        for callback in node.callbacks
        if callback.calls
    ]
    for callback in node.callbacks:
        method, group = f"self.{callback.name}", repr(callback.group)
        if callback.topic:
            depth, latched = system.depth.get(callback.topic, 10), callback.topic in system.latched
            lines.append(f"        self.takes({callback.topic!r}, {method}, {depth}, {latched}, {group})")
        elif callback.service:
            lines.append(f"        self.serves({callback.service!r}, {method}, {group})")
        else:
            lines.append(f"        self.every({callback.period_ms}, {callback.phase_ms}, {method}, {group})")
    for callback in node.callbacks:
        lines += ["", *body(callback, callback.topic in kept, system)]
    return "\n".join([*lines, "", "", f"spin({title}, {node.threads}, {node.polls_ms})", ""])


def body(callback: Callback, keeps: bool, system: System) -> list[str]:
    """A method."""
    arguments = ["self", *(["request", "response"] if callback.service else ["message"] if callback.topic else [])]
    lines = [f"    def {callback.name}({', '.join(arguments)}):", f"        compute({callback.work_ms:.3f})"]
    if callback.calls:
        lines.append(f"        self.{callback.calls}.call(self.{callback.calls}.srv_type.Request())")
    if callback.stall:
        lines += [
            f"        if self.each({callback.name!r}, {callback.stall.every}):",
            f"            {STALLS[callback.stall.how]}({callback.stall.ms:.3f})",
        ]
    if keeps:
        lines.append(f"        self.kept[{callback.topic!r}] = message")
    if callback.publishes:
        if callback.uses:
            lines.append(f"        if {' and '.join(f'{topic!r} in self.kept' for topic in callback.uses)}:")
            stamp = f"self.kept[{callback.uses[0]!r}].header.stamp"
        else:
            stamp = "message.header.stamp" if callback.topic else "self.get_clock().now().to_msg()"
        indent = " " * (12 if callback.uses else 8)
        size = system.bytes.get(callback.publishes, MESSAGE_BYTES)
        lines.append(
            f"{indent}self.{callback.publishes}.publish(image({size}{', ' + stamp if system.stamped else ''}))"
        )
    if callback.service:
        lines.append("        return response")
    return lines
