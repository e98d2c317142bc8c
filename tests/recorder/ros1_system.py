"""ROS 1 for tests: a master of their own, and the nodes of ros1_node.cpp and ros1_nodelets.cpp under `tacho record`."""

import json
import os
import shutil
import signal
import socket
import subprocess
from pathlib import Path

import pyarrow.parquet as parquet
import pytest
from waiting import wait_for

HERE = Path(__file__).parent
LIBRARIES = [
    "-lroscpp",
    "-lroscpp_serialization",
    "-lrosconsole",
    "-lrostime",
    "-lxmlrpcpp",
    "-lboost_thread",
    "-lpthread",
]
FLAGS = ["-O1", "-std=c++17", "-Wall", "-Wextra", "-Werror", "-DBOOST_BIND_GLOBAL_PLACEHOLDERS"]


def compiled(folder: Path, name: str, *libraries: str) -> Path:
    program = folder / name
    subprocess.run(["c++", *FLAGS, HERE / f"{name}.cpp", "-o", program, *libraries, *LIBRARIES], check=True)
    return program


class Ros1:
    """A system of nodes, recorded one process tree after the other by one `tacho record`."""

    def __init__(self, tacho, program: Path):
        self.tacho, self.program = tacho, program
        self.run = tacho.directory / "run"
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        tacho.environment |= {
            "ROS_MASTER_URI": f"http://127.0.0.1:{port}",
            "ROS_IP": "127.0.0.1",
            "ROS_LOG_DIR": str(tacho.directory / "log"),
        }
        self.master = subprocess.Popen(
            ["rosmaster", "--core", "-p", str(port)],
            env=tacho.environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        wait_for(lambda: self.answers(port), "the ROS master")

    def answers(self, port: int) -> bool:
        assert self.master.poll() is None, "the ROS master ended"
        try:
            socket.create_connection(("127.0.0.1", port)).close()
        except ConnectionRefusedError:
            return False
        return True

    def end(self) -> None:
        self.master.terminate()
        self.master.wait()

    def record(self, first: str, *others: str, options: tuple[str, ...] = ()) -> dict:
        """Records nodes until the first one ends; the others get SIGINT then. `NAME=ARGUMENTS` each; the summary."""
        lines = []
        for node in others:
            name, arguments = node.split("=", 1)
            lines.append(f'CLOCK={name}.clock {self.program} {arguments} & pids="$pids $!"')
        name, arguments = first.split("=", 1)
        lines.append(f"CLOCK={name}.clock {self.program} {arguments}; code=$?")
        lines += ["kill -INT $pids", "wait", "exit $code"] if others else ["exit $code"]
        (self.tacho.directory / "system.sh").write_text("\n".join(lines))
        return json.loads(self.tacho("record", "--json", *options, "-o", self.run, "--", "sh", "system.sh").stdout)

    def clock(self, name: str, what: str) -> list[tuple[int, int]]:
        """The readings of the clock inside a node: start and end of each callback or publish call, in order."""
        lines = (line.split() for line in (self.tacho.directory / f"{name}.clock").read_text().splitlines())
        return sorted((int(start), int(end)) for found, start, end in lines if found == what)

    def table(self, name: str) -> list[dict]:
        return parquet.read_table(self.run / "tables" / f"{name}.parquet").to_pylist()

    def executions(self, node: str, **of) -> list[dict]:
        """Executions of callbacks of a node, such as topic="/topic_1"; in order of their start."""
        nodes = self.table("nodes")

        def fits(c):
            return c["node"] is not None and nodes[c["node"]]["name"] == node and all(c[k] == v for k, v in of.items())

        mine = {index for index, callback in enumerate(self.table("callbacks")) if fits(callback)}
        return sorted((e for e in self.table("executions") if e["callback"] in mine), key=lambda e: e["start_ns"])

    def messages(self, node: str, topic: str) -> list[dict]:
        """Rows of the messages that a node's subscription to a topic got, or should have got."""
        nodes, endpoints = self.table("nodes"), self.table("endpoints")

        def fits(e):
            return (nodes[e["node"]]["name"], e["topic"]) == (node, topic)

        return [m for m in self.table("messages") if fits(endpoints[m["subscription"]])]


@pytest.fixture(scope="session")
def ros1_program(tmp_path_factory) -> Path:
    if not shutil.which("rosmaster") or not Path("/usr/include/ros/ros.h").exists():
        pytest.skip("no ROS 1: libroscpp-dev and python3-rosmaster")
    return compiled(tmp_path_factory.mktemp("ros1"), "ros1_node")


@pytest.fixture
def ros1(tacho, ros1_program):
    system = Ros1(tacho, ros1_program)
    yield system
    system.end()


def kill(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)
