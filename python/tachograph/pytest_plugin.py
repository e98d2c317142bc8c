"""Records what a test runs, and asserts on its chains. pytest loads this plugin where the package is installed.

    def test_the_car_brakes_in_time(recorded):
        run = recorded(["ros2", "launch", "my_car", "car.launch.py"], seconds=10)
        run.chain("sensor to brake").expect(reaction="< 150 ms")

    def test_no_message_is_lost(recorded_processes):
        with recorded_processes() as recording:
            ...  # every process that is started here is recorded
        recording.run.expect({"loss": "0 %"})

A test that fails shows the verdict of its runs. `--tachograph-runs FOLDER`, or the variable TACHOGRAPH_RUNS where
another program calls pytest, keeps the runs there; without it they lie in the test's `tmp_path`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from ._run import Run

#: The runs of each test, by its item.
RUNS = pytest.StashKey[list[Path]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("tachograph")
    group.addoption(
        "--tachograph-runs",
        metavar="FOLDER",
        help="keep the runs that tests record here, a folder for each test [default: TACHOGRAPH_RUNS]",
    )


class Places:
    """Where the runs of one test go."""

    def __init__(self, request: pytest.FixtureRequest, tmp_path: Path):
        kept = request.config.getoption("--tachograph-runs") or os.environ.get("TACHOGRAPH_RUNS")
        named = re.sub(r"[^\w.-]+", "_", request.node.nodeid).strip("_")
        self.folder = Path(kept).absolute() / named if kept else tmp_path
        self.runs: list[Path] = request.node.stash.setdefault(RUNS, [])

    def next(self) -> Path:
        """The path of another run."""
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / f"run-{len(self.runs)}"
        self.runs.append(path)
        return path


@pytest.fixture
def _tachograph_places(request: pytest.FixtureRequest, tmp_path: Path) -> Places:
    return Places(request, tmp_path)


@pytest.fixture
def recorded(_tachograph_places: Places) -> Callable[..., Run]:
    """Records a program as `tachograph.record` does, and returns the run: `recorded(command, seconds=10)`."""

    def of(command: Sequence[str], **options: Any) -> Run:
        from ._verbs import record

        return record(command, _tachograph_places.next(), **options)

    return of


class ProcessesRecording:
    """The processes that a block started. `run` is there after the block."""

    def __init__(self, path: Path):
        self.path = path

    @property
    def run(self) -> Run:
        from ._run import Run

        return Run(self.path)


@pytest.fixture
def recorded_processes(_tachograph_places: Places, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Records every process that is started inside a `with` block, whoever starts it: subprocess, launch, a library.

    The processes must end inside the block. Nodes in the test's own process are not recorded, because the recorder is
    loaded when a process starts.
    """

    @contextmanager
    def of(**options: Any) -> Iterator[ProcessesRecording]:
        from ._verbs import recorded_environment

        path = _tachograph_places.next()
        with recorded_environment(path, **options) as environment, monkeypatch.context() as patch:
            for name, value in environment.items():
                patch.setenv(name, value)
            yield ProcessesRecording(path)

    return of


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    outcome: Any = yield
    report = outcome.get_result()
    if report.when == "call" and report.failed:
        for path in item.stash.get(RUNS, []):
            report.sections.append((f"tachograph: {path}", _said(path)))


def _said(path: Path) -> str:
    """The verdict of a run, or why there is none: a report must not fail."""
    from ._run import Run
    from .errors import TachographError

    try:
        verdict = Run(path).verdict()
    except TachographError as error:
        return str(error)
    if verdict is None:
        return "it has no verdict"
    return "\n".join([verdict.text, *(f"{culprit['text']} {culprit['next']}" for culprit in verdict.culprits)])
