"""The raw input counted afresh, on a few records in memory: every number told by hand."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import duckdb
import numpy as np
import pytest

from tripcloak.flows.audit import raw
from tripcloak.flows.audit.encoding import H3Encoder, NamedEncoder, TilingEncoder
from tripcloak.flows.audit.raw import RawInput, _explained, _view_columns
from tripcloak.ground.errors import InputError
from tripcloak.hierarchy.tiling import OUTSIDE
from worlds.made_evidence import made

TREE = ("axis varchar, zone varchar, parent varchar, height int, tiles int", [("origin", "ab", None, 1, 2)])
KINDS = {"person": "varchar", "weight": "double", "trips": "int", "mark": "bigint", "reason": "int"}
RECORDS = [
    # origin, destination, person, weight, trips, mark, reason
    ("a", "b", "p", 1.5, 1, None, 0),
    ("a", "b", "p", 2.0, 4, 7, 0),
    ("a", "b", "q", 0.5, 1, 8, 0),
    ("a", "b", "q", 0.5, 1, 8, 0),
    ("b", "a", "p", 3.0, 2, 8, 0),
    ("b", "b", "r", 1.0, 1, 9, 0),
    ("b", "b", "s", 1.0, 1, 9, 0),
    ("a", "b", "t", 9.0, 9, None, 3),
    ("a", "z", "u", 9.0, 9, None, 0),
    ("z", "a", "u", 9.0, 9, None, 0),
]
"""One row is told twice: q, from a to b, with the mark 8. Two are of nowhere, and one was dropped."""


def case_of(*columns: str, records: Any = RECORDS, known: int | None = None) -> Any:
    """Return evidence with the records' ends and these columns of theirs."""
    case = made(hierarchy={"spec": "dendrogram"}, volume="trips")
    order = ["o_id", "d_id", "person", "weight", "trips", "mark", "reason"]
    kept = ["o_id", "d_id", *columns, "reason"]
    types = ", ".join(f"{name} {KINDS.get(name, 'varchar')}" for name in kept)
    rows = [tuple(row[order.index(name)] for name in kept) for row in records]
    case.table("canonical", types, rows)
    tiles = [("origin", name, "ab", 0, 1) for name in "ab"]
    case.table("audit_tree", TREE[0], [*TREE[1], *tiles])
    case.recorded = {}
    promise = case.promise
    case.promise = SimpleNamespace(
        resolution=None,
        spec="dendrogram",
        slot=None,
        segments=(),
        axes=promise.axes,
        known_items=known,
        timezone="UTC",
        fold=None,
        period=None,
    )
    return case


def flows(case: Any) -> set[tuple[Any, ...]]:
    return set(case.rows("select origin, destination, trips, travellers, population from audit_input"))


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ((), {("a", "b", 4, None, None), ("b", "a", 1, None, None), ("b", "b", 2, None, None)}),
        (("person",), {("a", "b", 4, 2, None), ("b", "a", 1, 1, None), ("b", "b", 2, 2, None)}),
        (("trips",), {("a", "b", 7, None, None), ("b", "a", 2, None, None), ("b", "b", 2, None, None)}),
        (("weight",), {("a", "b", 4, None, 4.5), ("b", "a", 1, None, 3.0), ("b", "b", 2, None, 2.0)}),
        # Without people, those who share a mark and both ends are one record.
        (("mark",), {("a", "b", 3, None, None), ("b", "a", 1, None, None), ("b", "b", 1, None, None)}),
        (
            ("person", "weight", "trips", "mark"),
            {("a", "b", 6, 2, 4.0), ("b", "a", 2, 1, 3.0), ("b", "b", 2, 2, 2.0)},
        ),
    ],
    ids=lambda one: " ".join(map(str, one)) if isinstance(one, tuple) else "",
)
def test_records_that_count_are_counted_once_in_their_flow(columns: Any, expected: Any) -> None:
    case = case_of(*columns)
    RawInput().load(case)
    assert flows(case) == expected
    assert not case.con.execute("from duckdb_tables() where table_name = 'audit_trips'").fetchall()
    assert dict(case.rows("select key, name from audit_names")) == {0: "a", 1: "b"}


def test_where_each_trip_is_a_person_trips_are_travellers_unless_people_are_told_apart() -> None:
    for columns, travellers in (((), {4, 1, 2}), (("person",), {2, 1})):
        case = case_of(*columns)
        RawInput(each_trip_is_a_person=True).load(case)
        assert {row[3] for row in flows(case)} == travellers


def released(case: Any, flows: list[tuple[str, str]], groups: list[tuple[str | None, ...]]) -> Any:
    """Give a case released pairs, and which flow went to which; count anew."""
    case.table("audit_flows", "origin varchar, destination varchar", flows)
    names = "origin varchar, destination varchar, released_origin varchar, released_destination varchar"
    case.table("audit_groups", names, groups)
    RawInput().load(case)
    RawInput().recount(case)
    return case


