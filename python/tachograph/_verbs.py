"""The verbs of the command as calls. Each runs the packaged `tacho`; options are those of the command line."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ._command import program
from .errors import CommandFailed, TachographError, VersionMismatch

if TYPE_CHECKING:
    import pyarrow as pa

    from ._run import Run

Words = Sequence[str | os.PathLike[str]]


@cache
def _checked(command: Path) -> str:
    """The command, whose version must be that of this package."""
    from . import __version__

    said = subprocess.run([command, "--version"], capture_output=True, text=True)
    if said.returncode != 0:
        raise CommandFailed(["--version"], said.returncode, said.stderr)
    found = said.stdout.split()[-1]
    if found != __version__:
        raise VersionMismatch(f"{command} is version {found}, expected {__version__}, the version of this package")
    return os.fspath(command)


def command(*words: str | os.PathLike[str]) -> list[str]:
    """The command line of `tacho` with these words."""
    return [_checked(program()), *(os.fspath(word) for word in words)]


def tacho(*words: str | os.PathLike[str], accept: Sequence[int] = (0,)) -> subprocess.CompletedProcess[str]:
    """Runs `tacho` with these words and returns what it printed; `CommandFailed` if its exit code is not accepted."""
    done = subprocess.run(command(*words), capture_output=True, text=True)
    if done.returncode not in accept:
        raise CommandFailed([os.fspath(word) for word in words], done.returncode, done.stderr)
    return done


def _opened(path: str | os.PathLike[str]) -> Run:
    from ._run import Run

    return Run(path)


def _new_run(name: str) -> Path:
    """The path of a run as tacho chooses it: runs/NAME-DATE-TIME."""
    base = Path("runs") / f"{Path(name).name or 'run'}-{time.strftime('%Y%m%d-%H%M%S')}"
    taken = 1
    path = base
    while path.exists():
        taken += 1
        path = base.with_name(f"{base.name}-{taken}")
    return path


def _children(pid: int) -> list[int]:
    """The children of a process; none when it has ended."""
    found: list[int] = []
    for path in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            found += map(int, path.read_text().split())
        except OSError:
            pass  # that thread has ended meanwhile
    return found


def _signal(pid: int, number: signal.Signals) -> None:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass  # it has ended meanwhile


class Recording:
    """A recording that goes on. Made by `recording`; `run` is there when it has ended."""

    def __init__(self, process: subprocess.Popen[str], out: Path, said: Any, patience_s: float):
        self._process = process
        self._patience_s = patience_s
        self._said = said
        #: Where the run is written.
        self.out = out
        #: Exit code of the recorded program; None while it runs.
        self.exit_code: int | None = None

    def wait(self, timeout: float | None = None) -> Run:
        """Waits for the end of the program, and of the analysis that follows."""
        self.exit_code = self._process.wait(timeout)
        if not (self.out / "run.json").is_file():
            self._said.seek(0)
            raise CommandFailed(["record"], self.exit_code, self._said.read())
        return self.run

    def end(self) -> Run:
        """Ends the program as ^C does, and waits. If it does not end, it gets SIGTERM, and then SIGKILL."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)  # tacho passes it on
        for harder in (signal.SIGTERM, signal.SIGKILL):
            until = time.monotonic() + self._patience_s
            while self._process.poll() is None and (programs := _children(self._process.pid)):
                if time.monotonic() > until:
                    for pid in programs:
                        _signal(pid, harder)
                    break
                time.sleep(0.02)
        return self.wait()

    @property
    def run(self) -> Run:
        """The run; an error while the recording goes on."""
        if self._process.poll() is None:
            raise TachographError(f"{self.out}: the recording goes on; its run is there when it has ended")
        return _opened(self.out)


