"""What may be given: paths, data frames of pandas, GeoPandas and Polars, Arrow tables, DuckDB relations.

Tables go in as Arrow, column by column, and only those columns that may matter. Nothing is imported here that
the caller has not imported already: whoever gives a pandas frame has pandas.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from tripcloak.ground.errors import EmptyInputError, InputError
from tripcloak.records.columns import looks_like_data, unique_names
from tripcloak.records.files.frames import Frame, Input, LoadedFrame, checked_inputs
from tripcloak.records.files.tables import quoted

if TYPE_CHECKING:
    import pyarrow as pa


class ArrowStream(Protocol):
    """What offers itself as a stream of Arrow: pandas, Polars, pyarrow, DuckDB and many others."""

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """Return a capsule with the stream."""


class LazyTable(Protocol):
    """A table that is worked out when it is asked for, such as a Polars LazyFrame."""

    def collect(self) -> Any:
        """Return the table."""


Table: TypeAlias = ArrowStream | LazyTable
"""A table in memory: a data frame of pandas, GeoPandas or Polars, an Arrow table or reader, a relation."""

Given: TypeAlias = str | os.PathLike[str] | Table
"""One input: the path of a file, a glob or a folder, or a table in memory."""

Inputs: TypeAlias = Given | Sequence[Given]
"""One input or several."""


class Points:
    """Which columns the points of geometries become.

    Parameters
    ----------
    columns
        Role to column, as the caller said.
    ends
        Role that may name a geometry, to the columns of its points; under ``""`` those of the active one.

    Attributes
    ----------
    used : set of str
        The roles that turned out to name a geometry.

    Examples
    --------
    >>> points = Points({"origin": "home"}, {"": ("lat", "lon"), "origin": ("o_lat", "o_lon")})
    >>> points.asked("home"), points.asked("geometry", active=True), points.asked("school")
    (('o_lat', 'o_lon'), ('lat', 'lon'), None)
    >>> points.used
    {'origin'}
    """

    def __init__(
        self, columns: Mapping[str, str] | None = None, ends: Mapping[str, tuple[str, str]] | None = None
    ) -> None:
        self.columns = columns or {}
        self.ends = ends or {}
        self.used: set[str] = set()

    def named(self, geometry: str) -> str | None:
        """Return the role that the caller gave to a geometry."""
        return next((role for role in self.ends if role and self.columns.get(role) == geometry), None)

    def asked(self, geometry: str, *, active: bool = False) -> tuple[str, str] | None:
        """Return the columns of latitude and longitude; None where that geometry is not asked for."""
        role = self.named(geometry)
        if role is not None:
            self.used.add(role)
            return self.ends[role]
        return self.ends.get("") if active else None


def take(given: object, points: Points) -> tuple[Input, ...]:
    """Return inputs as a source holds them; tables stay where they are until they are read.

    Examples
    --------
    >>> import pyarrow as pa
    >>> take(pa.table({"lat": [48.85], "lon": [2.35]}), Points())
    (<an Arrow table of 2 columns>,)
    >>> take({"lat": [48.85]}, Points())
    Traceback (most recent call last):
    ...
    tripcloak.InputError: expected a path, a data frame (pandas, GeoPandas, Polars), an Arrow table or a
    DuckDB relation; got a dict
    """
    several = list(given) if isinstance(given, (list, tuple)) else [given]
    return checked_inputs([_taken(one, points) for one in several])


def _taken(given: Any, points: Points) -> object:
    if isinstance(given, (str, os.PathLike, Frame)):
        return given
    for library, name, reader in _KINDS:
        kind = getattr(sys.modules.get(library), name, None)
        if kind is not None and isinstance(given, kind):
            return reader(given, points)
    taken = _capsule(given) if hasattr(given, "__arrow_c_stream__") else None
    if taken is None:
        raise InputError(
            "expected a path, a data frame (pandas, GeoPandas, Polars), an Arrow table or a DuckDB relation; "
            f"got a {type(given).__name__}"
        )
    return taken


def _pandas(frame: Any, points: Points) -> Frame:
    """Return a pandas frame: its columns, and those levels of its index that have a name."""
    from tripcloak.api.pandas_columns import PandasColumns

    columns = PandasColumns.of(frame, points)
    return Frame(columns.names, columns.load, hint=columns.hint)


def _polars(frame: Any, points: Points) -> Frame:
    import pyarrow as pa

    return _named(frame.columns, lambda names: pa.table(frame.select(names)), "a data frame")


def _polars_lazy(frame: Any, points: Points) -> Frame:
    import pyarrow as pa

    return _named(
        frame.collect_schema().names(),
        lambda names: pa.table(frame.select(names).collect()),
        "a lazy data frame",
    )


def _relation(relation: Any, points: Points) -> Frame:
    def load(names: list[str]) -> pa.Table:
        return relation.project(", ".join(map(quoted, names))).to_arrow_table()

    return _named(relation.columns, load, "a DuckDB relation")


def _arrow_table(table: Any, points: Points) -> Frame:
    return _named(table.schema.names, table.select, "an Arrow table")


def _arrow_batch(batch: Any, points: Points) -> Frame:
    import pyarrow as pa

    return _arrow_table(pa.Table.from_batches([batch]), points)


def _arrow_dataset(dataset: Any, points: Points) -> Frame:
    # Read part by part: it may be larger than memory.
    return _named(dataset.schema.names, lambda names: dataset, "an Arrow dataset")


def _capsule(given: Any) -> Frame | None:
    """Return what offers a table as a stream of Arrow; it is read once, since some can be read only once."""
    import pyarrow as pa

    try:
        return _arrow_table(pa.table(given), Points())
    except (pa.ArrowException, TypeError, ValueError):
        return None


_KINDS: tuple[tuple[str, str, Callable[[Any, Points], Frame]], ...] = (
    ("pandas", "DataFrame", _pandas),
    ("polars", "DataFrame", _polars),
    ("polars", "LazyFrame", _polars_lazy),
    ("pyarrow", "Table", _arrow_table),
    ("pyarrow", "RecordBatch", _arrow_batch),
    ("pyarrow.dataset", "Dataset", _arrow_dataset),
    ("duckdb", "DuckDBPyRelation", _relation),
)
"""Library and class, and how to take one; whatever else has Arrow to offer is taken as a stream."""


def _named(names: Sequence[str], load: Callable[[list[str]], Any], kind: str) -> Frame:
    """Return a frame whose columns have names that differ in more than their case."""
    spelt = spelt_names(names, kind)

    def loaded(wanted: list[str]) -> LoadedFrame:
        table = load([spelt[name] for name in wanted])
        if hasattr(table, "rename_columns"):
            table = _readable(table.rename_columns(wanted))
        return LoadedFrame(table)

    return Frame(tuple(spelt), loaded, kind=kind, hint=hint_on_names(names))


def _readable(table: pa.Table) -> pa.Table:
    """Return a table whose numbers the engine can read, which knows none of half precision."""
    import pyarrow as pa

    halves = {field.name: pa.float32() for field in table.schema if pa.types.is_float16(field.type)}
    if not halves:
        return table
    return table.cast(
        pa.schema([field.with_type(halves.get(field.name, field.type)) for field in table.schema])
    )


def spelt_names(names: Sequence[Any], kind: str = "a data frame") -> dict[str, Any]:
    """Return the names of columns as text, unlike each other whatever the case, to the names they have.

    Examples
    --------
    >>> spelt_names(["Lat", "lat", 7, ("home", "id")])
    {'Lat': 'Lat', 'lat_1': 'lat', '7': 7, 'home_id': ('home', 'id')}
    >>> spelt_names(["lat", "lat"])
    Traceback (most recent call last):
    ...
    tripcloak.InputError: a data frame has several columns called lat; give each a name of its own
    """
    if not len(names):
        raise EmptyInputError(f"{kind} has no columns; expected trips, one a row")
    twice = [name for place, name in enumerate(names) if name in list(names)[:place]]
    if twice:
        name = _text(twice[0])
        called = "of one name" if looks_like_data(name) else f"called {name}"
        raise InputError(f"{kind} has several columns {called}; give each a name of its own")
    return dict(zip(unique_names(map(_text, names)), names, strict=True))


def hint_on_names(names: Sequence[Any]) -> str:
    """Return what to know of names that are none, where a needed column is not found; mostly nothing.

    >>> hint_on_names(["lat", "lon"]), hint_on_names([0, 1])
    ('', ' Its columns have numbers for names: give them names first.')
    """
    if any(not isinstance(name, (str, tuple)) for name in names):
        return " Its columns have numbers for names: give them names first."
    if any(looks_like_data(_text(name)) for name in names):
        return " Some names look like data: was the first row read as names?"
    return ""


def _text(name: Any) -> str:
    return "_".join(str(part) for part in name if str(part)) if isinstance(name, tuple) else str(name)
