"""Evidence: the parts of a release folder as tables of one connection, each read when first asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from tripcloak.flows.audit.promise import AuditRequest, StatedPromise, read_promise
from tripcloak.ground.folders import PRIVATE, PUBLIC
from tripcloak.ground.manifest import public_part, read_manifest, read_run, release_folder
from tripcloak.ground.rulebook import BrokenPart, Rulebook

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

    from tripcloak.hierarchy.tiling import Tiling


BATCH = 1 << 16

Loader = Callable[["FlowEvidence"], None]


class FlowEvidence:
    """One release folder under audit.

    Tables are temporary, named ``audit_<part>``, and go away with :meth:`close`. A part that cannot be
    read raises the same :class:`BrokenPart` every time it is asked for.

    Parameters
    ----------
    folder
        The folder that holds ``release/`` and ``private/``, or its public part.
    con
        Where the tables are made.
    request
        What the caller asked for, beyond what the manifest promises.
    loaders
        How to load the parts that are no files, such as the raw input.
    alone
        There is a public part and no private one, wherever it lies and whatever it is called.
    tiling
        How places become tiles, where the caller knows.
    """

    def __init__(
        self,
        folder: Path,
        con: duckdb.DuckDBPyConnection,
        *,
        request: AuditRequest | None = None,
        loaders: Mapping[str, Loader] | None = None,
        alone: bool = False,
        tiling: Tiling | None = None,
    ) -> None:
        self.released = public_part(folder)
        self.folder = self.released if alone else release_folder(folder)
        self.con = con
        self.facts = read_manifest(folder, "flows")
        self.request = request or AuditRequest()
        self.tiling = tiling
        self._loaders: dict[str, Loader] = {**_FILE_LOADERS, **(loaders or {})}
        self._loaded: dict[str, BrokenPart | None] = {}
        self._tables: dict[str, tuple[str, ...]] = {}

    @cached_property
    def promise(self) -> StatedPromise:
        """Return what the public manifest promises."""
        return read_promise(self.facts)

    @cached_property
    def recorded(self) -> dict[str, Any]:
        """Return the private record of how the release was made; nothing where there is none."""
        return read_run(self.folder) if (self.folder / PRIVATE / "run.json").is_file() else {}

    @property
    def ordered(self) -> dict[str, float]:
        """Return the thresholds that the caller asked for."""
        return self.request.thresholds(self.promise.main)

    @property
    def thresholds(self) -> dict[str, float]:
        """Return the thresholds to hold the release to: of the manifest's and the caller's the larger."""
        promised, ordered = self.promise.thresholds, self.ordered
        return {unit: max(promised.get(unit, 0), ordered.get(unit, 0)) for unit in {**promised, **ordered}}

    def public(self, name: str) -> Path:
        """Return the path of a public file."""
        return self.released / name

    def path(self, name: str) -> Path:
        """Return the path of a file of either part, given its name below the folder of both."""
        own = name.removeprefix(f"{PUBLIC}/")
        return self.public(own) if own != name else self.folder / name

    def load(self, part: str) -> None:
        """Make a part ready for SQL, or raise what is wrong with it."""
        if part not in self._loaded:
            try:
                self._loaders[part](self)
                self._loaded[part] = None
            except BrokenPart as broken:
                self._loaded[part] = broken
        broken_part = self._loaded[part]
        if broken_part is not None:
            raise broken_part

    def keep(self, table: str, query: str, reader: pa.RecordBatchReader | None = None) -> None:
        """Make a temporary table of a query; ``reader`` is what the query knows as ``audit_reader``."""
        if reader is not None:
            self.con.register("audit_reader", reader)
        try:
            self.con.execute(f"create or replace temp table {table} as {query}")
        finally:
            if reader is not None:
                self.con.unregister("audit_reader")
        self._tables[table] = column_names(self.con, table)

    def columns(self, table: str) -> tuple[str, ...]:
        """Return the columns of a table that was kept."""
        return self._tables[table]

    def value(self, query: str) -> Any:
        """Return the first value of a query's first row."""
        for value, *_ in self.con.execute(query).fetchall():
            return value
        return None

    def rows(self, query: str) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a query; the connection is free again when all of them are taken."""
        result = self.con.execute(query)
        while rows := result.fetchmany(BATCH):
            yield from rows

    def arrays(self, query: str) -> list[Any]:
        """Return the columns of a query that has no nulls, as arrays."""
        return list(self.con.execute(query).fetchnumpy().values())

    def close(self) -> None:
        """Remove the tables."""
        for table in self._tables:
            self.con.execute(f"drop table if exists {table}")
        self._tables.clear()


def column_names(con: duckdb.DuckDBPyConnection, table: str) -> tuple[str, ...]:
    """Return the columns of a table or view."""
    return tuple(column[0] for column in con.execute(f"from {table} limit 0").description)


NAMES = ("origin_name", "destination_name")
"""Columns of released flows: what both zones are called, where the manifest says that they are."""
POINTS = ("origin_lat", "origin_lon", "destination_lat", "destination_lon")
"""Columns of released flows: the points of both zones."""


class TableFile(NamedTuple):
    """What a Parquet file of a release must hold: columns with the kind of their values."""

    path: str
    needed: Mapping[str, str]
    optional: Mapping[str, str]
    nullable: frozenset[str] = frozenset()


TABLE_FILES = {
    "flows": TableFile(
        f"{PUBLIC}/flows.parquet",
        {"origin": "text", "destination": "text", **dict.fromkeys(POINTS, "number")},
        {"trips": "whole", "travellers": "whole", "population": "whole", **dict.fromkeys(NAMES, "text")},
        frozenset({*POINTS, *NAMES}),
    ),
    "zones": TableFile(
        f"{PUBLIC}/zones.parquet",
        {
            "axis": "text",
            "zone": "text",
            "height": "whole",
            "tiles": "whole",
            "area_km2": "number",
            "lat": "number",
            "lon": "number",
        },
        {
            **dict.fromkeys(("trips", "travellers", "population"), "whole"),
            "name": "text",
            "members": "texts",
            "geometry": "binary",
        },
        frozenset({"area_km2", "lat", "lon", "name", "members", "geometry"}),
    ),
    "groups": TableFile(
        f"{PRIVATE}/groups.parquet",
        {
            "origin": "text",
            "destination": "text",
            "trips": "whole",
            "released_origin": "text",
            "released_destination": "text",
        },
        {"travellers": "whole", "population": "number", "counted_from": "text"},
        frozenset({"released_origin", "released_destination", "counted_from"}),
    ),
    "segments": TableFile(
        f"{PUBLIC}/segments.parquet",
        {"origin": "text", "destination": "text", "segment": "text"},
        {"trips": "whole", "travellers": "whole", "population": "whole"},
    ),
    "tables": TableFile(
        f"{PUBLIC}/tables.parquet",
        {
            **dict.fromkeys(("origin_level", "destination_level", "origin", "destination"), "text"),
            "trips": "whole",
        },
        {},
    ),
    "levels": TableFile(
        f"{PUBLIC}/levels.parquet",
        {
            **dict.fromkeys(("axis", "level", "zone", "parent"), "text"),
            **dict.fromkeys(("height", "tiles"), "whole"),
            **dict.fromkeys(("area_km2", "lat", "lon"), "number"),
        },
        {"geometry": "binary"},
        frozenset({"parent", "area_km2", "lat", "lon", "geometry"}),
    ),
    "hierarchy": TableFile(
        f"{PRIVATE}/hierarchy.parquet",
        {"axis": "text", "zone": "text", "parent": "text", "height": "whole", "tiles": "whole"},
        {},
        frozenset({"parent"}),
    ),
}


TIME_COLUMNS: Mapping[str, Mapping[str, str]] = {
    "flows": {"time": "text"},
    "segments": {"time": "text"},
    "groups": {"time": "text", "released_time": "text"},
}
"""Further columns of a release in which time is an axis."""


def wanted_of(case: FlowEvidence, part: str) -> TableFile:
    """Return what a file of this release must hold."""
    wanted = TABLE_FILES[part]
    if part not in TIME_COLUMNS or case.promise.slot is None:
        return wanted
    nullable = wanted.nullable | {name for name in TIME_COLUMNS[part] if name.startswith("released_")}
    return wanted._replace(needed={**wanted.needed, **TIME_COLUMNS[part]}, nullable=nullable)


def load_table(case: FlowEvidence, part: str) -> None:
    """Make the table of a Parquet file after checking its columns; streamed, so that it may be large."""
    import duckdb
    import pyarrow as pa
    from pyarrow import parquet

    wanted = wanted_of(case, part)
    path = case.path(wanted.path)
    if not path.is_file():
        raise BrokenPart(f"{wanted.path} is missing")
    try:
        with parquet.ParquetFile(path.absolute()) as file:
            _check_schema(file.schema_arrow, wanted)
            batches = file.iter_batches(batch_size=BATCH)
            reader = pa.RecordBatchReader.from_batches(file.schema_arrow, batches)
            case.keep(f"audit_{part}", "select * from audit_reader", reader)
    except (duckdb.OutOfMemoryException, duckdb.InterruptException):
        raise
    except (pa.ArrowException, duckdb.Error, OSError):
        raise BrokenPart(f"{wanted.path} cannot be read as Parquet") from None
    _check_nulls(case, part)


def _check_schema(schema: pa.Schema, wanted: TableFile) -> None:
    missing = sorted(set(wanted.needed) - set(schema.names))
    if missing or len(set(schema.names)) < len(schema.names):
        raise BrokenPart(f"{wanted.path} must have the columns {', '.join(wanted.needed)}, each once")
    for name, kind in {**wanted.needed, **wanted.optional}.items():
        if name in schema.names and not _is_kind(schema.field(name).type, kind):
            raise BrokenPart(f"{wanted.path}: column {name!r} must hold {_KINDS[kind]}")


def _check_nulls(case: FlowEvidence, part: str) -> None:
    wanted, table = wanted_of(case, part), f"audit_{part}"
    full = [
        name
        for name in {**wanted.needed, **wanted.optional}
        if name in case.columns(table) and name not in wanted.nullable
    ]
    empty = " or ".join(f"{name} is null" for name in full)
    if case.value(f"select count(*) from {table} where {empty}"):
        raise BrokenPart(f"{wanted.path} has empty cells where a value must be")


_KINDS = {
    "text": "text",
    "whole": "whole numbers",
    "number": "numbers",
    "texts": "lists of text",
    "binary": "outlines as well-known binary",
}


def _is_kind(found: pa.DataType, kind: str) -> bool:
    from pyarrow import types

    def text(one: pa.DataType) -> bool:
        return bool(types.is_string(one) or types.is_large_string(one))

    if kind == "texts":
        return bool(types.is_list(found) or types.is_large_list(found)) and text(found.value_type)
    if kind == "number":
        return bool(types.is_floating(found) or types.is_integer(found))
    test = {"text": text, "whole": types.is_integer, "binary": types.is_binary}[kind]
    return bool(test(found))


def _loader(part: str) -> Loader:
    return lambda case: load_table(case, part)


def _load_record(case: FlowEvidence) -> None:
    """Do nothing: rules that need the private record read it themselves, and say what is wrong with it."""


_FILE_LOADERS: dict[str, Loader] = {
    **{part: _loader(part) for part in ("flows", "zones", "groups", "segments", "tables", "levels")},
    "record": _load_record,
}


BOOK: Rulebook[FlowEvidence] = Rulebook()