@contextmanager
def recording(
    program_and_arguments: Words,
    out: str | os.PathLike[str] | None = None,
    *,
    options: Words = (),
    cwd: str | os.PathLike[str] | None = None,
    env: Mapping[str, str] | None = None,
    patience_s: float = 10,
) -> Iterator[Recording]:
    """Records a program while the block runs, and ends it as ^C does when the block ends.

    A program that does not end within `patience_s` gets SIGTERM, and after the same time SIGKILL.
    `options` are those of `tacho record`, such as `["--scheduler", "auto"]`. The program's output goes where this
    process has its own; what `tacho` itself says is kept for the error, if there is one.

        with tachograph.recording(["ros2", "launch", "my_car", "car.launch.py"]) as recording:
            time.sleep(10)
        recording.run.verdict()
    """
    path = Path(out) if out is not None else Path(cwd or ".") / _new_run(os.fspath(program_and_arguments[0]))
    words = command("record", "-o", path.absolute(), *options, "--", *program_and_arguments)
    with tempfile.TemporaryFile("w+") as said:
        process = subprocess.Popen(words, cwd=cwd, env=env, text=True, stderr=said)
        going = Recording(process, path.absolute(), said, patience_s)
        try:
            yield going
        finally:
            going.end()


def record(
    program_and_arguments: Words,
    out: str | os.PathLike[str] | None = None,
    *,
    seconds: float | None = None,
    options: Words = (),
    cwd: str | os.PathLike[str] | None = None,
    env: Mapping[str, str] | None = None,
    patience_s: float = 10,
) -> Run:
    """Records a program to its end, or ends it as ^C does after `seconds`, and returns the run.

    The program is neither rebuilt nor changed (docs/record.md). One that does not end within further `patience_s` gets
    SIGTERM, and after the same time SIGKILL. `out` is the run directory to write; without it, tacho's
    own choice: runs/NAME-DATE-TIME. How the program ended is in `run.info["processes"]`.
    """
    with recording(program_and_arguments, out, options=options, cwd=cwd, env=env, patience_s=patience_s) as going:
        if seconds is None:
            return going.wait()
        try:
            return going.wait(seconds)
        except subprocess.TimeoutExpired:
            return going.end()


def bench(workload: str | os.PathLike[str], out: str | os.PathLike[str] | None = None, *, options: Words = ()) -> Run:
    """Runs a workload, or a sweep, on real middleware (docs/bench.md), and returns its run."""
    path = Path(out) if out is not None else _new_run(Path(workload).stem)
    tacho("bench", workload, "-o", path, *options)
    return _opened(path)


def import_(traces: str | os.PathLike[str] | Words, out: str | os.PathLike[str] | None = None) -> Run:
    """Reads a trace of ros2_tracing or CARET, or a bag, into a run (docs/import.md)."""
    several = [traces] if isinstance(traces, (str, os.PathLike)) else list(traces)
    path = Path(out) if out is not None else _new_run(Path(several[0]).stem)
    tacho("import", *several, "-o", path)
    return _opened(path)


def explain(run: str | os.PathLike[str], *options: str) -> str:
    """The text of `tacho explain` (docs/explain.md). That a limit was not kept is no error: the text says so."""
    done = tacho("explain", run, *options, accept=(0, 1))
    return done.stdout + done.stderr


def simulate(
    workload: str | os.PathLike[str],
    out: str | os.PathLike[str] | None = None,
    *,
    set: Mapping[str, Any] | None = None,  # noqa: A002
    options: Words = (),
) -> Run:
    """Runs a workload, or a run again, in virtual time (docs/simulate.md), and returns the simulated run.

    `set` changes values of the workload: `{"control.on": "arrival", "/points.depth": 1}`.
    """
    path = Path(out) if out is not None else _new_run(f"{Path(workload).stem}-simulated")
    changes = [word for name, value in (set or {}).items() for word in ("--set", f"{name}={value}")]
    tacho("simulate", workload, "-o", path, *changes, *options)
    return _opened(path)


def report(runs: Words, out: str | os.PathLike[str] | None = None) -> Path:
    """Writes one page about one or more runs (docs/report.md), and returns its path."""
    path = Path(out) if out is not None else Path(runs[0]) / "report.html"
    tacho("report", *runs, "-o", path)
    return path


