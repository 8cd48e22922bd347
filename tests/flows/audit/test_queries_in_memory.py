"""Queries of the auditor on a few rows: pairs that overlap, origins whose destinations differ, climbing."""

from __future__ import annotations

from collections.abc import Iterator

import duckdb
import pyarrow as pa
import pytest

from tripcloak.flows.audit.evidence import TableFile, _check_schema
from tripcloak.flows.audit.queries import climb, overlaps_sql, too_far_sql
from tripcloak.flows.audit.raw import PLACES, _seen
from tripcloak.ground.rulebook import BrokenPart

# A tree of zones: "ab" holds "a" and "b", "all" holds "ab" and "c".
ABOVE = {"a": "ab", "b": "ab", "ab": "all", "c": "all"}
Flow = tuple[str, ...]


@pytest.fixture(scope="module")
def con() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as con:
        con.execute("set threads = 1")
        yield con


def lineage(con: duckdb.DuckDBPyConnection, zones: set[str], name: str) -> None:
    """Make the table of every released zone with itself and the released zones that hold it."""
    con.execute(f"create or replace temp table {name} (zone varchar, above varchar)")
    for zone in zones:
        here: str | None = zone
        while here is not None:
            if here in zones:
                con.execute(f"insert into {name} values (?, ?)", [zone, here])
            here = ABOVE.get(here)


@pytest.mark.parametrize(
    ("flows", "pairs"),
    [
        ([("a", "c"), ("b", "c"), ("ab", "a")], 0),
        ([("a", "c"), ("ab", "c")], 2),
        ([("a", "c"), ("ab", "all")], 1),
        ([("ab", "c"), ("a", "all")], 1),
        ([("c", "ab"), ("all", "a")], 1),
        ([("c", "ab"), ("c", "a"), ("c", "b")], 4),
        ([("a", "c"), ("a", "c")], 4),
        ([("a", "a"), ("b", "b"), ("a", "b"), ("b", "a"), ("c", "ab")], 0),
        ([("a", "c"), ("b", "c"), ("ab", "c")], 4),
    ],
)
def test_flows_overlap_where_each_axis_of_one_holds_that_of_the_other(
    con: duckdb.DuckDBPyConnection, flows: list[Flow], pairs: int
) -> None:
    """Whichever is the larger on which side; where a zone is the same, either holds the other."""
    con.execute("create or replace temp table told (origin varchar, destination varchar)")
    con.executemany("insert into told values (?, ?)", flows)
    for axis, name in enumerate(("origin", "destination")):
        lineage(con, {flow[axis] for flow in flows}, f"{name}_lineage")
    query = overlaps_sql("told", ("origin", "destination"), "{axis}_lineage")
    assert con.execute(query).fetchall() == [(pairs,)]


def far(con: duckdb.DuckDBPyConnection, flows: list[tuple[str, str, float]], t: float) -> int:
    """Return how many origins are too far from all."""
    con.execute("create or replace temp table told (origin varchar, destination varchar, volume double)")
    con.executemany("insert into told values (?, ?, ?)", flows)
    lineage(con, {flow[1] for flow in flows}, "destination_lineage")
    sizes = "values ('a', 1), ('b', 3), ('ab', 4), ('c', 1), ('all', 5)"
    query = too_far_sql(
        "from told", lineage="destination_lineage", sizes=f"select * from ({sizes}) size(zone, tiles)", t=t
    )
    ((found,),) = con.execute(query).fetchall()
    return int(found)


@pytest.mark.parametrize(
    ("flows", "difference"),
    [
        # Half of all go to each: the one that sends all to one is half away.
        ([("x", "a", 4.0), ("y", "c", 4.0)], 0.5),
        ([("x", "a", 3.0), ("x", "c", 1.0), ("y", "a", 1.0), ("y", "c", 3.0)], 0.25),
        # Of "ab" a quarter lies in "a" by its tiles, so that it has 1 + 1 of 8, and "ab" all.
        ([("x", "a", 1.0), ("y", "ab", 4.0), ("x", "c", 3.0)], 0.375),
        # "ab" has its own and what lies inside: 6 of 8. "a" has 4 and half a trip.
        ([("x", "a", 4.0), ("y", "ab", 2.0), ("y", "c", 2.0)], 0.4375),
    ],
)
def test_an_origin_is_as_far_as_its_shares_are_above_those_of_all(
    con: duckdb.DuckDBPyConnection, flows: list[tuple[str, str, float]], difference: float
) -> None:
    assert far(con, flows, difference) == 0
    assert far(con, flows, difference - 1e-6) >= 1
    assert far(con, flows, 1.0) == 0


def test_climbing_ends_where_nothing_is_above_or_where_somebody_is_met(
    con: duckdb.DuckDBPyConnection,
) -> None:
    steps = "values ('a', 'ab'), ('b', 'ab'), ('ab', 'all'), ('all', null)"
    climb(con, "up", "values ('ab', 'a'), ('c', 'b')", steps, until_met=True)
    assert sorted(con.execute("from up").fetchall()) == [
        ("ab", "a"), ("ab", "ab"), ("c", "ab"), ("c", "all"), ("c", "b")
    ]  # fmt: skip
    climb(con, "up", "values ('ab', 'a')", steps)
    assert sorted(con.execute("from up").fetchall()) == [("ab", "a"), ("ab", "ab"), ("ab", "all")]
    left = con.execute("select table_name from duckdb_tables() where table_name like 'up%'").fetchall()
    assert left == [("up",)]


@pytest.mark.parametrize(
    ("columns", "wrong"),
    [
        ([("zone", pa.string())], None),
        ([("zone", pa.string()), ("n", pa.int64())], None),
        ([("zone", pa.string()), ("more", pa.binary())], None),
        ([("n", pa.int64())], "must have the columns zone, each once"),
        ([("zone", pa.string()), ("zone", pa.string())], "must have the columns zone, each once"),
        ([("zone", pa.string()), ("n", pa.int64()), ("n", pa.int64())], "each once"),
        ([("zone", pa.int64())], "column 'zone' must hold text"),
        ([("zone", pa.string()), ("n", pa.string())], "column 'n' must hold whole numbers"),
    ],
)
def test_a_table_has_its_columns_each_once_and_of_their_kind(
    columns: list[tuple[str, pa.DataType]], wrong: str | None
) -> None:
    wanted = TableFile("release/some.parquet", {"zone": "text"}, {"n": "whole"})
    if wrong is None:
        _check_schema(pa.schema(columns), wanted)
        return
    with pytest.raises(BrokenPart, match=wrong):
        _check_schema(pa.schema(columns), wanted)


def test_places_are_seen_where_both_ends_have_one() -> None:
    for columns in (PLACES, (*PLACES, "more")):
        assert all(f"{name}::varchar" in _seen(columns) for name in PLACES)
    for columns in (PLACES[:1], PLACES[1:], (), (PLACES[0], "more")):
        assert "null::varchar as place" in _seen(columns)
        assert not [name for name in PLACES if name in _seen(columns)]
