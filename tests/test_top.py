"""`tacho top` on a real system while it is recorded: figures of the last seconds, on a terminal and as JSON."""

import bisect
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
from waiting import LIMIT_S, finished, wait_for

TRACETOOLS = ROOT / "build/native/recorder/tests/kilted/lib/libtracetools.so"


@pytest.fixture
def recorded(tacho, ros_python):
    """The run directory of a recording of a talker at 50 Hz and a listener, which is still running."""
    run = tacho.directory / "run"
    command = ["sh", PROGRAMS / "talk_and_listen.sh", ros_python, 1_000_000, 0.02]
    with open(tacho.directory / "printed", "w") as printed:  # not a pipe: nobody reads it meanwhile
        process = tacho.start("record", "-o", run, "--", *command, stdout=printed)
    wait_for((run / "run.json").exists, "run.json", process)
    yield run


def test_the_last_seconds_as_json(tacho, recorded):
    found = figures_once(
        tacho, recorded, "3s", lambda of: [t for t in of["topics"] if t["topic"] == "/chatter" and t["received"] > 50]
    )
    (topic,) = [t for t in found["topics"] if t["topic"] == "/chatter"]
    assert found["processes"] >= 2 and found["dropped_events"] == 0
    assert found["window_s"] <= 3.01
    # The rate in some window of this length, by the talker's own clock.
    rates = rates_told(tacho.directory / "printed", found["window_s"])
    assert 0.95 * min(rates) <= topic["rate_hz"] <= 1.05 * max(rates)
    # The first message may have come inside the window.
    assert 50 < topic["sent"] <= topic["rate_hz"] * found["window_s"] + 2
    assert topic["latency_us"]["median"] > 0
    assert topic["lost"] == 0


def figures_once(tacho, run, window, there):
    """The output of `tacho top --once`, once it contains what the caller asks for."""
    told = []

    def look():
        process = tacho.start("top", run, "--once", "--json", "--window", window)
        out, _ = finished(process)
        told[:] = [json.loads(out)] if process.returncode == 0 else []
        return told and there(told[0])

    wait_for(look, "figures")
    return told[0]


def rates_told(printed, window_s):
    """Hz in each stretch of a talker's messages that fits the window."""
    lines = [line.split() for line in printed.read_text().splitlines()]
    at = [int(line[2]) / 1e9 for line in lines if len(line) == 3 and line[0] == "published"]
    last = [bisect.bisect_right(at, begin + window_s) - 1 for begin in at]
    return [(end - begin) / (at[end] - at[begin]) for begin, end in enumerate(last) if begin < end]


@pytest.fixture
def on_a_terminal(tacho, recorded):
    """`tacho top` on a terminal of 140 by 30: its process, the terminal's other end, and a function that waits until
    a line begins with a text."""
    controller, terminal = pty.openpty()
    ioctl(terminal, TIOCSWINSZ, struct.pack("HHHH", 30, 140, 0, 0))
    process = subprocess.Popen(
        [str(tacho.program), "top", str(recorded)],
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
        env=tacho.environment | {"TERM": "xterm"},
        start_new_session=True,
    )
    os.close(terminal)
    screen = pyte.Screen(140, 30)
    stream = pyte.ByteStream(screen)

    def wait_for(text, without="\n"):
        limit = time.monotonic() + LIMIT_S
        while not [line for line in screen.display if line.startswith(text)] or [
            line for line in screen.display if line.startswith(without)
        ]:
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
    assert process.wait(timeout=LIMIT_S) == 0


def test_a_terminal_that_goes_ends_it(on_a_terminal):
    """No SIGHUP comes, because the terminal is not the controlling one."""
    process, terminal, wait_for = on_a_terminal
    wait_for("/chatter")
    terminal.close()
    assert process.wait(timeout=LIMIT_S) >= 0, "by itself, not by a signal"


def test_forty_components_of_one_process_are_forty_rows_and_one_chain(tacho):
    command = [sys.executable, PROGRAMS / "components.py", TRACETOOLS, 40, 20]
    run = tacho.directory / "run"
    tacho.start("record", "-o", run, "--", *command)
    found = figures_once(tacho, run, "2s", lambda of: [chain for chain in of["chains"] if chain["instances"] > 10])
    assert found["processes"] == 1
    components = [f"/car/component_{number:02}" for number in range(40)]
    assert sorted(callback["node"] for callback in found["callbacks"]) == components[1:]
    assert {(topic["publishers"][0], *topic["subscribers"]) for topic in found["topics"]} == {
        *zip(components, components[1:]),
        (components[39],),
    }
    (chain,) = found["chains"]
    assert chain["path"][::2] == components


def test_what_is_no_run_is_said(tacho):
    assert "nowhere: no such directory" in tacho("top", "nowhere", "--once", expect=2).stderr
    (tacho.directory / "empty").mkdir()
    assert "empty: no run.json in it" in tacho("top", "empty", "--once", expect=2).stderr
    tacho("record", "-o", "run", "--", "true")
    assert "--once" in tacho("top", "run", expect=2).stderr