def export(run: str | os.PathLike[str], to: str, out: str | os.PathLike[str]) -> Path:
    """Writes a run for another tool (docs/export.md), and returns the path."""
    tacho("export", run, "--to", to, "-o", out)
    return Path(out)


class Comparison:
    """Figures of runs before beside those of runs after (docs/compare.md). Made by `compare`."""

    def __init__(self, found: Mapping[str, Any]):
        #: What `tacho compare --json` prints of the comparison.
        self.found = found

    def __repr__(self) -> str:
        counts = ", ".join(f"{len(self.names(verdict))} {verdict}" for verdict in ("worse", "better", "undecided"))
        return f"<Comparison of {self.found['runs_before']} and {self.found['runs_after']} runs: {counts}>"

    def names(self, verdict: str) -> list[str]:
        """The figures with this verdict, `worse`, `better`, `undecided`, `unchanged` or `not_judged`, by name."""
        return [_named(figure) for figure in self.found["figures"] if figure["verdict"] == verdict]

    @property
    def worse(self) -> list[str]:
        """The figures that are worse."""
        return self.names("worse")

    @property
    def better(self) -> list[str]:
        """The figures that are better."""
        return self.names("better")

    def figures(self) -> pa.Table:
        """A row a figure, worse first, as `tacho compare --json` has them.

        Columns: `name`, `verdict`, `unit`, `change_percent`, `p` and the others; `before` and `after` hold the value of
        each run.
        """
        import pyarrow as pa

        rows = [{"name": _named(figure)} | figure for figure in self.found["figures"]]
        return pa.Table.from_batches([pa.RecordBatch.from_struct_array(pa.array(rows))]) if rows else pa.table({})


def _named(figure: Mapping[str, Any]) -> str:
    subject = figure["subject"]
    about = " ".join(str(subject[key]) for key in ("kind", "name") if subject.get(key)) if subject else ""
    return f"{about} {figure['figure']}".strip()


def compare(before: Words, after: Words, *, options: Words = ()) -> Comparison:
    """Compares two sides of runs, figure by figure (docs/compare.md): the run is the unit, so give several a side.

    That something is worse is no error: `comparison.worse` names it. `options` are those of the command line, such as
    `["--only", "chain braking", "--matters", "5%"]`.
    """
    done = tacho("compare", *before, *options, "--json", "--", *after, accept=(0, 1))
    return Comparison(json.loads(done.stdout)["comparison"])


def expectations(run: str | os.PathLike[str], limits: Mapping[str, str]) -> list[dict[str, Any]]:
    """Holds a run against limits (docs/compare.md, "expectations"): for each, its `text` and whether it is `kept`."""
    # JSON is YAML, and quotes what a limit may begin with.
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        file.write(json.dumps(dict(limits)))
        file.flush()
        done = tacho("compare", run, "--expect", file.name, "--json", accept=(0, 1))
    found: list[dict[str, Any]] = json.loads(done.stdout)["expectations"]
    return found


#: Prints its environment for the recorder as a line of JSON, and waits until its input is closed.
HOLDER = "import json, os, sys; print(json.dumps(dict(os.environ)), flush=True); sys.stdin.read()"


@contextmanager
def recorded_environment(out: str | os.PathLike[str], *, options: Words = ()) -> Iterator[dict[str, str]]:
    """Records every process that is started with these variables while the block runs: no command line to write.

    The processes must end inside the block. The run is at `out` after it.
    """
    words = command("record", "-o", Path(out).absolute(), *options, "--", sys.executable, "-c", HOLDER)
    with tempfile.TemporaryFile("w+") as said:
        pipe = subprocess.PIPE
        holder = subprocess.Popen(words, text=True, stdin=pipe, stdout=pipe, stderr=said)
        assert holder.stdin and holder.stdout
        line = holder.stdout.readline()
        try:
            if line:
                found = json.loads(line)
                yield {name: value for name, value in found.items() if os.environ.get(name) != value}
        finally:
            holder.stdin.close()
            code = holder.wait()
            holder.stdout.close()
        if not line or code != 0:
            said.seek(0)
            raise CommandFailed(["record"], code, said.read())
