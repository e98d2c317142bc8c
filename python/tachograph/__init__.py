"""Find out why your ROS 2 or ROS 1 stack reacts late, in Python.

    import tachograph

    run = tachograph.record(["ros2", "launch", "my_car", "car.launch.py"], seconds=30)
    print(run.verdict().text)
    late = run.chain("sensor to brake").instances().to_pandas()

Tables are `pyarrow.Table`s, with units in the metadata of their schemas; see `Run`. The verbs `record`, `bench`,
`import_`, `explain`, `simulate`, `compare`, `report` and `export` run the command `tacho` of this package.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .errors import (
    CommandFailed,
    CommandNotFound,
    ExpectationFailed,
    NoSuchName,
    NoTables,
    NotARun,
    TachographError,
    TornTable,
    VersionMismatch,
)

if TYPE_CHECKING:
    from ._chain import Chain
    from ._run import Run, Verdict, open
    from ._verbs import (
        Comparison,
        Recording,
        bench,
        compare,
        explain,
        export,
        import_,
        record,
        recorded_environment,
        recording,
        report,
        simulate,
    )

    __version__: str

#: Where each name is. They are imported when they are asked for, so that `tacho` starts without pyarrow.
_PLACES = {
    "Chain": "_chain",
    **dict.fromkeys(("Run", "Verdict", "open"), "_run"),
    **dict.fromkeys(("Comparison", "Recording", "bench", "compare", "explain", "export", "import_"), "_verbs"),
    **dict.fromkeys(("record", "recorded_environment", "recording", "report", "simulate"), "_verbs"),
}

__all__ = [
    "Chain",
    "CommandFailed",
    "CommandNotFound",
    "Comparison",
    "ExpectationFailed",
    "NoSuchName",
    "NoTables",
    "NotARun",
    "Recording",
    "Run",
    "TachographError",
    "TornTable",
    "Verdict",
    "VersionMismatch",
    "bench",
    "compare",
    "explain",
    "export",
    "import_",
    "open",
    "record",
    "recorded_environment",
    "recording",
    "report",
    "simulate",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return _version()
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_PLACES[name]}", __name__), name)


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version
    from pathlib import Path

    try:
        return version("tachograph")
    except PackageNotFoundError:  # a checkout that was not installed: PYTHONPATH=python
        manifest = Path(__file__).resolve().parent.parent.parent / "Cargo.toml"
        lines = [line for line in manifest.read_text().splitlines() if line.startswith("version = ")]
        return lines[0].split('"')[1]


def __dir__() -> list[str]:
    return __all__
