# SPDX-License-Identifier: Apache-2.0
"""Runs micro/demo as a user does: its output, its exit code, and that it leaves nothing behind."""

import os
import re
import signal
import subprocess

import pytest
from conftest import ROOT
from processes import PATIENCE_S, Program


def namespaces() -> set:
    listed = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True)
    return {line.split()[0] for line in listed.stdout.splitlines()}


def running(command: str) -> list[str]:
    """Command lines that name `command`, except for that of the demo itself."""
    found = []
    for process in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{process}/cmdline", "rb") as file:
                line = file.read().replace(b"\0", b" ").decode(errors="replace")
        except (FileNotFoundError, ProcessLookupError):
            continue
        if command in line and "micro/demo" not in line:
            found.append(line)
    return found


def heard(output: str) -> list[int]:
    return [int(number) for number in re.findall(r"^/chatter: hello from cortex-m4 (\d{4})$", output, re.MULTILINE)]


def test_make_micro_demo_ends_with_ros_printing_what_the_microcontroller_says():
    done = subprocess.run(["make", "--no-print-directory", "-C", ROOT, "micro-demo"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    numbers = heard(done.stdout)
    assert len(numbers) == 10 and numbers == list(range(numbers[0], numbers[0] + 10))
    assert re.search("through (a network namespace|QEMU's user networking)", done.stdout)


def test_the_demo_runs_without_permission_for_a_namespace(images, kilted):
    done = subprocess.run(
        [ROOT / "micro" / "demo", images / "publisher.elf", "--python", kilted, "--user"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "through QEMU's user networking" in done.stdout and len(heard(done.stdout)) == 10


@pytest.fixture
def silent(images, tmp_path):
    """A board that sends nothing on /chatter, with a name of its own, so that its emulator can be distinguished."""
    image = tmp_path / f"silent-{os.getpid()}.elf"
    image.write_bytes((images / "subscriber.elf").read_bytes())
    return image


def test_no_message_is_a_failure_that_names_what_was_awaited(silent, kilted):
    done = subprocess.run(
        [ROOT / "micro" / "demo", silent, "--python", kilted, "--patience", "20"], capture_output=True, text=True
    )
    assert done.returncode == 1 and "0 lines '/chatter: ', expected 1" in done.stderr, done.stdout + done.stderr
    assert not running(silent.name)


def test_what_is_missing_is_named(tmp_path):
    done = subprocess.run([ROOT / "micro" / "demo", tmp_path / "none.elf"], capture_output=True, text=True)
    assert done.returncode == 2 and f"{tmp_path}/none.elf is missing" in done.stderr


def test_a_demo_that_is_ended_takes_everything_with_it(silent, kilted, started):
    demo = started(Program(ROOT / "micro" / "demo", silent, "--python", kilted))
    demo.wait_for("micro-demo: silent")
    demo.process.send_signal(signal.SIGTERM)
    assert demo.process.wait(PATIENCE_S) == 143
    assert not running(silent.name) and f"micro{demo.process.pid}" not in namespaces()
