"""`tacho doctor` on this machine, and on machines that are broken on purpose."""

import json
import os
import pty
import shutil

import pytest
from places import ROOT

NEEDED = {"recorder", "recording", "node-program", "middleware-ros2"}
BUILD = ROOT / "build"


def findings(text):
    return {finding["name"]: finding for finding in json.loads(text)["findings"]}


@pytest.fixture
def home(tacho):
    """A copy of the build in which to break things; plugins and the recorder are copies, the rest are links."""
    home = tacho.directory / "home"
    (home / "lib").mkdir(parents=True)
    for library in (BUILD / "lib").iterdir():
        (shutil.copytree if library.is_dir() else shutil.copy)(library, home / "lib" / library.name)
    (home / "tacho-node").symlink_to(BUILD / "tacho-node")
    (home / "venv").symlink_to(BUILD / "venv")
    tacho.environment["TACHO_HOME"] = str(home)
    return home


def test_what_was_built_here_works(tacho):
    found = findings(tacho("doctor", "--json").stdout)
    assert {name for name, finding in found.items() if finding["needed"]} == NEEDED
    assert {found[name]["verdict"] for name in NEEDED} == {"ok"}
    for plugin in (BUILD / "lib").glob("libtacho_*"):
        name = plugin.name.removeprefix("libtacho_").split(".")[0]
        # Libraries of tasks, and what runs them, are no middleware; `tacho check` loads them (test_tasks.py).
        is_middleware = not name.startswith(("recorder", "tasks_", "node_tasks"))
        assert (f"middleware-{name}" in found) == is_middleware
    assert "rcl " in found["middleware-ros2"]["found"]


def test_every_finding_that_is_not_ok_says_what_it_costs_and_what_mends_it(tacho):
    for finding in findings(tacho("doctor", "--json").stdout).values():
        if finding["verdict"] in ("costs", "broken"):
            assert finding["cost"] and finding["mend"], finding
        else:
            assert "cost" not in finding, finding


def test_what_boards_lack_is_said_and_nothing_else_needs_it(tacho, home):
    tacho.environment["PATH"] = str(home)
    found = findings(tacho("doctor", "--json").stdout)
    for name, mend in (
        ("emulator", "apt-get install qemu-system-arm"),
        ("image", "make micro"),
        ("compiler", "apt-get install gcc-arm-none-eabi"),
    ):
        finding = found[f"board-{name}"]
        assert finding["verdict"] == "costs" and finding["mend"][0].startswith(mend), finding


def test_the_text_is_at_most_100_columns_wide_and_aligned(tacho):
    lines = tacho("doctor").stdout.splitlines()
    assert max(map(len, lines)) <= 100
    first = [line for line in lines if line.split(" ")[0] in ("ok", "costs", "broken", "unknown")]
    assert len(first) == len(findings(tacho("doctor", "--json").stdout))
    assert {line[8] for line in first} == {" "} and " " not in {line[9] for line in first}


def test_facts_are_those_of_the_machine(tacho):
    found = findings(tacho("doctor", "--json").stdout)
    assert os.uname().release in found["preemption"]["found"]
    assert f"{len(os.sched_getaffinity(0))} of " in found["cpus"]["found"]


def test_an_installation_without_recorder_is_broken(tacho, home):
    (home / "lib" / "libtacho_recorder.so").unlink()
    found = findings(tacho("doctor", "--json", expect=1).stdout)
    assert found["recorder"]["verdict"] == "broken"
    assert found["recording"]["verdict"] == "unknown"


def test_a_recorder_that_cannot_be_preloaded_is_found_by_trying(tacho, home):
    (home / "lib" / "libtacho_recorder.so").write_bytes(b"no library")
    done = tacho("doctor", "--json", expect=1)
    recording = findings(done.stdout)["recording"]
    assert recording["verdict"] == "broken" and "do not begin as a 64-bit ELF file" in recording["found"]
    assert "recording" in tacho("doctor", expect=1).stdout.splitlines()[-1]


def test_a_plugin_that_was_left_out_says_how_to_get_it(tacho, home):
    (home / "lib" / "libtacho_imaginary.missing").write_text("install imaginary-dev\n")
    found = findings(tacho("doctor", "--json").stdout)["middleware-imaginary"]
    assert found["verdict"] == "costs" and found["mend"][0] == "install imaginary-dev"


def test_a_broken_plugin_matters_where_it_is_needed(tacho, home):
    (home / "lib" / "libtacho_imaginary.so").write_bytes(b"no library")
    found = findings(tacho("doctor", "--json").stdout)["middleware-imaginary"]
    assert found["verdict"] == "broken" and not found["needed"]

    (home / "lib" / "libtacho_ros2.so").write_bytes(b"no library")
    assert findings(tacho("doctor", "--json", expect=1).stdout)["middleware-ros2"]["verdict"] == "broken"
    allowed = tacho("doctor", "--json", "--allow", "middleware-ros2")
    assert "middleware-ros2" not in findings(allowed.stdout)


def test_a_plugin_that_ends_its_process_does_not_end_the_doctor(tacho, home):
    source = tacho.directory / "aborts.c"
    source.write_text("#include <stdlib.h>\n__attribute__((constructor)) static void aborts(void) { abort(); }\n")
    assert os.system(f"cc -shared -fPIC -o {home / 'lib' / 'libtacho_aborts.so'} {source}") == 0
    found = findings(tacho("doctor", "--json").stdout)
    assert found["middleware-aborts"]["verdict"] == "broken" and "signal 6" in found["middleware-aborts"]["found"]
    assert found["middleware-ros2"]["verdict"] == "ok"


def test_an_rmw_that_is_not_there_is_named(tacho):
    tacho.environment["RMW_IMPLEMENTATION"] = "rmw_imaginary_cpp"
    found = findings(tacho("doctor", "--json", "--allow", "middleware-ros2").stdout)["rmw-implementation"]
    assert found["verdict"] == "broken" and "rmw_imaginary_cpp" in found["found"]


def test_a_lint_that_there_is_not_cannot_be_allowed(tacho):
    done = tacho("doctor", "--allow", "recoder", expect=2)
    assert "recoder" in done.stderr and "recorder" in done.stderr and done.stdout == ""


@pytest.mark.parametrize("no_colour", [True, False])
def test_colour_is_for_terminals_that_want_it(tacho, no_colour):
    tacho.environment.pop("NO_COLOR", None)
    if no_colour:
        tacho.environment["NO_COLOR"] = "1"
    reading, writing = pty.openpty()
    pid = os.fork()
    if pid == 0:
        os.dup2(writing, 1)
        os.execve(tacho.program, [str(tacho.program), "doctor"], tacho.environment)
    os.close(writing)
    text = b""
    try:
        while part := os.read(reading, 4096):
            text += part
    except OSError:
        pass  # EIO: the terminal's other end is closed
    os.close(reading)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert (b"\x1b[" in text) != no_colour
