"""Waits for what must happen: until it has, not for a time. The limit only keeps a test from hanging."""

import json
import subprocess
import time
from pathlib import Path

LIMIT_S = 600
"""On a machine that others use, an action of seconds may take minutes."""


def wait_for(condition, what: str, process: subprocess.Popen | None = None):
    """Returns the value of `condition` once it is true. `process` makes it so: if that has ended, waiting fails."""
    deadline = time.monotonic() + LIMIT_S
    while not (found := condition()):
        if process and process.poll() is not None:
            out, err = finished(process)
            raise AssertionError(f"ended with {process.returncode} before {what}\n{out}\n{err}")
        assert time.monotonic() < deadline, f"waited {LIMIT_S} s for {what}"
        time.sleep(0.02)
    return found


def finished(process: subprocess.Popen, input: str | None = None) -> tuple[str, str]:
    """What a process prints on stdout and stderr until it ends. If it does not end, the error contains its output."""
    try:
        return process.communicate(input, timeout=LIMIT_S)
    except subprocess.TimeoutExpired as expired:
        out, err = ((text or b"").decode(errors="replace") for text in (expired.output, expired.stderr))
        raise AssertionError(
            f"not ended, or its output still open, after {LIMIT_S} s: {process.args}\n{out}\n{err}"
        ) from None


def succeeded(process: subprocess.Popen) -> tuple[str, str]:
    """Does the same for a process that must end with exit code 0."""
    out, err = finished(process)
    assert process.returncode == 0, f"exit {process.returncode}, expected 0\n{out}\n{err}"
    return out, err


def wait_for_window(run: Path, process: subprocess.Popen, seconds: float = 0):
    """Waits until `tacho bench` has measured for this long. Returns the beginning, ns of CLOCK_MONOTONIC."""
    file = run / "run.json"
    known = lambda: json.loads(file.read_text()).get("measured_from_ns") if file.is_file() else None  # noqa: E731
    from_ns = wait_for(known, "the beginning of the window", process)
    wait_for(lambda: time.monotonic_ns() > from_ns + seconds * 1e9, f"{seconds} s of the window", process)
    return from_ns
