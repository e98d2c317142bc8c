"""The columns of each table, with their types, units and meaning, as the page `tables.md` has them.

That page is the only source. A test holds it against the schema that `tacho` writes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

#: Endings of names, and the units that they stand for.
UNITS = {"ns": "ns", "bytes": "bytes", "ppm": "ppm"}


@dataclass(frozen=True)
class Column:
    """A column of a table."""

    name: str
    #: `uint32`, `uint64`, `int64`, `double`, `boolean`, `text` or `list of text`.
    kind: str
    #: Whether values may be absent (null), which means "not measured".
    optional: bool
    #: The table to whose `row_id` the values refer; None if they refer to none.
    rows_of: str | None
    #: Its unit, from the end of its name; None for names, counts and ids.
    unit: str | None
    #: What it means.
    text: str


@dataclass(frozen=True)
class Table:
    """A table of a run."""

    name: str
    #: What a row is.
    text: str
    columns: tuple[Column, ...]


def unit_of(name: str) -> str | None:
    """The unit in which the name of a column ends."""
    return UNITS.get(name.rpartition("_")[2]) if "_" in name else None


ROW_ID = Column("row_id", "uint32", False, None, None, "Number of the row, from 0.")


@cache
def tables() -> dict[str, Table]:
    """All tables by name, in the order of the page."""
    page = files(__package__).joinpath("tables.md").read_text(encoding="utf-8")
    return {table.name: table for table in map(_table, page.split("\n## ")[1:])}


def _table(section: str) -> Table:
    name, _, rest = section.partition("\n")
    text, _, rows = rest.partition("\n| column ")
    columns = [_column(line) for line in rows.splitlines() if line.startswith("| `")]
    return Table(name.strip(), " ".join(text.split()), (ROW_ID, *columns))


def _column(line: str) -> Column:
    name, kind, text = line.removeprefix("| ").removesuffix(" |").split(" | ", 2)
    name = name.strip("`")
    kind, _, absent = kind.partition(", ")
    reference = re.fullmatch(r"`(\w+)\.row_id`", kind)
    return Column(
        name=name,
        kind="uint32" if reference else kind,
        optional=absent == "or absent",
        rows_of=reference.group(1) if reference else None,
        unit=unit_of(name),
        text=text,
    )
