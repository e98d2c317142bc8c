# SPDX-License-Identifier: Apache-2.0
"""Systems on roscpp (ROS 1): one program, compiled once, that is each node, with a master of their own."""

import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from launch import launch
from systems import MESSAGE_BYTES, Callback, Node, System

HERE = Path(__file__).resolve().parent
LIBRARIES = ["roscpp", "roscpp_serialization", "rosconsole", "rostime", "xmlrpcpp", "boost_thread", "pthread"]
FLAGS = ["-O1", "-std=c++17", "-DBOOST_BIND_GLOBAL_PLACEHOLDERS"]
MASTER_S = 30
"""How long the master may take to start."""


@contextmanager
def recorded(system: System, folder: Path, run: str) -> Iterator[tuple[list[str], dict[str, str]]]:
    """Describes the nodes in a folder and starts the master. The arguments with which tacho records them, and variables of the environment."""
    program = compiled(folder.parent)

    def command(node: Node) -> list[str]:
        path = folder / f"{node.name}.txt"
        path.write_text(description(node, system))
        return [str(program), str(path)]

    launched = launch(system, folder, sys.executable, command)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    variables = {
        "ROS_MASTER_URI": f"http://127.0.0.1:{port}",
        "ROS_IP": "127.0.0.1",
        "ROS_LOG_DIR": str(folder / "log"),
    }
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    master = subprocess.Popen(["rosmaster", "--core", "-p", str(port)], cwd=folder, **quiet)
    try:
        wait_for(port, master)
        yield ["record", "-o", run, "--", *launched], variables
    finally:
        master.terminate()
        master.wait()


def compiled(folder: Path) -> Path:
    program = folder / "roscpp_node"
    if not program.exists():
        libraries = [f"-l{library}" for library in LIBRARIES]
        new = folder / f"{program.name}.{threading.get_ident()}"
        subprocess.run(["c++", *FLAGS, HERE / "roscpp_node.cpp", "-o", new, *libraries], check=True)
        new.replace(program)
    return program


def wait_for(port: int, master: subprocess.Popen):
    until = time.monotonic() + MASTER_S
    while master.poll() is None and time.monotonic() < until:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return
        except ConnectionRefusedError:
            time.sleep(0.05)
    raise RuntimeError(f"rosmaster does not answer on port {port}")


def description(node: Node, system: System) -> str:
    """What roscpp_node.cpp reads."""
    lines = [words("node", name=node.name, threads=node.threads, polls_ms=node.polls_ms)]
    lines += [of_callback(callback, system) for callback in node.callbacks]
    return "".join(f"{line}\n" for line in lines)


def of_callback(callback: Callback, system: System) -> str:
    stall = callback.stall
    return words(
        "subscribe" if callback.topic else "timer",
        name=callback.name,
        topic=callback.topic,
        depth=system.depth.get(callback.topic, 10) if callback.topic else None,
        period_ms=callback.period_ms,
        phase_ms=callback.phase_ms or None,
        work_ms=callback.work_ms,
        stall_every=stall and stall.every,
        stall_ms=stall and stall.ms,
        stall_how=stall and stall.how,
        publishes=callback.publishes,
        burst=callback.burst,
        bytes=system.bytes.get(callback.publishes, MESSAGE_BYTES) if callback.publishes else None,
        uses=",".join(callback.uses) or None,
        stamped=int(system.stamped),
    )


def words(entity: str, **of) -> str:
    return " ".join([entity, *(f"{key}={value}" for key, value in of.items() if value is not None)])
