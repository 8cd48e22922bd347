"""Forgeries of Parquet files: the same rows written otherwise, and what can be hidden beside them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import parquet, types

from forgeries.forgery import MESSAGE, Forgery

Change = Callable[[pa.Table], pa.Table]
PLAIN = {"compression": "zstd", "store_schema": False}


def forged_tables(safe: Path) -> Iterator[Forgery]:
    """Yield what can be done to every public table."""
    for path in sorted((safe / "release").glob("*.parquet")):
        table = read(path)
        for what, options in OPTIONS.items():
            yield _table(path.name, what, lambda rows: rows, options=options)
        for what, notes in NOTES.items():
            yield _table(path.name, what, lambda rows: rows, notes=notes)
        for what, change in (*CHANGES.items(), *by_column(table)):
            yield _table(path.name, what, change)
        for what, forge in RAW.items():
            yield Forgery(
                f"{path.name}: {what}", lambda folder, n=path.name, f=forge: f(folder / "release" / n)
            )


def read(path: Path) -> pa.Table:
    """Return the rows of a table, with what its file says beside them."""
    with parquet.ParquetFile(path) as file:
        return file.read().replace_schema_metadata(file.metadata.metadata)


def write(path: Path, rows: pa.Table, notes: dict[Any, Any] | None = None, **options: Any) -> None:
    """Write a table as releases are, but for the options and the notes."""
    told = notes if notes is not None else (rows.schema.metadata or {})
    with parquet.ParquetWriter(path, rows.schema, **{**PLAIN, **options}) as writer:
        writer.write_table(rows)
        writer.add_key_value_metadata(told)


def _table(
    name: str,
    what: str,
    change: Change,
    *,
    options: dict[str, Any] | None = None,
    notes: dict[str, str] | None = None,
) -> Forgery:
    def forge(folder: Path) -> None:
        path = folder / "release" / name
        rows = read(path)
        told = {**(rows.schema.metadata or {}), **(notes or {})}
        write(path, change(rows), told, **(options or {}))

    return Forgery(f"{name}: {what}", forge)


OPTIONS: dict[str, dict[str, Any]] = {
    "no compression": {"compression": "none"},
    "another compression": {"compression": "gzip"},
    "more compression": {"compression_level": 19},
    "no dictionaries": {"use_dictionary": False},
    "another version": {"version": "1.0"},
    "other pages": {"data_page_version": "2.0"},
    "smaller pages": {"max_rows_per_page": 2},
    "no statistics": {"write_statistics": False},
    "checksums": {"write_page_checksum": True},
    "an index of pages": {"write_page_index": True},
    "Arrow's own schema": {"store_schema": True},
    "an order said": {"sorting_columns": [parquet.SortingColumn(0)]},
}

NOTES: dict[str, dict[str, str]] = {
    "a note": {"who": MESSAGE},
    "a note of pandas": {"pandas": f'{{"creator": "{MESSAGE}"}}'},
    "a note of another shape": {"geo": f'{{"version": "{MESSAGE}"}}'},
    "an empty note": {"": ""},
}


def _turned(rows: pa.Table) -> pa.Table:
    return rows.take(list(reversed(range(len(rows)))))


def _field_note(rows: pa.Table) -> pa.Table:
    field = rows.schema.field(0).with_metadata({"who": MESSAGE})
    return rows.cast(rows.schema.set(0, field))


def _unused(rows: pa.Table) -> pa.Table:
    """Return rows whose dictionary holds a word that no row uses."""
    column = rows.column(0).combine_chunks().dictionary_encode()
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    words = pa.concat_arrays([column.dictionary, pa.array([MESSAGE])])
    return rows.set_column(0, rows.column_names[0], pa.DictionaryArray.from_arrays(column.indices, words))


CHANGES: dict[str, Change] = {
    "another order": _turned,
    "two rows exchanged": lambda rows: rows.take([1, 0, *range(2, len(rows))]),
    "a row twice": lambda rows: pa.concat_tables([rows, rows.slice(0, 1)]),
    "a row gone": lambda rows: rows.slice(1),
    "no rows": lambda rows: rows.slice(0, 0),
    "a column more": lambda rows: rows.append_column("who", pa.array([MESSAGE] * len(rows))),
    "an empty column more": lambda rows: rows.append_column("who", pa.nulls(len(rows), pa.string())),
    "a column of rows": lambda rows: rows.append_column("__index_level_0__", pa.array(range(len(rows)))),
    "columns turned": lambda rows: rows.select(rows.column_names[::-1]),
    "a column twice": lambda rows: rows.append_column(rows.column_names[0], rows.column(0)),
    "a note on a column": _field_note,
    "unused words in a dictionary": _unused,
}


def by_column(rows: pa.Table) -> Iterator[tuple[str, Change]]:
    """Yield changes of one column: its values, its type, its name, and whether it is there."""
    for at, field in enumerate(rows.schema):
        yield f"{field.name} gone", lambda rows, at=at: rows.remove_column(at)
        yield (
            f"{field.name} in capitals",
            lambda rows, at=at: rows.rename_columns(
                [name.upper() if n == at else name for n, name in enumerate(rows.column_names)]
            ),
        )
        yield f"{field.name} empty in one row", lambda rows, at=at: _first_cell(rows, at, None)
        for what, kind in _kinds(field.type):
            yield (
                f"{field.name} {what}",
                lambda rows, at=at, kind=kind: rows.set_column(
                    at, rows.column_names[at], rows.column(at).cast(kind, safe=False)
                ),
            )
        for what, other in _values(rows.column(at)[0].as_py()):
            yield f"{field.name} {what}", lambda rows, at=at, other=other: _first_cell(rows, at, other)


def _first_cell(rows: pa.Table, at: int, value: Any) -> pa.Table:
    cells = rows.column(at).to_pylist()
    assert cells[0] != value
    cells[0] = value
    return rows.set_column(at, rows.column_names[at], pa.array(cells, rows.schema.field(at).type))


def _kinds(kind: pa.DataType) -> Iterator[tuple[str, pa.DataType]]:
    if types.is_integer(kind):
        yield from (("of 16 bits", pa.int16()), ("as floats", pa.float64()), ("unsigned", pa.uint64()))
    elif types.is_floating(kind):
        yield "of less precision", pa.float32()
    elif types.is_string(kind):
        yield from (("as bytes", pa.binary()), ("as large text", pa.large_string()))
    elif types.is_binary(kind):
        yield "as large bytes", pa.large_binary()


def _values(value: Any) -> Iterator[tuple[str, Any]]:
    match value:
        case bool():
            yield "negated", not value
        case int():
            yield from (("one more", value + 1), ("one less", value - 1))
        case float():
            yield from (("in its last digit", value * (1 + 4e-16)), ("a millionth more", value + 1e-6))
        case str():
            yield from (("with a blank", value + " "), ("with a message", MESSAGE))
        case bytes():
            yield from (
                ("with a byte more", value + b"\0"),
                ("with one bit", value[:-1] + bytes([value[-1] ^ 1])),
            )


def _before_the_footer(path: Path) -> None:
    whole = path.read_bytes()
    footer = int.from_bytes(whole[-8:-4], "little") + 8
    path.write_bytes(whole[:-footer] + MESSAGE.encode() + whole[-footer:])
    assert read(path).num_rows


def _behind_the_head(path: Path) -> None:
    """Put bytes between the mark at the beginning and the pages, which then lie elsewhere than is said."""
    whole = path.read_bytes()
    path.write_bytes(whole[:4] + MESSAGE.encode() + whole[4:])


def _in_the_footer(path: Path) -> None:
    """Make the footer longer than what it says; readers stop where it ends."""
    whole = path.read_bytes()
    size = int.from_bytes(whole[-8:-4], "little") + len(MESSAGE)
    path.write_bytes(whole[:-8] + MESSAGE.encode() + size.to_bytes(4, "little") + whole[-4:])


def _creator(path: Path) -> None:
    whole = path.read_bytes()
    assert b"parquet-cpp-arrow" in whole
    path.write_bytes(whole.replace(b"parquet-cpp-arrow", b"parquet-cpp-p17xx"))


def _two_parts(path: Path) -> None:
    rows = read(path)
    with parquet.ParquetWriter(path, rows.schema, **PLAIN) as writer:
        writer.write_table(rows.slice(0, 1))
        writer.write_table(rows.slice(1))
        writer.add_key_value_metadata(rows.schema.metadata or {})


def _an_empty_part(path: Path) -> None:
    rows = read(path)
    with parquet.ParquetWriter(path, rows.schema, **PLAIN) as writer:
        writer.write_table(rows)
        writer.write_table(rows.slice(0, 0))
        writer.add_key_value_metadata(rows.schema.metadata or {})


RAW: dict[str, Callable[[Path], None]] = {
    "bytes before the footer": _before_the_footer,
    "bytes behind the head": _behind_the_head,
    "bytes in the footer": _in_the_footer,
    "another creator": _creator,
    "in two parts": _two_parts,
    "with an empty part": _an_empty_part,
}
