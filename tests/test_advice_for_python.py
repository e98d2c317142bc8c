"""What `tacho` advises for callbacks in Python helps, by the program's own clock."""

import subprocess

import pytest
from places import PROGRAMS

PROGRAM = PROGRAMS / "slow_timer.py"
pytestmark = pytest.mark.timing


@pytest.fixture
def latencies_ms(tacho, ros_python):
    def run(way):
        done = subprocess.run(
            [ros_python, PROGRAM, way], env=tacho.environment, capture_output=True, text=True, timeout=300
        )
        assert done.returncode == 0, done.stderr
        (line,) = [line.split()[1:] for line in done.stdout.splitlines() if line.startswith("latency ")]
        return tuple(float(ms) for ms in line)

    return run


def test_a_callback_that_waits_runs_on_a_thread_of_its_own(tacho, ros_python, latencies_ms):
    tacho("record", "-o", "run", "--", ros_python, PROGRAM, "one_thread")
    first = tacho.json("explain", "run")["verdict"]["culprits"][0]
    assert (first["kind"], first["node"]) == ("executor_busy", "/worker")
    assert "thread or in a process of its own" in first["next"] and "callback group" not in first["next"], first
    _, worst_ms = latencies_ms("one_thread")
    _, own_worst_ms = latencies_ms("own_thread")
    assert own_worst_ms < 0.6 * worst_ms and worst_ms > 50, (worst_ms, own_worst_ms)
