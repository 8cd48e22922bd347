"""Databases: the flows, the zones with their outlines and the manifest of a release as tables."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tripcloak.ground.errors import InputError, InternalError, OutputExistsError
from tripcloak.ground.spelling import called, spelt
from tripcloak.records.files.databases.addresses import Address, address_of
from tripcloak.records.files.databases.postgres import connected, quoted

if TYPE_CHECKING:
    import pyarrow as pa

    from tripcloak.exporting.export import PublicTables

TABLES = ("flows", "zones", "manifest")
"""What is made, in this order."""
MARK = "Made by tripcloak"
"""What begins the comment of every table that is ours: only such are ever replaced."""


def database_address(out: str) -> Address:
    """Return the database and the schema to write to, or raise an error that says what was expected.

    >>> database_address("postgresql://ana@db.example/city#open_data")
    Address(database='postgresql://ana@db.example/city', rows='open_data')
    """
    address = address_of(out)
    if address is None or address.is_file:
        raise InputError(
            f"{called('out')} must be the address of a database, with a schema after # if it is not public: "
            "postgresql://user@host:5432/name#schema"
        )
    if address.rows and (address.is_query or len(address.table()) > 1):
        raise InputError("expected the name of a schema after #, such as #open_data; found something else")
    return address


def write_postgres(tables: PublicTables, address: Address, *, force: bool) -> int:
    """Write all tables in one transaction, and return how many flows are in them.

    Parameters
    ----------
    address
        Where; its rows are the name of a schema, which is made if there is none.
    force
        Replace the tables of an earlier export.
    """
    schema = address.table()[0] if address.rows else "public"
    with connected(address, "written") as cursor:
        _refuse_without_postgis(cursor, address)
        cursor.execute("SELECT 1 FROM pg_namespace WHERE nspname = $1", (schema,))
        if not cursor.fetchall():
            cursor.execute(f"CREATE SCHEMA {quoted(schema)}")
        _make_room(cursor, schema, address, force=force)
        zones = _with_outlines(tables.zones)
        manifest = _manifest(tables)
        for name, table in zip(TABLES, (tables.flows, zones, manifest), strict=True):
            cursor.adbc_ingest(name, _ingestible(table), mode="create", db_schema_name=schema)
            cursor.execute(f"COMMENT ON TABLE {quoted(schema, name)} IS '{MARK} {_digest(tables)}'")
        _dress(cursor, schema, outlines="geometry" in zones.column_names)
        _compare(cursor, schema, tables)
    return len(tables.flows)


def write_duckdb(tables: PublicTables, path: Path) -> int:
    """Write all tables into a new DuckDB file, and return how many flows are in them."""
    import duckdb

    zones = _with_outlines(tables.zones)
    manifest = _manifest(tables)
    with duckdb.connect(str(path)) as con:
        # Geometry is a type of DuckDB itself since its second version.
        ((known,),) = con.execute(
            "SELECT count(*) > 0 FROM duckdb_functions() WHERE function_name = 'st_geomfromwkb'"
        ).fetchall()
        for name, table in zip(TABLES, (tables.flows, zones, manifest), strict=True):
            con.register("given", table)
            drawn = known and "geometry" in table.column_names
            shown = " REPLACE (ST_GeomFromWKB(geometry) AS geometry)" if drawn else ""
            con.execute(f"CREATE TABLE {name} AS SELECT *{shown} FROM given")
            con.unregister("given")
    return len(tables.flows)


def _refuse_without_postgis(cursor: Any, address: Address) -> None:
    cursor.execute("SELECT 1 FROM pg_extension WHERE extname = 'postgis'")
    if not cursor.fetchall():
        raise InputError(
            f"{address.called} has no PostGIS, in which the outlines of zones are kept; let its owner run "
            "CREATE EXTENSION postgis, or export the release as duckdb or gpkg, which are files"
        )


def _make_room(cursor: Any, schema: str, address: Address, *, force: bool) -> None:
    """Drop the tables of an earlier export if that is asked for; raise where others are in the way."""
    cursor.execute(
        "SELECT c.relname, c.relkind = 'r' AND coalesce(obj_description(c.oid, 'pg_class'), '') LIKE $2 "
        "FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
        "WHERE n.nspname = $1 AND c.relname IN ('flows', 'zones', 'manifest')",
        (schema, f"{MARK}%"),
    )
    there = dict(cursor.fetchall())
    others = sorted(name for name, own in there.items() if not own)
    if others:
        raise OutputExistsError(
            f"{address.called} has a table {others[0]} there that is none of ours, and stays; name another "
            "schema after #"
        )
    if there and not force:
        raise OutputExistsError(
            f"{address.called} has a release there already; name another schema after #, or replace it with "
            f"{spelt('force', True)}"
        )
    for name in there:
        cursor.execute(f"DROP TABLE {quoted(schema, name)}")


def _dress(cursor: Any, schema: str, *, outlines: bool) -> None:
    """Turn outlines into geometries and add the indexes; all inside the transaction."""
    flows, zones, manifest = (quoted(schema, name) for name in TABLES)
    if outlines:
        cursor.execute(
            f"ALTER TABLE {zones} ALTER COLUMN geometry TYPE geometry(MultiPolygon, 4326) "
            "USING ST_Multi(ST_GeomFromWKB(geometry, 4326))"
        )
        cursor.execute(f"CREATE INDEX ON {zones} USING gist (geometry)")
    cursor.execute(f"ALTER TABLE {zones} ADD PRIMARY KEY (axis, zone)")
    for side in ("origin", "destination"):
        cursor.execute(f"CREATE INDEX ON {flows} ({side})")
    cursor.execute(f"ALTER TABLE {manifest} ALTER COLUMN manifest TYPE jsonb USING manifest::jsonb")


def _compare(cursor: Any, schema: str, tables: PublicTables) -> None:
    """Raise, before anything is kept, unless the database holds what the release holds."""
    from pyarrow import compute

    volume = tables.facts["volume"]
    cursor.execute(f"SELECT count(*), sum({quoted(volume)})::float8 FROM {quoted(schema, 'flows')}")
    ((rows, total),) = cursor.fetchall()
    expected = float(compute.sum(tables.flows[volume]).as_py() or 0)
    if rows != len(tables.flows) or abs((total or 0) - expected) > 1e-6 * max(1.0, expected):
        raise InternalError("the tables of the database are not those of the release; nothing was kept")


def _with_outlines(zones: pa.Table) -> pa.Table:
    """Return zones with outlines that a database understands; where none has any, without the column."""
    if "geometry" not in zones.column_names or zones["geometry"].null_count == len(zones):
        return zones.drop_columns([name for name in ("geometry",) if name in zones.column_names])
    return zones


def _manifest(tables: PublicTables) -> pa.Table:
    import pyarrow as pa

    return pa.table({"manifest": [json.dumps(tables.facts, ensure_ascii=False, sort_keys=True)]})


def _digest(tables: PublicTables) -> str:
    told = str(tables.facts.get("files", {}).get("flows.parquet", ""))
    return "".join(letter for letter in told if letter.isalnum())[:16]


def _ingestible(table: pa.Table) -> pa.Table:
    """Return a table in types that both sides have, without what is said beside its columns."""
    import pyarrow as pa

    table = table.replace_schema_metadata(None)
    fields = []
    for field in table.schema:
        kind = field.type
        if pa.types.is_dictionary(kind) or pa.types.is_large_string(kind):
            kind = pa.string()
        if pa.types.is_unsigned_integer(kind) or pa.types.is_int8(kind):
            kind = pa.int64()
        fields.append(pa.field(field.name, kind))
    return table.cast(pa.schema(fields))
