"""Many drives as one dataset: made of runs, traces or simulations on a Dask cluster, queried with SQL.

    from tachograph import fleet

    drives = fleet.build("drives", runs, client=distributed.Client("scheduler:8786"))
    drives.worst("braking")                                 # the runs with the longest end-to-end times
    drives.quantile("end_to_end_ms", 0.99, by="version")    # of all instances of all runs of a version

The dataset is Parquet in hive layout, FOLDER/TABLE/run=ID/part.parquet, and each table has the id as text in its column
`run_id`, too. DuckDB, Polars and Spark read it without this package.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as parquet

from . import _sketch, _verbs
from ._run import Run
from .errors import NoSuchName, NotARun, TachographError

if TYPE_CHECKING:
    import duckdb

#: The tables of the dataset, with what a row is.
TABLES = {
    "runs": "One row a run: its labels, machine, versions, verdict.",
    "chains": "One row a chain of a run, with its figures.",
    "topics": "One row a topic of a run, with its figures.",
    "causes": "One row a cause of late instances of a chain of a run: how often, and how long in all.",
    "distributions": "One row a bucket of a distribution of a run: bucket and count, which add up over runs.",
}


@dataclass(frozen=True)
class Source:
    """Where one run of a fleet comes from."""

    #: A run directory; or a trace or bag, which is imported; or a workload file, which is simulated.
    path: str | os.PathLike[str]
    #: What is known of it, such as `{"version": "1.4.2", "vehicle": "b7"}`: columns of table `runs`.
    labels: Mapping[str, str] = field(default_factory=dict)
    #: Options of `tacho simulate`, such as `["--seed", "7", "--set", "control.on=arrival"]`.
    options: Sequence[str] = ()

    @property
    def run_id(self) -> str:
        """Its id: text that no engine reads as a number, and the same whenever the fleet is built."""
        path = os.path.abspath(self.path)
        digest = hashlib.sha256("\0".join([path, *self.options]).encode()).hexdigest()[:8]
        return f"r-{re.sub(r'[^A-Za-z0-9.]+', '-', Path(path).stem)}-{digest}"


def sources_in(folder: str | os.PathLike[str], labels: Mapping[str, str] | None = None) -> list[Source]:
    """All runs directly in a folder, each with these labels; of a sweep or a run with repeats each single run."""
    found = sorted(path for path in Path(folder).iterdir() if (path / "run.json").is_file() and not path.is_symlink())
    return [Source(run.path, labels or {}) for path in found for run in _single(Run(path))]


def _single(run: Run) -> list[Run]:
    inside = run.points or run.repeats
    return [single for one in inside for single in _single(one)] if inside else [run]


def build(
    folder: str | os.PathLike[str],
    sources: Iterable[Source | str | os.PathLike[str]],
    *,
    client: Any = None,
    progress: Callable[[int, int], None] | None = None,
) -> Fleet:
    """Adds runs to the dataset in `folder`, one run a task, and returns it.

    With `client`, a `distributed.Client`, the tasks run on its cluster, whose workers must see the paths; without, one
    after the other here. A task that fails costs that run alone: `Fleet.failed` names it with the reason. What an
    earlier call finished is kept, so calling this again goes on, and tries again what failed. `progress` is called with
    the number of finished tasks and of all.
    """
    whole = Path(folder).absolute()
    (whole / "failed").mkdir(parents=True, exist_ok=True)
    by_id: dict[str, Source] = {}
    for one in sources:
        source = one if isinstance(one, Source) else Source(one)
        by_id[source.run_id] = source
    left = {run_id: source for run_id, source in by_id.items() if not _part(whole, "runs", run_id).is_file()}
    say = progress or (lambda done, of: None)
    done = 0
    for run_id, error in _outcomes(whole, left, client):
        done += 1
        failed = whole / "failed" / f"{run_id}.json"
        if error is None:
            failed.unlink(missing_ok=True)
        else:
            _write_text(failed, json.dumps({"path": os.fspath(left[run_id].path), "error": error}))
        say(done, len(left))
    return Fleet(whole)


def _outcomes(whole: Path, left: Mapping[str, Source], client: Any) -> Iterable[tuple[str, str | None]]:
    """Runs the tasks; of each its id, and why it failed, as they end."""
    if client is None:
        for run_id, source in left.items():
            yield run_id, _attempt(whole, run_id, source)
        return
    import distributed

    # A worker that dies loses its results, and the scheduler runs their tasks again: those find their files, and end.
    futures = {
        client.submit(_attempt, whole, run_id, source, key=f"tachograph-{run_id}-{os.urandom(4).hex()}"): run_id
        for run_id, source in left.items()
    }
    for future in distributed.as_completed(list(futures)):  # type: ignore[no-untyped-call]
        error = future.exception()
        yield futures[future], future.result() if error is None else f"{type(error).__name__}: {error}"


def _attempt(whole: Path, run_id: str, source: Source) -> str | None:
    """Adds one run; why that failed."""
    try:
        if not _part(whole, "runs", run_id).is_file():
            _store(whole, run_id, source, _run_of(whole, run_id, source))
    except (TachographError, OSError, pa.ArrowException, KeyError, ValueError) as error:
        return f"{type(error).__name__}: {error}"
    return None


def _run_of(whole: Path, run_id: str, source: Source) -> Run:
    """The run of a source; it is imported or simulated if it is none yet."""
    path = Path(source.path)
    if (path / "run.json").is_file():
        run = Run(path)
        if run.points or run.repeats:
            raise NotARun(f"{path}: a sweep, or a run with repeats; expected single runs: fleet.sources_in")
        return run
    if not path.exists():
        return Run(path)  # whose error says so
    made = whole / "made" / run_id
    if made.exists():
        shutil.rmtree(made)  # an attempt that was cut short
    made.parent.mkdir(exist_ok=True)
    if path.suffix in (".yaml", ".yml") and path.is_file():
        return _verbs.simulate(path, made, options=["--discard-events", *source.options])
    return _verbs.import_(path, made)


def _part(whole: Path, table: str, run_id: str) -> Path:
    return whole / table / f"run={run_id}" / "part.parquet"


def _store(whole: Path, run_id: str, source: Source, run: Run) -> None:
    """Writes the rows of a run. Table `runs` is last: what it has is whole."""
    tables = {
        "chains": _figures_of(run, "chains", ("name", "path", "critical", "evidence", "instances", "lost")),
        "topics": _figures_of(run, "topics", ("topic", "sent", "received", "lost", "rate_hz")),
        "causes": _causes_of(run),
        "distributions": _distributions_of(run),
        "runs": _index_of(run, source),
    }
    for name, table in tables.items():
        path = _part(whole, name, run_id)
        path.parent.mkdir(parents=True, exist_ok=True)
        beside = path.with_name(f".part-{os.getpid()}")
        parquet.write_table(table.add_column(0, "run_id", pa.array([run_id] * table.num_rows, pa.string())), beside)
        beside.replace(path)


#: Figures of a distribution that the dataset has as columns.
STATISTICS = ("count", "min", "median", "mean", "p99", "max")


def _figures_of(run: Run, kind: str, plain: Sequence[str]) -> pa.Table:
    """Figures of a kind, of each distribution the statistics; `path` is one text, so that it can be grouped by."""
    rows = []
    for entry in run.summary.get(kind, []):
        row = {name: entry.get(name) for name in plain}
        if "path" in row:
            row["path"] = " > ".join(row["path"])
        for name in _DISTRIBUTIONS[kind]:
            found = entry.get(name) or {}
            row |= {f"{name}_{statistic}": found.get(statistic) for statistic in STATISTICS}
        row |= {name: entry.get(name) for name in ("deadline_ms", "late_instances") if kind == "chains"}
        rows.append(row)
    return pa.Table.from_pylist(rows, schema=_SCHEMAS[kind])


_DISTRIBUTIONS = {
    "chains": ("end_to_end_ms", "reaction_time_ms", "data_age_ms", "computation_ms", "queueing_ms", "transport_ms"),
    "topics": ("latency_us",),
}


def _schema(kind: str, plain: Mapping[str, pa.DataType], last: Mapping[str, pa.DataType]) -> pa.Schema:
    of_distributions = {
        f"{name}_{statistic}": pa.float64() for name in _DISTRIBUTIONS[kind] for statistic in STATISTICS
    }
    return pa.schema(list({**plain, **of_distributions, **last}.items()))


_COUNT = pa.int64()
_SCHEMAS = {
    "chains": _schema(
        "chains",
        {"name": pa.string(), "path": pa.string(), "critical": pa.bool_(), "evidence": pa.string()}
        | {"instances": _COUNT, "lost": _COUNT},
        {"deadline_ms": pa.float64(), "late_instances": _COUNT},
    ),
    "topics": _schema(
        "topics",
        {"topic": pa.string(), "sent": _COUNT, "received": _COUNT, "lost": _COUNT, "rate_hz": pa.float64()},
        {},
    ),
}


def _causes_of(run: Run) -> pa.Table:
    """What the time of late instances was spent on, and why inputs led to no output, summed up over the run."""
    causes = run.causes(columns=["chain", "instance", "kind", "by", "duration_ns", "count"])
    late = pc.is_valid(causes.column("instance"))
    plain = pa.table(
        {
            "chain": causes.column("chain_name").cast(pa.string()),
            "of": pc.if_else(late, "instance", "input"),
            **{name: causes.column(name) for name in ("kind", "by", "duration_ns", "count")},
        }
    )
    keys = ["chain", "of", "kind", "by"]
    summed = plain.group_by(keys).aggregate([("count", "sum"), ("duration_ns", "sum"), ("duration_ns", "max")])
    return pa.table(
        {
            **{name: summed.column(name) for name in keys},
            "count": summed.column("count_sum").cast(pa.uint64()),
            "duration_ms": pc.divide(summed.column("duration_ns_sum").cast(pa.float64()), 1e6),
            "longest_ms": pc.divide(summed.column("duration_ns_max").cast(pa.float64()), 1e6),
        }
    )


def _distributions_of(run: Run) -> pa.Table:
    """Sketches of the end-to-end times and parts of each chain, and of the latencies of each topic."""
    found = []
    instances = run.instances()
    chains = instances.column("chain_name").cast(pa.string())
    for chain in pc.unique(chains).to_pylist():
        own = instances.filter(pc.equal(chains, chain))
        for figure in ("end_to_end", "computation", "preemption", "alignment", "queueing", "transport"):
            times = pc.divide(own.column(f"{figure}_ns").cast(pa.float64()), 1e6)
            found.append(_sketched("chain", chain, f"{figure}_ms", times))
    messages = run.messages(columns=["subscription", "publish_ns", "callback_ns", "emulated"])
    messages = messages.filter(pc.invert(messages.column("emulated")))
    topics = messages.column("subscription_topic").cast(pa.string())
    for topic in pc.unique(topics).to_pylist():
        own = messages.filter(pc.equal(topics, topic))
        latency = pc.subtract(own.column("callback_ns"), own.column("publish_ns"))
        found.append(_sketched("topic", topic, "latency_us", pc.divide(latency.cast(pa.float64()), 1e3)))
    return pa.concat_tables(found) if found else _sketched("", "", "", pa.array([], pa.float64()))


def _sketched(kind: str, name: str, figure: str, values: pa.ChunkedArray | pa.Array) -> pa.Table:
    buckets, counts = _sketch.buckets(values)
    plain = {"kind": kind, "name": name, "figure": figure}
    texts = {column: pa.array([text] * len(buckets), pa.string()) for column, text in plain.items()}
    return pa.table({**texts, "bucket": buckets.cast(pa.int32()), "count": counts})


def _index_of(run: Run, source: Source) -> pa.Table:
    verdict = run.verdict()
    info = run.info
    machine = info.get("machine", {})
    row: dict[str, Any] = {
        "path": str(run.path.absolute()),
        "started_at": info.get("started_at") or None,
        "duration_s": info.get("duration_s"),
        "tacho_version": info.get("tacho_version"),
        "host": machine.get("host"),
        "cpu": machine.get("cpu"),
        "cut_short": info.get("cut_short"),
        "dropped_events": sum(run.processes(columns=["dropped_events"]).column("dropped_events").to_pylist()),
        "notes": run.notes().num_rows,
        "verdict": verdict.text if verdict else None,
        "chain": verdict.chain if verdict else None,
        "usual_ms": verdict.usual_ms if verdict else None,
        "worst_ms": verdict.worst_ms if verdict else None,
        "culprit": verdict.culprits[0]["text"] if verdict and verdict.culprits else None,
    }
    types = {"duration_s": pa.float64(), "cut_short": pa.bool_(), "dropped_events": _COUNT, "notes": _COUNT}
    types |= {"usual_ms": pa.float64(), "worst_ms": pa.float64()}
    taken = [name for name in source.labels if name in row or name == "run_id"]
    if taken:
        raise NoSuchName(f"labels may not be called {', '.join(taken)}: table runs has these columns itself")
    schema = pa.schema(
        [(name, types.get(name, pa.string())) for name in row] + [(n, pa.string()) for n in source.labels]
    )
    return pa.Table.from_pylist([row | {name: str(value) for name, value in source.labels.items()}], schema=schema)


def _write_text(path: Path, text: str) -> None:
    beside = path.with_name(f".{path.name}-{os.getpid()}")
    beside.write_text(text)
    beside.replace(path)


class Fleet:
    """A dataset of runs. Made by `build`, or by `open` of what was built."""

    def __init__(self, folder: str | os.PathLike[str]):
        #: Where it is.
        self.folder = Path(folder)
        if not (self.folder / "runs").is_dir() and not (self.folder / "failed").is_dir():
            raise NotARun(f"{folder}: no fleet; expected a folder that tachograph.fleet.build has written")

    def __repr__(self) -> str:
        return f"<Fleet {self.folder}: {len(self.run_ids)} runs, {len(self.failed)} failed>"

    @property
    def run_ids(self) -> list[str]:
        """The ids of its runs."""
        return sorted(path.parent.name.removeprefix("run=") for path in self.folder.glob("runs/run=*/part.parquet"))

    @property
    def failed(self) -> dict[str, str]:
        """Why runs could not be added, by path. `build` tries them again."""
        found = [json.loads(path.read_text()) for path in sorted(self.folder.glob("failed/*.json"))]
        return {one["path"]: one["error"] for one in found}

    def connect(self) -> duckdb.DuckDBPyConnection:
        """A DuckDB connection with a view for each table (`TABLES`)."""
        import duckdb

        connection = duckdb.connect()
        for table in TABLES:
            if next(self.folder.glob(f"{table}/run=*/part.parquet"), None) is None:
                continue
            files = str(self.folder / table / "run=*" / "part.parquet").replace("'", "''")
            connection.execute(
                f"CREATE VIEW {table} AS SELECT * EXCLUDE (run) FROM "
                f"read_parquet('{files}', hive_partitioning = true, union_by_name = true, "
                "hive_types = {'run': VARCHAR})"
            )
        return connection

    def sql(self, query: str, parameters: Sequence[Any] = ()) -> pa.Table:
        """The rows of a query over the tables `runs`, `chains`, `topics`, `causes` and `distributions`."""
        with self.connect() as connection:
            return connection.sql(query, params=list(parameters)).to_arrow_table()

    def runs(self) -> pa.Table:
        """The index: a row a run, with its labels and its verdict."""
        return self.sql("SELECT * FROM runs ORDER BY run_id")

    def run(self, run_id: str) -> Run:
        """A run by its id, where its directory is still there."""
        found = self.sql("SELECT path FROM runs WHERE run_id = ?", [run_id]).column("path").to_pylist()
        if not found:
            raise NoSuchName(f"{self.folder}: no run has the id {run_id}")
        return Run(found[0])

    def worst(self, chain: str, figure: str = "end_to_end_ms_max", n: int = 10) -> pa.Table:
        """The `n` runs in which this figure of the chain, a column of table `chains`, is greatest."""
        return self.sql(
            f"SELECT c.{_quoted(figure)}, r.* FROM chains c JOIN runs r USING (run_id) WHERE c.name = ? "
            f"AND c.{_quoted(figure)} IS NOT NULL ORDER BY 1 DESC, run_id LIMIT ?",
            [chain, n],
        )

    def quantile(
        self, figure: str, q: float, *, by: str | None = None, kind: str = "chain", name: str | None = None
    ) -> pa.Table:
        """A quantile over all values of all runs, not over quantiles of runs: within 1 % of the exact one.

        `figure` is `end_to_end_ms`, `computation_ms`, `queueing_ms`, ... of chains, or `latency_us` with
        `kind="topic"`. There is a row for each chain or topic and, with `by`, for each value of that column of `runs`,
        with the number of values.
        """
        group = f", r.{_quoted(by)}" if by else ""
        grouped = f", {_quoted(by)}" if by else ""
        return self.sql(
            f"""
            WITH merged AS (
                SELECT d.name{group}, d.bucket, sum(d.count) AS n
                FROM distributions d JOIN runs r USING (run_id)
                WHERE d.kind = $kind AND d.figure = $figure AND ($name IS NULL OR d.name = $name)
                GROUP BY ALL
            ), summed AS (
                SELECT *, sum(n) OVER (PARTITION BY name{grouped} ORDER BY bucket) AS below,
                    sum(n) OVER (PARTITION BY name{grouped}) AS whole
                FROM merged
            )
            SELECT name{grouped}, min({_sketch.VALUE_SQL}) AS {_quoted(f"{figure}_q{q * 100:g}")},
                any_value(whole)::BIGINT AS count
            FROM summed WHERE below >= greatest(ceil($q * whole), 1) GROUP BY ALL ORDER BY ALL
            """.replace("$kind", "?1")
            .replace("$figure", "?2")
            .replace("$name", "?3")
            .replace("$q", "?4"),
            [kind, figure, name, q],
        )

    def compare(self, before: str, after: str, *, options: Sequence[str] = ()) -> _verbs.Comparison:
        """Compares the runs that fit two conditions on table `runs`: `fleet.compare("version = '1'", "version = '2'")`."""
        sides = [self.sql(f"SELECT path FROM runs WHERE {side} ORDER BY run_id") for side in (before, after)]
        for side, found in zip((before, after), sides):
            if not found.num_rows:
                raise NoSuchName(f"{self.folder}: no run fits {side}")
        return _verbs.compare(*(found.column("path").to_pylist() for found in sides), options=options)

    def page(self, out: str | os.PathLike[str], *, by: str = "version") -> Path:
        """Writes a page and returns its path: what changed from version to version, chains by version, the cause that
        moved, the worst runs. `by` is the column of table `runs` that groups them."""
        from ._fleet_page import page

        path = Path(out)
        path.write_text(page(self, by), encoding="utf-8")
        return path


def open(folder: str | os.PathLike[str]) -> Fleet:  # noqa: A001
    """Opens a dataset that `build` has written."""
    return Fleet(folder)


def _quoted(name: str) -> str:
    """A name in SQL."""
    return '"' + name.replace('"', '""') + '"'
