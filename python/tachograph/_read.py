"""Reads one table of a run, with units in its schema and with names beside numbers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as parquet

from ._columns import Column, Table, tables
from .errors import NoSuchName, TornTable, VersionMismatch

TYPES = {
    "uint32": pa.uint32(),
    "uint64": pa.uint64(),
    "int64": pa.int64(),
    "double": pa.float64(),
    "boolean": pa.bool_(),
    "text": pa.string(),
    "list of text": pa.list_(pa.string()),
}

#: Tables that every version of tacho has written. Of the others a run may be older.
ALWAYS = {
    *("processes", "nodes", "endpoints", "callbacks", "executions"),
    *("messages", "chains", "instances", "hops", "notes"),
}

#: The names that a column gets which refers to a row of these tables.
NAMED_BY = {
    "processes": ("executable",),
    "nodes": ("name",),
    "endpoints": ("node", "topic"),
    "callbacks": ("node", "name"),
    "executions": ("node", "callback"),
    "chains": ("name",),
}


class Source(Protocol):
    """What names are read from: the other tables of the same run."""

    def table(self, name: str, *, names: bool = True, columns: Sequence[str] | None = None) -> pa.Table: ...


def described(name: str) -> Table:
    """The description of a table; an error that lists all tables if there is none of this name."""
    try:
        return tables()[name]
    except KeyError:
        raise NoSuchName(f"no table is called {name}; there are: {', '.join(tables())}") from None


def read(path: Path, name: str, columns: Sequence[str] | None, written_by: str) -> pa.Table:
    """Reads a table as docs/tables.md describes it. What an older tacho did not write is absent in every row."""
    table = described(name)
    wanted = _wanted(table, columns)
    if not path.is_file():
        if name in ALWAYS:
            raise TornTable(f"{path}: not there; expected the table {name}, which every run has")
        return pa.table({c.name: pa.array([], TYPES[c.kind]) for c in wanted}, schema=_schema(wanted, name))
    try:
        file = parquet.ParquetFile(path)
        present = set(file.schema_arrow.names)
        found = file.read(columns=[c.name for c in wanted if c.name in present])
    except (pa.ArrowException, OSError) as error:
        raise TornTable(f"{path}: no whole Parquet file: {error}") from error
    arrays = [_array(column, found, path, written_by) for column in wanted]
    return pa.table(arrays, schema=_schema(wanted, name))


def _wanted(table: Table, columns: Sequence[str] | None) -> list[Column]:
    if columns is None:
        return list(table.columns)
    by_name = {column.name: column for column in table.columns}
    unknown = [name for name in columns if name not in by_name]
    if unknown:
        raise NoSuchName(f"table {table.name} has no column {', '.join(unknown)}; it has: {', '.join(by_name)}")
    return [by_name[name] for name in columns]


def _array(column: Column, found: pa.Table, path: Path, written_by: str) -> pa.ChunkedArray | pa.Array:
    expected = TYPES[column.kind]
    if column.name not in found.column_names:
        if column.name == "row_id":  # runs of before there were ids: rows refer to each other by position
            return pa.array(range(found.num_rows), pa.uint32())
        if not column.optional and not pa.types.is_list(expected):
            raise VersionMismatch(f"{path}: has no column {column.name}; {_versions(written_by)}")
        return pa.nulls(found.num_rows, expected)
    array = found.column(column.name)
    if array.type.equals(expected):
        return array
    if pa.types.is_list(expected) and pa.types.is_list(array.type) and array.type.value_type == pa.string():
        return array.cast(expected)
    raise VersionMismatch(f"{path}: column {column.name} is {array.type}, expected {expected}; {_versions(written_by)}")


def _versions(written_by: str) -> str:
    from . import __version__

    return f"tacho {written_by} wrote it, this is tachograph {__version__}"


def _schema(columns: Sequence[Column], name: str) -> pa.Schema:
    return pa.schema([_field(column) for column in columns], metadata={"tachograph.table": name})


def _field(column: Column) -> pa.Field:
    metadata = {"description": column.text}
    if column.unit:
        metadata["unit"] = column.unit
    if column.rows_of:
        metadata["rows_of"] = column.rows_of
    # What may be absent is said by the metadata too, because joins make every column nullable.
    metadata["optional"] = json.dumps(column.optional)
    return pa.field(column.name, TYPES[column.kind], metadata=metadata)


def with_names(found: pa.Table, source: Source) -> pa.Table:
    """Puts the names beside each column that refers to another table: `callback_node` and `callback_name` follow
    `callback`. They are dictionaries, so a name is held once, however many rows have it."""
    columns: list[tuple[pa.Field, pa.ChunkedArray]] = []
    for field, array in zip(found.schema, found.columns):
        columns.append((field, array))
        metadata = field.metadata or {}
        table = metadata.get(b"rows_of", b"").decode()
        for suffix in NAMED_BY.get(table, ()):
            name = f"{field.name}_{suffix}"
            text = f"The {suffix} of `{field.name}`, a row of table `{table}`."
            named = _taken(_names(table, suffix, source), array)
            columns.append((pa.field(name, named.type, metadata={"description": text}), named))
    schema = pa.schema([field for field, _ in columns], metadata=found.schema.metadata)
    return pa.table([array for _, array in columns], schema=schema)


def _names(table: str, suffix: str, source: Source) -> pa.DictionaryArray:
    """A name of each row of a table, absent where it has none."""
    if table == "callbacks" and suffix == "name":
        rows = source.table("callbacks", names=False, columns=["function", "kind", "topic", "period_ns"]).to_pylist()
        return pa.array([_callback_name(row) for row in rows], pa.string()).dictionary_encode()
    if table == "executions":
        callback = source.table("executions", names=False, columns=["callback"]).column("callback")
        return _taken(_names("callbacks", "name" if suffix == "callback" else suffix, source), callback)
    if suffix == "node":
        node = source.table(table, names=False, columns=["node"]).column("node")
        return _taken(_names("nodes", "name", source), node)
    return source.table(table, names=False, columns=[suffix]).column(suffix).combine_chunks().dictionary_encode()


def _callback_name(row: dict[str, Any]) -> str:
    """The function of a callback; of one without, what it answers to."""
    if row["function"]:
        return str(row["function"])
    if row["period_ns"] is not None:
        return f"{row['kind']} {row['period_ns'] / 1e6:g} ms"
    return f"{row['kind']} {row['topic']}" if row["topic"] else row["kind"]


def _taken(names: pa.DictionaryArray, rows: pa.ChunkedArray) -> pa.DictionaryArray:
    """The names of these rows. Rows that refer to nothing have none."""
    if isinstance(names, pa.ChunkedArray):
        names = names.combine_chunks()
    rows = rows.combine_chunks() if isinstance(rows, pa.ChunkedArray) else rows
    indices = pc.take(names.indices, rows)
    return pa.DictionaryArray.from_arrays(indices, names.dictionary)
