# SPDX-License-Identifier: Apache-2.0
"""What the tests of tacho-micro share: its test programs, built here, and a DDS domain for each test of its own."""

import fcntl
import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE))

from domains import hold_domain  # noqa: E402
from processes import Program  # noqa: E402

OUT = Path(os.environ.get("MICRO_OUT", ROOT / "build" / "micro"))


def make(folder: Path, *arguments: str):
    """Runs make, one at a time among parallel test workers."""
    OUT.mkdir(parents=True, exist_ok=True)
    with open(OUT / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = subprocess.run(["make", "-s", "-C", str(folder), *arguments], capture_output=True, text=True)
    assert done.returncode == 0 and "warning" not in done.stderr, done.stdout + done.stderr


@pytest.fixture(scope="session")
def programs() -> Path:
    """Folder of the test programs (tests/micro/Makefile), with sanitizers."""
    make(HERE, f"OUT={OUT}/test", "all")
    return OUT / "test"


@pytest.fixture(scope="session")
def fuzzers() -> Path:
    make(HERE, f"OUT={OUT}/test", "fuzz")
    return OUT / "test"


@pytest.fixture(scope="session")
def images() -> Path:
    """Folder of publisher.elf, subscriber.elf, both.elf for the emulated board."""
    make(ROOT / "micro", f"OUT={OUT}", "all")
    return OUT


@pytest.fixture
def domain():
    taken, held = hold_domain()
    yield taken
    held.close()


@pytest.fixture
def started():
    """Keeps programs and stops them, in the order of their start, when the test is over."""
    running: list[Program] = []

    def keep(program: Program) -> Program:
        running.append(program)
        return program

    yield keep
    for program in running:
        program.stop()


def ros_python_of(name: str) -> str:
    python = Path(os.environ.get(f"MICRO_{name.upper().replace('-', '_')}", ROOT / "build" / name)) / "bin" / "python"
    assert python.exists(), f"{python}: no such environment (make build, make test)"
    return str(python)


@pytest.fixture(scope="session", params=["venv", "venv-jazzy"], ids=["kilted", "jazzy"])
def any_ros(request) -> str:
    """The Python of each release of ROS 2 that we test against."""
    return ros_python_of(request.param)


@pytest.fixture(scope="session")
def kilted() -> str:
    return ros_python_of("venv")
