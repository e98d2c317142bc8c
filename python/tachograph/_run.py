"""A run directory: its tables, its figures, and the verbs of the command on it."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from . import _read, _verbs
from ._chain import Chain
from ._columns import tables
from ._tables import Tables
from .errors import ExpectationFailed, NoSuchName, NoTables, NotARun, TornTable


@dataclass(frozen=True)
class Verdict:
    """What a run shows first: the chain that matters, how late it is, and what is to blame (docs/explain.md)."""

    #: One sentence: how late and how often; or that nothing stands out.
    text: str
    #: Name of the chain that it is about; None where no chain can be followed.
    chain: str | None = None
    #: Its path: node, topic, node ... node.
    path: list[str] = field(default_factory=list)
    #: Its instances, and those that took longer than `late_above_ms`.
    instances: int = 0
    late_instances: int = 0
    late_above_ms: float | None = None
    #: The deadline that somebody stated.
    deadline_ms: float | None = None
    #: Median and longest end-to-end time.
    usual_ms: float | None = None
    worst_ms: float | None = None
    #: What is to blame, most important first, each as `summary.json` has it: `text`, `next`, `share_percent`, ...
    culprits: list[dict[str, Any]] = field(default_factory=list)

    @classmethod
    def of(cls, found: Mapping[str, Any]) -> Verdict:
        """Takes the fields that this version knows."""
        known = {known.name for known in fields(cls)}
        return cls(**{name: value for name, value in found.items() if name in known})


class Run(Tables):
    """A run directory. Made by `tachograph.open`. Nothing here ever changes it, except `report`, which adds a page.

    Every table is a `pyarrow.Table`: `.to_pandas()` and `polars.from_arrow` take it. The metadata of each field of its
    schema has the unit (`unit`), the meaning (`description`), and the table to whose rows it refers (`rows_of`).
    Times are ns of CLOCK_MONOTONIC, durations are ns. Absent (null) is *not measured*, never zero.
    """

    def __init__(self, path: str | os.PathLike[str]):
        #: Where it is.
        self.path = _run_directory(Path(path))

    def __repr__(self) -> str:
        return f"<Run {self.path}>"

    def __fspath__(self) -> str:
        return str(self.path)

    @cached_property
    def info(self) -> dict[str, Any]:
        """`run.json`: what ran, on which machine, how each process ended (docs/run-directory.md)."""
        return _json(self.path / "run.json")

    @property
    def version(self) -> str:
        """The version of tacho that wrote it."""
        return self.info.get("tacho_version") or "(unknown)"

    @cached_property
    def summary(self) -> dict[str, Any]:
        """`summary.json`: the figures (docs/figures.md). A run without the file is analysed in memory."""
        path = self.path / "summary.json"
        return _json(path) if path.is_file() else json.loads(_verbs.tacho("explain", self.path, "--json").stdout)

    def table(self, name: str, *, names: bool = True, columns: Sequence[str] | None = None) -> pa.Table:
        """Reads the table of this name (docs/tables.md).

        `columns` reads these alone, which is quicker. With `names`, a column that refers to a row of another table is
        followed by the names of what it refers to: `callback` by `callback_node` and `callback_name`.
        """
        folder = self.path / "tables"
        if not folder.is_dir():
            raise NoTables(self._why_no_tables())
        found = _read.read(folder / f"{name}.parquet", name, columns, self.version)
        return _read.with_names(found, self) if names else found

    def rows(
        self, name: str, key: str, values: pa.Array | pa.ChunkedArray, *, columns: Sequence[str] | None = None
    ) -> pa.Table:
        """Reads the rows of a table whose column `key` has one of these values, such as those of some `row_id`."""
        read = columns if columns is None or key in columns else [*columns, key]
        found = self.table(name, names=False, columns=read)
        found = found.filter(pc.is_in(found.column(key), value_set=values))
        return _read.with_names(found if columns is None else found.select(list(columns)), self)

    def table_names(self) -> list[str]:
        """The names of all tables, in the order of docs/tables.md."""
        return list(tables())

    def chain(self, name: str | None = None, *, path: Sequence[str] | None = None) -> Chain:
        """The chain of this name; without one, the critical chain. `path` chooses between chains of one name."""
        rows = self.chains(names=False).to_pylist()
        if name is None and path is None:
            fits = [row for row in rows if row["critical"]] or (rows if len(rows) == 1 else [])
        else:
            named = [row for row in rows if name in (None, row["name"])]
            # The verdict writes "/sensor to /brake" of the chain "sensor to brake".
            named = named or [row for row in rows if _bare(name or "") == _bare(row["name"])]
            fits = [row for row in named if path is None or list(path) == row["path"]]
        if len(fits) == 1:
            return Chain(self, fits[0])
        about = "the critical one" if name is None else f"called {name}"
        if fits:
            paths = "\n".join(f"  path={row['path']}" for row in fits)
            raise NoSuchName(f"{len(fits)} chains of {self.path} are {about}; name one by its path:\n{paths}")
        there = ", ".join(sorted({row["name"] for row in rows})) or "none"
        raise NoSuchName(f"no chain of {self.path} is {about}; there are: {there}")

    def verdict(self) -> Verdict | None:
        """What stands out; None for a sweep, which has a verdict in each of its points."""
        found = self.summary.get("verdict")
        return None if found is None else Verdict.of(found)

    def findings(self) -> pa.Table:
        """What lints found (docs/lints.md): a row a case, the worst of each lint first.

        Columns:
            lint (text): Name of the lint.
            finds (text): What it finds.
            subject (text): What the case is about: a subscription, a callback, a thread, a chain.
            evidence (text): Figures with units.
            cost (text): What it costs.
            next (text): What to try next.
            by (text, or absent): The callback that delays the subject, if the lint finds one.
            delay_ms (double, ms, or absent): By how much in all.
        """
        texts = ("lint", "finds", "subject", "evidence", "cost", "next", "by")
        schema = pa.schema(
            [pa.field(name, pa.string()) for name in texts]
            + [pa.field("delay_ms", pa.float64(), metadata={"unit": "ms"})]
        )
        rows = [
            {"lint": finding["lint"], "finds": finding["finds"], **case}
            for finding in self.summary.get("findings") or []
            for case in finding["cases"]
        ]
        return pa.Table.from_pylist(rows, schema=schema)

    def figures(self, kind: str) -> pa.Table:
        """The figures of one kind as a table: a row an entry of that list of `summary.json`, such as `topics`.

        Kinds are `points`, `callbacks`, `topics`, `chains`, `executors` and the other lists of docs/figures.md. Names
        of columns end in their units. A distribution has a column for each of its figures: `latency_us.p99`.
        """
        entries = self.summary.get(kind)
        if not isinstance(entries, list):
            kinds = [name for name, value in self.summary.items() if isinstance(value, list)]
            raise NoSuchName(f"{self.path} has no figures of {kind}; it has: {', '.join(kinds)}")
        if not entries:
            return pa.table({})
        array = pa.array(entries)
        found = pa.Table.from_batches([pa.RecordBatch.from_struct_array(array)])
        while any(pa.types.is_struct(column.type) for column in found.schema):
            found = found.flatten()
        return found

    @cached_property
    def repeats(self) -> list[Run]:
        """Its repeats, each a run; none if it ran once."""
        return [Run(path) for path in _numbered(self.path / "repeats")]

    @cached_property
    def points(self) -> list[Run]:
        """The points of a sweep, each a run, in the order of the workload file; none for a single run. Those that were
        not run are left out."""
        return [Run(path) for path in _numbered(self.path / "points")]

    @property
    def realtime_offset_ns(self) -> int | None:
        """Add it to a time of the tables to get ns since 1970, at the start of the run; None if it is not known."""
        return self.info.get("realtime_offset_ns")

    def compare(self, *others: str | os.PathLike[str], **options: Any) -> _verbs.Comparison:
        """Compares this run, as the one before, with others after: `tachograph.compare([self], others)`."""
        return _verbs.compare([self], others, **options)

    def expect(self, limits: Mapping[str, str]) -> None:
        """Raises `ExpectationFailed`, an AssertionError, unless the run keeps these limits (docs/compare.md).

        `run.expect({"loss": "0 %", "topic /points latency p99": "< 2 ms"})`. What was not measured keeps no limit.
        """
        outcomes = _verbs.expectations(self, limits)
        broken = [outcome["text"] for outcome in outcomes if not outcome["kept"]]
        if broken:
            raise ExpectationFailed(self.path, broken)

    def explain(self, *options: str) -> str:
        """The text of `tacho explain`; options are those of the command line, `run.explain("--all")`."""
        return _verbs.explain(self, *options)

    def report(self, out: str | os.PathLike[str] | None = None) -> Path:
        """Writes the page of the run, and returns its path."""
        return _verbs.report([self], out)

    def export(self, to: str, out: str | os.PathLike[str]) -> Path:
        """Writes the run for another tool: `to` is `perfetto`, `mcap` or `csv` (docs/export.md)."""
        return _verbs.export(self, to, out)

    def simulate(self, out: str | os.PathLike[str] | None = None, **options: Any) -> Run:
        """Runs its workload again in virtual time: `tachograph.simulate(self, ...)`."""
        return _verbs.simulate(self, out, **options)

    def _why_no_tables(self) -> str:
        for kind, several in (("points", "is a sweep"), ("repeats", "has repeats")):
            found = _numbered(self.path / kind)
            if found:
                return (
                    f"{self.path} {several} and has no tables of its own: read those of {kind}[0] to [{len(found) - 1}]"
                )
        return (
            f"{self.path} has no tables: it was cut short before its analysis; `tacho report {self.path}` completes it"
        )


def open(path: str | os.PathLike[str]) -> Run:  # noqa: A001
    """Opens a run directory, such as `runs/latest`. An error says what is there if it is none."""
    return Run(path)


def _run_directory(path: Path) -> Path:
    if (path / "run.json").is_file():
        return path
    if not path.exists():
        raise NotARun(f"{path}: there is nothing; expected a run directory, which tacho record or tacho bench writes")
    if not path.is_dir():
        raise NotARun(f"{path}: a file; expected a run directory, a folder with run.json")
    inside = sorted(entry.name for entry in path.iterdir() if (entry / "run.json").is_file())
    if inside:
        raise NotARun(f"{path}: a folder of runs; expected one of them: {_some(inside)}")
    raise NotARun(f"{path}: has no run.json; expected a run directory, which tacho record or tacho bench writes")


def _bare(name: str) -> str:
    """A name of a chain without the slashes with which names of nodes begin."""
    return " ".join(word.removeprefix("/") for word in name.split())


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - 10} more" if len(names) > 10 else ""
    return ", ".join(names[:10]) + more


def _numbered(folder: Path) -> list[Path]:
    """The runs of a folder whose names begin with a number, in the order of these numbers."""
    if not folder.is_dir():
        return []
    found = [entry for entry in folder.iterdir() if (entry / "run.json").is_file()]
    numbered = [entry for entry in found if entry.name.partition("-")[0].isdigit()]
    return sorted(numbered, key=lambda entry: int(entry.name.partition("-")[0]))


def _json(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_bytes())
    except ValueError as error:
        raise TornTable(f"{path}: no whole JSON file: {error}") from error
    if not isinstance(found, dict):
        raise TornTable(f"{path}: holds {type(found).__name__}, expected an object")
    return found
