"""What the end-to-end tests share: where things are, and a DDS domain for each test of its own."""

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from domains import free_domain
from places import ROOT


class Tacho:
    """The built command, run in a directory of its own."""

    def __init__(self, directory: Path, environment: dict[str, str]):
        self.directory = directory
        self.environment = environment
        self.program = ROOT / "build" / "tacho"
        self.started: list[subprocess.Popen] = []

    def start(self, *arguments: object, **options) -> subprocess.Popen:
        process = subprocess.Popen(
            [str(self.program), *map(str, arguments)],
            cwd=self.directory,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            **options,
        )
        self.started.append(process)
        return process

    def end(self):
        """Ends what a failed test left running; `tacho` ends what it has started."""
        for process in self.started:
            if process.poll() is None:
                process.terminate()
                process.communicate(timeout=60)

    def __call__(self, *arguments: object, expect: int = 0) -> subprocess.CompletedProcess:
        """Runs a verb to its end; `expect` is its exit code."""
        done = subprocess.run(
            [str(self.program), *map(str, arguments)],
            cwd=self.directory,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert done.returncode == expect, f"exit {done.returncode}, expected {expect}\n{done.stdout}\n{done.stderr}"
        return done

    def json(self, *arguments: object):
        """Runs a verb with --json and reads what it prints."""
        return json.loads(self(*arguments, "--json").stdout)


@pytest.fixture
def tacho(tmp_path: Path) -> Iterator[Tacho]:
    environment = dict(os.environ)
    environment["ROS_DOMAIN_ID"] = str(free_domain())
    environment["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"
    environment["ROS_LOG_DIR"] = str(tmp_path / "ros-log")
    made = Tacho(tmp_path, environment)
    yield made
    made.end()


@pytest.fixture(scope="session")
def ros_python() -> str:
    """The Python that has rclpy of ROS 2 Kilted."""
    return str(ROOT / "build" / "venv" / "bin" / "python")


@pytest.fixture(scope="session")
def ros_python_jazzy() -> str:
    """The Python that has rclpy of ROS 2 Jazzy."""
    return str(ROOT / "build" / "venv-jazzy" / "bin" / "python")


@pytest.fixture(scope="session")
def workloads() -> Path:
    return ROOT / "workloads"
