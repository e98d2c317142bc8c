"""`tacho top` on a real system while it is recorded: figures of the last seconds, on a terminal and as JSON."""

import json
import os
import pty
import select
import struct
import subprocess
import sys
import time
from fcntl import ioctl
from termios import TIOCSWINSZ

import pyte
import pytest

from places import PROGRAMS, ROOT

TRACETOOLS = ROOT / "build/native/recorder/tests/kilted/lib/libtracetools.so"


@pytest.fixture
def recorded(tacho, ros_python):
    """The run directory of a recording of a talker at 50 Hz and a listener, which goes on."""
    run = tacho.directory / "run"
    command = ["sh", PROGRAMS / "talk_and_listen.sh", ros_python, 1_000_000, 0.02]
    process = tacho.start("record", "-o", run, "--", *command, start_new_session=True)
    limit = time.monotonic() + 60
    while not (run / "run.json").exists():
        assert process.poll() is None and time.monotonic() < limit
        time.sleep(0.05)
    yield run
    os.killpg(process.pid, 9)
    process.communicate()


def test_the_last_seconds_as_json(tacho, recorded):
    found = {"topics": []}
    limit = time.monotonic() + 90
    while not [t for t in found["topics"] if t["topic"] == "/chatter" and t["received"] > 50]:
        assert time.monotonic() < limit, found
        done = tacho.start("top", recorded, "--once", "--json", "--window", "3s")
        out, err = done.communicate(timeout=60)
        if done.returncode == 0:
            found = json.loads(out)
    (topic,) = [t for t in found["topics"] if t["topic"] == "/chatter"]
    assert found["processes"] >= 2 and found["dropped_events"] == 0
    assert found["window_s"] <= 3.01
    # The talker's timer gives the rate, whenever the window was.
    assert topic["rate_hz"] == pytest.approx(50, rel=0.2)
    # The first message may have come inside the window.
    assert 50 < topic["sent"] <= topic["rate_hz"] * found["window_s"] + 2
    assert topic["latency_us"]["median"] > 0
    assert topic["lost"] == 0


@pytest.fixture
def on_a_terminal(tacho, recorded):
    """`tacho top` on a terminal of 140 by 30: its process, the terminal's other end, and a wait until a line begins with a text."""
    controller, terminal = pty.openpty()
    ioctl(terminal, TIOCSWINSZ, struct.pack("HHHH", 30, 140, 0, 0))
    process = subprocess.Popen(
        [str(tacho.program), "top", str(recorded)], stdin=terminal, stdout=terminal, stderr=terminal,
        env=tacho.environment | {"TERM": "xterm"}, start_new_session=True,
    )
    os.close(terminal)
    screen = pyte.Screen(140, 30)
    stream = pyte.ByteStream(screen)

    def wait_for(text, without="\n"):
        limit = time.monotonic() + 90
        while not [line for line in screen.display if line.startswith(text)] or [line for line in screen.display if line.startswith(without)]:
            assert time.monotonic() < limit, "\n".join(screen.display)
            if select.select([controller], [], [], 1)[0]:
                stream.feed(os.read(controller, 65536))

    with os.fdopen(controller, "r+b", buffering=0) as controller_file:
        yield process, controller_file, wait_for
        process.kill()
        process.wait()


def test_on_a_terminal_until_q(on_a_terminal):
    process, terminal, wait_for = on_a_terminal
    wait_for("/chatter")
    terminal.write(b"/nothing\r")
    wait_for('no topics with "nothing"', without="/chatter")
    terminal.write(b"\x1b")
    wait_for("/chatter")
    terminal.write(b"3")
    wait_for("* talker to listener")
    terminal.write(b"q")
    assert process.wait(timeout=30) == 0


def test_a_terminal_that_goes_ends_it(on_a_terminal):
    """No SIGHUP comes: the terminal is not the one that controls it."""
    process, terminal, wait_for = on_a_terminal
    wait_for("/chatter")
    terminal.close()
    assert process.wait(timeout=60) >= 0, "by itself, not by a signal"


def test_forty_components_of_one_process_are_forty_rows_and_one_chain(tacho):
    command = [sys.executable, PROGRAMS / "components.py", TRACETOOLS, 40, 20]
    run = tacho.directory / "run"
    recording = tacho.start("record", "-o", run, "--", *command, start_new_session=True)
    try:
        limit, found = time.monotonic() + 90, {"chains": []}
        while not [chain for chain in found["chains"] if chain["instances"] > 10]:
            assert recording.poll() is None and time.monotonic() < limit, found
            done = tacho.start("top", run, "--once", "--json", "--window", "2s")
            out, _ = done.communicate(timeout=60)
            found = json.loads(out) if done.returncode == 0 else found
    finally:
        os.killpg(recording.pid, 9)
        recording.communicate()
    assert found["processes"] == 1
    components = [f"/car/component_{number:02}" for number in range(40)]
    assert sorted(callback["node"] for callback in found["callbacks"]) == components[1:]
    assert {(topic["publishers"][0], *topic["subscribers"]) for topic in found["topics"]} == {*zip(components, components[1:]), (components[39],)}
    (chain,) = found["chains"]
    assert chain["path"][::2] == components


def test_what_is_no_run_is_said(tacho):
    assert "nowhere: no such directory" in tacho("top", "nowhere", "--once", expect=2).stderr
    (tacho.directory / "empty").mkdir()
    assert "empty: no run.json in it" in tacho("top", "empty", "--once", expect=2).stderr
    tacho("record", "-o", "run", "--", "true")
    assert "--once" in tacho("top", "run", expect=2).stderr
