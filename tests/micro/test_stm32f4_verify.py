# SPDX-License-Identifier: Apache-2.0
"""micro/ports/stm32f4/verify, with a stand-in for the board: its programs as Linux processes, whose console is a pseudo-terminal."""

import os
import pty
import subprocess
import sys
import threading
import tty

import pytest
from conftest import OUT, ROOT, make, ros_python_of

VERIFY = ROOT / "micro" / "ports" / "stm32f4" / "verify"
LINUX = OUT / "linux"

# "Writes an image": starts the program of that name in place of the one before.
STAND_IN = """#!/bin/bash
cd "$(dirname "$0")"
[ ! -f pid ] || kill "$(cat pid)"
setsid "$1/$(basename "$2" .elf)" >"$3" 2>&1 </dev/null &
echo $! >pid
echo "written: $(basename "$2")"
"""


def copy(wire: int, to: int):
    """What the board prints, up to the end of its terminal."""
    while said := os.read(wire, 4096):
        os.write(to, said)


@pytest.fixture
def board(tmp_path):
    """The command that writes an image, and the console."""
    make(ROOT / "micro", f"OUT={OUT}", "linux")
    ours, console = pty.openpty()
    tty.setraw(console)
    script, pipe = tmp_path / "flash", tmp_path / "wire"
    script.write_text(STAND_IN)
    script.chmod(0o755)
    os.mkfifo(pipe)
    wire = os.open(pipe, os.O_RDWR)  # for writing, too: it has no end while programs come and go
    copying = threading.Thread(target=copy, args=(wire, ours), daemon=True)
    copying.start()
    yield f"{script} {LINUX} {{image}} {pipe}", os.ttyname(console)
    if (tmp_path / "pid").exists():
        os.kill(int((tmp_path / "pid").read_text()), 9)


def verify(out, flash, console, domain, patience_s=120):
    environment = os.environ | {
        "ROS_DOMAIN_ID": str(domain),
        "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST",
        "MICRO_INTERFACE": "127.0.0.1",
    }
    words = [
        sys.executable,
        VERIFY,
        "--console",
        console,
        "--address",
        "127.0.0.1",
        "--flash",
        flash,
        "--python",
        ros_python_of("venv"),
        "--patience",
        str(patience_s),
        "-o",
        out,
    ]
    return subprocess.run(words, env=environment, capture_output=True, text=True)


def test_every_step_is_tried_and_written_down(tmp_path, board, domain):
    flash, console = board
    done = verify(tmp_path / "stm32f4.txt", flash, console, domain)
    text = (tmp_path / "stm32f4.txt").read_text()
    passed = [line.split(":")[1].strip() for line in text.splitlines() if line.startswith("passed: ")]
    steps = [
        "build",
        "write publisher.elf",
        "start",
        "ping",
        "the board publishes",
        "write subscriber.elf",
        "the board subscribes",
    ]
    assert (done.returncode, passed) == (0, steps), done.stdout + done.stderr


def test_a_step_that_fails_is_written_down_with_its_output(tmp_path, board, domain):
    _, console = board
    # Nothing is written to the board, so nothing comes from it.
    done = verify(tmp_path / "stm32f4.txt", "ls /no/such/board {image}", console, domain, patience_s=5)
    text = (tmp_path / "stm32f4.txt").read_text()
    assert done.returncode == 1 and "FAILED: write publisher.elf" in text and "/no/such/board" in text
    assert "FAILED: start: 'up' did not come on the console" in text


def test_what_is_missing_is_named(tmp_path, domain):
    done = verify(tmp_path / "stm32f4.txt", "no-such-tool {image}", "/dev/null", domain)
    assert (done.returncode, done.stderr) == (2, "verify: no-such-tool is missing\n")
