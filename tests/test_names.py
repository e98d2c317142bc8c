"""The function of a callback and its place in the source are the same in every output."""

import json
import os
import pty
import struct
from fcntl import ioctl
from termios import TIOCSWINSZ

import pyarrow.parquet as parquet
import pytest
from places import PROGRAMS

PROGRAM = PROGRAMS / "resting_nodes.py"
FUNCTIONS = {
    "Worker.reload_map": "timer 100 ms",
    "Worker.write_log": "timer 100 ms",
    "Worker.on_scan": "/scans",
    "Sensor.scan": "timer 200 ms",
    "Driver.on_plan": "/plan",
}


def line_of(function):
    """Number of the first line of a function, with its decorator, as Python counts."""
    own = function.split(".")[1]
    lines = PROGRAM.read_text().splitlines()
    (number,) = (i for i, line in enumerate(lines, 1) if line.strip().startswith(f"def {own}("))
    return number - 1 if lines[number - 2].strip().startswith("@") else number


@pytest.fixture
def recorded(tacho, ros_python):
    tacho("record", "-o", "run", "--", ros_python, PROGRAM, 10)
    return tacho


def test_a_function_and_its_line_are_the_same_in_text_json_page_and_parquet(recorded):
    expected = {function: f"{PROGRAM}:{line_of(function)}" for function in FUNCTIONS}
    tables = recorded.directory / "run/tables"
    rows = parquet.read_table(tables / "callbacks.parquet").to_pylist()
    of_parquet = {row["function"]: row["location"] for row in rows if row["function"] in FUNCTIONS}
    assert of_parquet == expected
    assert all(
        row["symbol"] == f"{row['function']} ({row['location']})" for row in rows if row["function"] in FUNCTIONS
    )

    summary = recorded.json("explain", "run")
    assert {c["function"]: c["location"] for c in summary["callbacks"] if c.get("function") in FUNCTIONS} == expected

    recorded("report", "run", "-o", "page.html")
    page = (recorded.directory / "page.html").read_text().split('id="tacho-data">')[1].split("</script>")[0]
    (run,) = json.loads(page)["runs"]
    of_page = {c["function"]: c["location"] for c in run["summary"]["callbacks"] if c.get("function") in FUNCTIONS}
    assert of_page == expected

    text = recorded("explain", "run").stdout
    for function in FUNCTIONS:
        assert f"\n  {function} ({PROGRAM.name}:{line_of(function)})\n" in text, text


def test_causes_name_the_function_and_the_two_timers_of_one_period_are_two(recorded):
    summary = recorded.json("explain", "run")
    names = {
        function: f"/{function.split('.')[0].lower()} {what} {function} ({PROGRAM.name}:{line_of(function)})"
        for function, what in FUNCTIONS.items()
    }
    causes = parquet.read_table(recorded.directory / "run/tables/causes.parquet").to_pylist()
    by = {cause["by"] for cause in causes if cause["kind"] in ("computation", "off_cpu", "executor_busy")}
    assert names["Worker.on_scan"] in by and by <= set(names.values())
    timers = [c for c in summary["callbacks"] if c.get("node") == "/worker" and c.get("period_ms") == 100]
    assert {c["function"] for c in timers} == {"Worker.reload_map", "Worker.write_log"}
    work = {c["function"]: c["duration_us"]["median"] for c in timers}
    assert work["Worker.reload_map"] > 2 * work["Worker.write_log"]


def on_terminal(tacho, columns, *arguments):
    """The output of a verb on a terminal with this many columns."""
    controller, terminal = pty.openpty()
    ioctl(terminal, TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    process = tacho.start(*arguments, stdout=terminal)
    os.close(terminal)
    printed = b""
    try:
        while read := os.read(controller, 65536):
            printed += read
    except OSError:  # EIO: the other end is closed
        pass
    os.close(controller)
    assert process.wait() == 0
    return printed.decode()


@pytest.mark.parametrize("columns", [60, 80, 120])
def test_no_width_of_a_terminal_cuts_the_name_of_a_function(recorded, columns):
    for arguments in (["explain", "run"], ["explain", "run", "--all"]):
        text = on_terminal(recorded, columns, *arguments)
        for own in (function.split(".")[1] for function in FUNCTIONS):
            assert own in text, f"{arguments}, {columns} columns:\n{text}"
    text = on_terminal(recorded, columns, "top", "run", "--once", "--window", "100s")
    assert all(function.split(".")[1] in text for function in FUNCTIONS), text
