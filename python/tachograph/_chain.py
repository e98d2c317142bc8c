"""A chain of a run: its instances, where their time went, and what they must keep."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

if TYPE_CHECKING:
    from ._run import Run


class Chain:
    """A path from a source to a sink, or a chain that the workload names. Made by `Run.chain`."""

    def __init__(self, run: Run, row: Mapping[str, Any]):
        self._row = row
        #: The run that it was seen in.
        self.run = run
        #: Its row in the table `chains`.
        self.row_id: int = row["row_id"]
        self.name: str = row["name"]
        #: Node, topic, node ... node.
        self.path: list[str] = list(row["path"] or ())
        #: Whether it is the one with the highest worst case of all paths that rest on no guess.
        self.critical: bool = bool(row["critical"])
        #: How outputs were tied to inputs, in words.
        self.evidence: str = row["evidence"]

    def __repr__(self) -> str:
        return f"<Chain {self.name!r}: {' > '.join(self.path)}>"

    @property
    def deadline_ms(self) -> float | None:
        """By when an instance must be through, ms; None if nobody stated it."""
        deadline = self._row["deadline_ns"]
        return None if deadline is None else deadline / 1e6

    @property
    def figures(self) -> dict[str, Any]:
        """Its figures, as `summary.json` has them (docs/figures.md): `end_to_end_ms`, `reaction_time_ms`, ..."""
        chains: list[dict[str, Any]] = self.run.summary.get("chains", [])
        mine = [chain for chain in chains if chain["name"] == self.name and chain["path"] == self.path]
        return mine[0] if mine else {}

    def instances(self, *, columns: Sequence[str] | None = None) -> pa.Table:
        """Its instances, in the order of the table `instances`: a row each, times in ns."""
        return self._of("instances", "chain", columns)

    def hops(self, *, columns: Sequence[str] | None = None) -> pa.Table:
        """The nodes that its instances passed: a row for each node of each instance, times in ns."""
        return self.run.rows("hops", "instance", self.instances(columns=["row_id"]).column("row_id"), columns=columns)

    def causes(self, *, columns: Sequence[str] | None = None) -> pa.Table:
        """What the time of its late instances was spent on, and why inputs led to no output: a row each."""
        return self._of("causes", "chain", columns)

    def inputs(self, *, columns: Sequence[str] | None = None) -> pa.Table:
        """Its inputs, when each was first reflected and last used: a row each, times in ns."""
        return self._of("inputs", "chain", columns)

    def expect(self, **limits: str) -> None:
        """Raises `ExpectationFailed`, an AssertionError, unless the chain keeps these limits.

        A limit is written as in `tacho compare --expect`: `chain.expect(reaction="< 150 ms", lost="0 %")`. Names of
        two words have an underscore: `end_to_end_p99="< 80 ms"`. What was not measured keeps no limit.
        """
        figures = {name.replace("end_to_end", "end-to-end").replace("age_held", "age-held"): name for name in limits}
        self.run.expect(
            {f"chain {self.name} {figure.replace('_', ' ')}": limits[name] for figure, name in figures.items()}
        )

    def _of(self, table: str, key: str, columns: Sequence[str] | None) -> pa.Table:
        return self.run.rows(table, key, pa.array([self.row_id], pa.uint32()), columns=columns)