def recount(case: Any) -> list[tuple[Any, ...]]:
    told = "origin, destination, trips, travellers, population, largest"
    return list(case.rows(f"select {told} from audit_recount order by pair"))


WENT = [("a", "b", "ab", "b"), ("b", "b", "ab", "b"), ("b", "a", None, None)]


def test_released_pairs_are_counted_by_where_flows_went_and_the_rest_is_withheld() -> None:
    case = released(case_of("person", "weight", "trips", "mark"), [("ab", "b")], WENT)
    assert recount(case) == [(None, None, 2, 1, 3.0, 2), ("ab", "b", 8, 4, 6.0, 5)]
    assert {"flows", "groups", "raw"} <= set(case.loaded)


def test_a_pair_that_is_published_or_named_alone_holds_nobody() -> None:
    case = released(case_of("person"), [("ab", "b"), ("b", "ab")], [*WENT, ("b", "ab", "ab", "ab")])
    assert recount(case) == [
        (None, None, 1, 1, None, 1),
        ("ab", "ab", 0, 0, None, None),
        ("ab", "b", 6, 4, None, 2),
        ("b", "ab", 0, 0, None, None),
    ]


def test_without_people_nobody_says_how_many_they_are_or_who_has_most() -> None:
    case = released(case_of(), [("ab", "b")], WENT)
    assert recount(case) == [(None, None, 1, None, None, None), ("ab", "b", 6, None, None, None)]


def test_pairs_that_share_what_a_reader_knows_are_counted_together() -> None:
    groups = [("a", "b", "a", "ab"), ("b", "b", "b", "ab"), ("b", "a", "b", "a")]
    case = released(case_of("person", "weight", known=1), [(row[2], row[3]) for row in groups], groups)
    told = "items, share, trips, travellers, population"
    assert list(case.rows(f"select {told} from audit_shared order by items, share")) == [
        # By origin, a and b; by destination, a and ab, of which p is in both.
        (0, 1, 4, 2, 4.5),
        (0, 2, 3, 3, 5.0),
        (1, 1, 1, 1, 3.0),
        (1, 2, 6, 4, 6.5),
    ]


@pytest.mark.parametrize(
    ("columns", "slot", "words"),
    [
        ("o_id d_id", None, "needs the columns reason"),
        ("reason o_id", None, "o_id, d_id$"),
        ("reason o_lat o_lon d_lat", None, "o_lat, o_lon, d_lat, d_lon or"),
        ("reason o_id d_id", 60, "the start of every trip"),
    ],
)
def test_the_raw_input_has_what_the_audit_needs(columns: str, slot: Any, words: str) -> None:
    case = made()
    case.promise = SimpleNamespace(slot=slot)
    case.table("canonical", ", ".join(f"{name} varchar" for name in columns.split()), [])
    with pytest.raises(InputError, match=words):
        _view_columns(case)
    case.table("canonical", "reason int, o_id int, d_id int, start_time timestamptz", [])
    assert _view_columns(case)[:3] == ("reason", "o_id", "d_id")
    case.table("canonical", "reason int, o_lat int, o_lon int, d_lat int, d_lon int, start_time int", [])
    assert len(_view_columns(case)) == 6
    case.con.execute("drop table canonical")
    with pytest.raises(InputError, match="a view named 'canonical'"):
        _view_columns(case)


def test_records_are_placed_as_the_release_says(monkeypatch: pytest.MonkeyPatch) -> None:
    case = case_of()
    encoder: Any = RawInput()._encoder(case)
    assert isinstance(encoder, NamedEncoder)
    assert encoder.of_ids(["a", "b", "ab", "c"]).tolist() == [0, 1, OUTSIDE, OUTSIDE]
    case.promise.resolution, case.promise.spec = 9, "h3:9/root=851fb467fffffff"
    encoder = RawInput()._encoder(case)
    assert isinstance(encoder, H3Encoder)
    assert encoder.of_points(np.array([48.8584, 0.0]), np.array([2.2945, 0.0]))[1] == OUTSIDE
    case.promise.resolution, tiling = None, object()
    monkeypatch.setattr(raw, "tiling_of", lambda case, given: tiling)
    assert isinstance(RawInput()._encoder(case), TilingEncoder)
    monkeypatch.setattr(raw, "tiling_of", lambda case, given: None)
    case.table("canonical", "reason int, o_lat int, o_lon int, d_lat int, d_lon int", [])
    with pytest.raises(InputError, match="needs the zones that the release was made with"):
        RawInput()._encoder(case)


def test_errors_of_the_engine_quote_nothing() -> None:
    assert "cannot be read" in str(_explained(duckdb.ConversionException("they live here")))
    for kept in (duckdb.OutOfMemoryException("x"), duckdb.InterruptException("x"), KeyError("x")):
        assert _explained(kept) is kept
    case = case_of("trips", records=[("a", "b", "p", 1.0, None, None, 0)])
    case.con.execute("alter table canonical alter trips type varchar using 'many'")
    with pytest.raises(InputError, match="damaged, or not what the release was made from") as told:
        RawInput().load(case)
    assert "many" not in str(told.value)
