"""Table: files with the same columns, or a table in memory, and the SQL that reads them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tripcloak.ground.engine import plain_errors
from tripcloak.ground.errors import EmptyInputError
from tripcloak.ground.exact_files import exact_literal, exact_path
from tripcloak.records.file_counts import FILE
from tripcloak.records.files.databases.fetching import fetched
from tripcloak.records.files.frames import Frame, Input
from tripcloak.records.files.paths import Top, expand_paths, kind_of, layout_of, read_layout, read_top
from tripcloak.records.files.places import placed, placed_columns, without_places
from tripcloak.records.files.unpacking import unpack
from tripcloak.records.presets import Derived, Layout, Preset

if TYPE_CHECKING:
    import duckdb


@dataclass(frozen=True, kw_only=True)
class Table:
    """Files with the same columns, or a table in memory.

    Attributes
    ----------
    files : tuple of str
        The files, by paths that the engine takes for these files alone; of a table in memory, its name.
    paths : tuple of str
        The same as their owner knows them.
    name : str
        What messages call it: the name of the file, or how many there are.
    types : mapping
        Column name to DuckDB type; every column of a text file is VARCHAR.
    scan : str
        SQL of a SELECT over all rows; broken lines of text files are noted in ``rejects``. Of several files
        it has the column :data:`~tripcloak.records.file_counts.FILE` too.
    probe : str
        The same without the notes, for looking at some rows.
    rejects : str, optional
        The table that holds broken lines after a scan.
    notes : tuple of str
        What a reader should know about how the table was taken; holds no values.
    hint : str
        What to know where a needed column is not found.
    """

    files: tuple[str, ...]
    paths: tuple[str, ...]
    name: str
    types: Mapping[str, str]
    scan: str
    probe: str
    rejects: str | None = None
    notes: tuple[str, ...] = ()
    hint: str = ""

    def probe_of(self, file: str) -> str:
        """Return the probe of one of the files."""
        return self.probe.replace(_list(self.files), _list([file]))

    def only(self, file: str, rows: tuple[int, int] | None = None) -> Table:
        """Return one of the files as a table of its own, or some rows of a Parquet file.

        Parameters
        ----------
        rows
            The first row to take, and the first behind those.
        """
        scan = self.scan.replace(_list(self.files), _list([file]))
        if rows is not None:
            scan += f" WHERE file_row_number >= {rows[0]} AND file_row_number < {rows[1]}"
        return replace(self, files=(file,), paths=(self.paths[self.files.index(file)],), scan=scan)


Wanted = Callable[[Sequence[str]], Collection[str]]
"""Tells which of the columns of a table may matter."""


def open_tables(
    con: duckdb.DuckDBPyConnection,
    inputs: Sequence[Input],
    preset: Preset | None,
    wanted: Wanted = lambda names: names,
    encoding: str | None = None,
) -> list[Table]:
    """Return the tables of the inputs: one for every set of files with the same columns, and every frame.

    Parameters
    ----------
    wanted
        Which columns of a table in memory to take; those of files are read as they are needed anyway.
    encoding
        The encoding of text, if the caller said it; found otherwise.

    Raises
    ------
    InputError
        A file is missing, empty, damaged or of another kind.
    EmptyInputError
        There is no row in any of them.
    """
    frames = [one for one in inputs if isinstance(one, Frame)]
    tables = [_frame_table(con, frame, preset, wanted, number) for number, frame in enumerate(frames)]
    given = expand_paths([one for one in inputs if isinstance(one, str)], preset)
    unpacked = unpack(con, given, preset, encoding)
    records = without_places(con, unpacked.files, preset, lambda layout, files: _scan_of(con, layout, files))
    for key, files in _groups(con, records, preset):
        if isinstance(key, Top):
            tables.append(_text_table(con, files, key, preset, number=len(tables)))
        else:
            tables.append(_parquet_table(con, files, dict(key), preset))
    if not any(_has_rows(con, table) for table in tables):
        raise EmptyInputError(
            "the input holds no rows; expected at least one trip below the column names. Check that it was "
            "saved whole, and that this is the right file"
        )
    taken = {str(file): one for file in given if (one := fetched(str(file))) is not None}
    notes = [note for one in taken.values() for note in one.notes]
    tables[0] = replace(tables[0], notes=(*notes, *unpacked.notes, *tables[0].notes))
    known = {**unpacked.known, **{path: one.address for path, one in taken.items()}}
    return [_as_known(table, known) for table in tables]


def _as_known(table: Table, known: Mapping[str, str]) -> Table:
    """Return a table whose files are called as their owner knows them, and not as they were unpacked."""
    paths = tuple(known.get(path, path) for path in table.paths)
    own = len(paths) == 1 and table.name == Path(table.paths[0]).name
    return replace(table, paths=paths, name=Path(paths[0]).name if own else table.name)


def quoted(name: str) -> str:
    """Return a column name as SQL.

    Examples
    --------
    >>> quoted('the "real" start')
    '"the ""real"" start"'
    """
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """Return text as SQL.

    Examples
    --------
    >>> literal("it's")
    "'it''s'"
    """
    return "'" + text.replace("'", "''") + "'"


_Types = tuple[tuple[str, str], ...]
_FILE_INDEX = "file_index"
"""By this name the engine tells which of several files a row is from."""


def _groups(
    con: duckdb.DuckDBPyConnection, files: Sequence[Path], preset: Preset | None
) -> list[tuple[Top | _Types, list[Path]]]:
    """Return the files with the same columns, and what those are."""
    groups: dict[Any, list[Path]] = {}
    for file in files:
        key: Top | _Types
        if kind_of(file, preset) == "parquet":
            key = _parquet_types(con, file)
        else:
            layout = layout_of(file, preset)
            # Of a format with a file a person there are many files, and none has names.
            headless = layout is not None and preset is not None and preset.ids_in_paths
            top = None if layout is None else read_layout(file, layout, certain=headless)
            key = top or read_top(file)
        names = key.names if isinstance(key, Top) else [name for name, _ in key]
        # A column of that name hides which file a row is from: such files are read one by one.
        alone = file if _FILE_INDEX in (name.lower() for name in names) else None
        groups.setdefault((key, alone), []).append(file)
    return [(key, together) for (key, _), together in groups.items()]


def _parquet_types(con: duckdb.DuckDBPyConnection, file: Path) -> _Types:
    with plain_errors(file.name, has_condition=False):
        rows = con.execute(f"DESCRIBE SELECT * FROM read_parquet({exact_literal(con, file)})").fetchall()
    return tuple((name, type_) for name, type_, *_ in rows)


def _parquet_table(
    con: duckdb.DuckDBPyConnection, files: list[Path], types: dict[str, str], preset: Preset | None
) -> Table:
    exact = tuple(exact_path(con, file) for file in files)
    source = f"read_parquet({_list(exact)}{_filename(preset)})"
    probe, all_types = _with_derived(source, types, preset)
    scan, _ = _with_derived(source, types, preset, numbered=len(files) > 1)
    return Table(files=exact, paths=_paths(files), name=_name(files), types=all_types, scan=scan, probe=probe)


def _paths(files: Sequence[Path]) -> tuple[str, ...]:
    return tuple(str(file) for file in files)


def _name(files: Sequence[Path]) -> str:
    return files[0].name if len(files) == 1 else f"{len(files)} files"


UNREAD = "not read"
"""The type of columns of a table in memory that cannot matter."""


def _frame_table(
    con: duckdb.DuckDBPyConnection, frame: Frame, preset: Preset | None, wanted: Wanted, number: int
) -> Table:
    """Return a table in memory, which the engine reads where it is."""
    # One at least: what is missing is told later, and a table has columns.
    loaded = frame.load(wanted(frame.names) or frame.names[:1])
    view = f"tripcloak_frame_{number}"
    with plain_errors(frame.kind, has_condition=False):
        con.register(view, loaded.table)
        rows = con.execute(f"DESCRIBE {view}").fetchall()
    types = dict.fromkeys(frame.names, UNREAD) | {name: type_ for name, type_, *_ in rows}
    sql, types = _with_derived(view, types, None if _filename(preset) else preset)
    name = frame.kind.replace("a ", "the ", 1)
    return Table(
        files=(name,),
        paths=(name,),
        name=name,
        types=types,
        scan=sql,
        probe=sql,
        notes=loaded.notes,
        hint=frame.hint,
    )


def _text_table(
    con: duckdb.DuckDBPyConnection, files: list[Path], top: Top, preset: Preset | None, number: int
) -> Table:
    options = _csv_options(top) + _filename(preset)
    exact = tuple(exact_path(con, file) for file in files)
    rejects = f"tripcloak_rejects_{number}"
    # A second input opened on the same connection must not find the first one's broken lines.
    con.execute(f"DROP TABLE IF EXISTS {rejects}")
    con.execute(f"DROP TABLE IF EXISTS {rejects}_scans")
    notes = f", store_rejects = true, rejects_table = '{rejects}', rejects_scan = '{rejects}_scans'"
    types = dict.fromkeys(top.names, "VARCHAR")
    numbered = len(files) > 1
    source = placed(f"read_csv({_list(exact)}, {options}{notes})", top.layout, numbered=numbered)
    types |= dict.fromkeys(placed_columns(top.layout), "VARCHAR")
    scan, all_types = _with_derived(source, types, preset, numbered=numbered)
    # One thread reads from the top, so that what the first rows show is the same each time.
    some = placed(f"read_csv({_list(exact)}, {options}, parallel = false)", top.layout)
    probe, _ = _with_derived(some, types, preset)
    # Names of files may be ids of people.
    name = "the input" if preset is not None and preset.ids_in_paths else _name(files)
    return Table(
        files=exact,
        paths=_paths(files),
        name=name,
        types=all_types,
        scan=scan,
        probe=probe,
        rejects=rejects,
    )


def _csv_options(top: Top) -> str:
    """Return how text is read: every line that has as many fields as there are names, as text."""
    layout = top.layout
    columns = ", ".join(f"{literal(name)}: 'VARCHAR'" for name in top.names)
    known = "" if layout is None or layout.encoding == "utf-8" else f", encoding = {literal(layout.encoding)}"
    return (
        f"auto_detect = false, header = {layout is None}, skip = {layout.skip if layout else 0}, "
        f"delim = {literal(top.delimiter)}, quote = '\"', escape = '\"', columns = {{{columns}}}, "
        f"ignore_errors = true, hive_partitioning = false{known}"
    )


def _scan_of(con: duckdb.DuckDBPyConnection, layout: Layout, files: Sequence[Path]) -> str:
    """Return SQL that reads files of a layout."""
    top = Top(layout.columns, layout.delimiter, layout)
    return f"read_csv({_list([exact_path(con, file) for file in files])}, {_csv_options(top)})"


def _with_derived(
    source: str, types: dict[str, str], preset: Preset | None, *, numbered: bool = False
) -> tuple[str, dict[str, str]]:
    derived = [item for item in (preset.derived if preset else ()) if _possible(item, types)]
    added = "".join(f", {item.sql} AS {quoted(item.name)}" for item in derived)
    added += f", {_FILE_INDEX} AS {FILE}" if numbered else ""
    return f"SELECT *{added} FROM {source}", types | {item.name: "VARCHAR" for item in derived}


def _possible(item: Derived, types: Mapping[str, str]) -> bool:
    return {name.lower() for name in item.needs} <= {name.lower() for name in types}


def _filename(preset: Preset | None) -> str:
    wanted = preset is not None and any("filename" in item.sql for item in preset.derived)
    return ", filename = true" if wanted else ""


def _list(files: Sequence[str]) -> str:
    return "[" + ", ".join(literal(file) for file in files) + "]"


def _has_rows(con: duckdb.DuckDBPyConnection, table: Table) -> bool:
    with plain_errors(table.name, has_condition=False):
        return bool(con.execute(f"SELECT 1 FROM ({table.probe}) LIMIT 1").fetchall())
