"""Only a listed test runs again, and only if its failure shows the fault."""

import ast
import re
import subprocess

import pytest
from known_faults import Fault, ctest_names, known_faults
from places import ROOT
from reruns import RUNS_MAX

pytest_plugins = "pytester"

# The session under test has the plugin with a list of its own.
CONFTEST = f"""
import sys
sys.path.insert(0, {str(ROOT / "tests")!r})
from known_faults import Fault
from reruns import Reruns

def pytest_configure(config):
    fault = Fault("Some DDS", "it hangs", pytest=("test_it.py::test_listed",), shows="end of [0-9]+ hung")
    config.pluginmanager.register(Reruns([fault]))
"""

# A test that fails with each of these texts in turn, then passes. It counts its runs, and its fixture counts its
# set-ups.
TESTS = """
import pathlib
import pytest

runs = pathlib.Path("runs")

@pytest.fixture
def made():
    with runs.open("a") as file:
        file.write("x")
    yield len(runs.read_text())

@pytest.mark.parametrize("of", [1])
def test_{name}(made, of):
    failures = {failures!r}
    if made <= len(failures):
        pytest.fail(failures[made - 1])
"""
HUNG = "the end of 12 hung"


@pytest.fixture
def session(pytester):
    """Runs the test `name` with these failures; returns the result and the number of runs."""

    def run(name: str, failures: list[str], *arguments: str):
        pytester.makeconftest(CONFTEST)
        pytester.makepyfile(test_it=TESTS.format(name=name, failures=failures))
        result = pytester.runpytest_subprocess("-p", "no:cacheprovider", *arguments)
        return result, len((pytester.path / "runs").read_text())

    return run


@pytest.mark.parametrize("workers", [[], ["--numprocesses", "1"]], ids=["alone", "xdist"])
def test_a_listed_test_that_shows_the_fault_is_run_again_and_that_is_reported(session, workers):
    result, runs = session("listed", [HUNG, HUNG], *workers)
    assert (result.ret, runs) == (pytest.ExitCode.OK, 3)
    assert result.parseoutcomes()["passed"] == 1
    assert "2 known fault" in result.stdout.str()
    result.stdout.fnmatch_lines(["*met a known fault of Some DDS: test_it.py::test_listed*", f"*{HUNG}*"])


@pytest.mark.parametrize(
    "name, failures, expected_runs",
    [
        ("listed", ["another failure"], 1),
        ("listed", [HUNG, "another failure"], 2),
        ("other", [HUNG], 1),
        ("listed", [HUNG] * RUNS_MAX, RUNS_MAX),
    ],
    ids=["another failure", "another failure behind it", "a test that is not listed", "a fault that stays"],
)
def test_nothing_else_is_excused(session, name, failures, expected_runs):
    result, runs = session(name, failures)
    assert (result.ret, runs) == (pytest.ExitCode.TESTS_FAILED, expected_runs)
    assert result.parseoutcomes()["failed"] == 1
    assert failures[-1] in result.stdout.str()


def test_a_rerun_by_anything_else_fails_the_session(pytester):
    by_another = """
import pytest

@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    report.outcome = "rerun" if report.failed else report.outcome
    return report
"""
    pytester.makeconftest(CONFTEST + by_another)
    pytester.makepyfile("def test_it(): assert False")
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["*::test_it was run again, and no known fault*"])


@pytest.mark.parametrize(
    "lacking", [{"library": ""}, {"cause": ""}, {"pytest": ()}, {"shows": ""}, {"pytest": (), "shows": "", "ctest": ()}]
)
def test_an_entry_that_lacks_something_is_an_error(lacking):
    whole = {"library": "Some DDS", "cause": "it hangs", "pytest": ("test_it.py::test_listed",), "shows": "hung"}
    Fault(**whole)
    with pytest.raises(ValueError, match="needs|need"):
        Fault(**(whole | lacking))


def test_the_tests_of_the_list_exist():
    for fault in known_faults():
        for test in fault.pytest:
            path, *names = test.split("::")
            functions = [
                of.name for of in ast.walk(ast.parse((ROOT / path).read_text())) if isinstance(of, ast.FunctionDef)
            ]
            assert set(names) <= set(functions), test
    asked = ["ctest", "--test-dir", ROOT / "build/native", "--show-only", "-R", ctest_names(known_faults())]
    found = re.findall(r"Test +#\d+: (\S+)", subprocess.run(asked, capture_output=True, text=True, check=True).stdout)
    assert sorted(found) == sorted(name for fault in known_faults() for name in fault.ctest)
