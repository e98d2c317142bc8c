# SPDX-License-Identifier: Apache-2.0
"""Systems as rclpy programs, one for each node: functions are named as in the system, so that a diagnosis can name them with file and line."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from launch import launch
from systems import MESSAGE_BYTES, Callback, Node, System

HERE = Path(__file__).resolve().parent
PYTHON = HERE.parents[1] / "build" / "venv" / "bin" / "python"
STALLS = {"sleep": "block", "compute": "compute", "lock": "wait_for_lock", "write": "write", "fault": "read_evicted"}


@contextmanager
def recorded(system: System, folder: Path, run: str) -> Iterator[tuple[list[str], dict[str, str]]]:
    """Writes the programs into a folder. The arguments with which tacho records them, and variables of the environment."""

    def command(node: Node) -> list[str]:
        path = folder / f"{node.name}.py"
        path.write_text(source(node, system))
        return [str(PYTHON), str(path)]

    launched = launch(system, folder, str(PYTHON), command)
    yield ["record", "-o", run, "--", *launched], {}


def source(node: Node, system: System) -> str:
    """The program of one node."""
    kept = {topic for callback in node.callbacks for topic in callback.uses}
    title = node.name.title().replace("_", "")
    lines = [
        "import sys",
        "",
        f"sys.path.insert(0, {str(HERE)!r})",
        "",
        "from rclpy_runtime import MeasuredNode, block, clock, compute, image, read_evicted, spin, wait_for_lock, write",
        "",
        "",
        f"class {title}(MeasuredNode):",
        "    def __init__(self):",
        f"        super().__init__({node.name!r}, {node.name in system.simulated})",
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
        if callback.publishes == "clock":
            return [*lines, f"{indent}self.clock.publish(clock())"]
        size = system.bytes.get(callback.publishes, MESSAGE_BYTES)
        if callback.burst > 1:
            lines.append(f"{indent}for _ in range({callback.burst}):")
            indent += "    "
        lines.append(
            f"{indent}self.{callback.publishes}.publish(image({size}{', ' + stamp if system.stamped else ''}))"
        )
    if callback.service:
        lines.append("        return response")
    return lines
