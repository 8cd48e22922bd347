"""Tables of a release, piece by piece: whose points and outlines stand where, and what is left out."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
import shapely

from tripcloak.flows.release.bricks import TablesWanted
from tripcloak.flows.release.reading import _zones_of
from tripcloak.flows.release.tables import as_published, in_order, lines_table, with_points
from tripcloak.flows.release.totals import with_places
from tripcloak.hierarchy import Hierarchy

ZONES = pa.table(
    {
        "axis": ["origin", "destination", "origin", "destination"],
        "zone": ["a", "a", "b", "c"],
        "tiles": [1, 2, 3, 4],
        "lat": [1.0, 2.0, 3.12345678, None],
        "lon": [5.0, 6.0, 7.0, None],
        "geometry": [shapely.to_wkb(shapely.box(0, 0, n, n)) for n in (1, 2, 3, 4)],
    }
)
FLOWS = pa.table({"origin": ["a", "b", "a"], "destination": ["a", "a", "c"], "trips": [9, 8, 7]})


def test_zones_of_an_axis_are_its_own() -> None:
    for axis, ids, tiles in (("origin", ["a", "b"], [1, 3]), ("destination", ["a", "c"], [2, 4])):
        zones = _zones_of(ZONES, axis)
        assert (zones.ids.tolist(), zones.tiles.tolist()) == (ids, tiles)
        assert [shape.area for shape in zones.shapes] == [n * n for n in tiles]
    bare: Any = _zones_of(ZONES.drop_columns(["geometry"]), "origin")
    assert bare.shapes.tolist() == [None, None]


def test_points_are_those_of_both_ends_and_lines_go_between_them() -> None:
    placed = with_points(FLOWS, ZONES)
    assert placed["origin_lat"].to_pylist() == pytest.approx([1.0, 3.12345678, 1.0], abs=1e-5)
    assert placed["origin_lon"].to_pylist() == [5.0, 7.0, 5.0]
    assert placed["destination_lat"].to_pylist() == [2.0, 2.0, None]
    assert placed["destination_lon"].to_pylist() == [6.0, 6.0, None]
    lines = lines_table(placed)
    assert lines["trips"].to_pylist() == [9, 8]
    first = shapely.from_wkb(lines["geometry"][0].as_py())
    assert list(first.coords) == [(5.0, 1.0), (6.0, 2.0)]
    assert lines_table(placed.slice(0, 2))["trips"].to_pylist() == [9, 8]
    assert b"geo" in lines.schema.metadata


def test_flows_come_by_time_and_zones() -> None:
    timed = FLOWS.append_column("time", pa.array(["2", "1", "1"]))
    assert in_order(timed)["trips"].to_pylist() == [7, 8, 9]
    assert in_order(FLOWS.take([1, 2, 0]))["trips"].to_pylist() == [9, 7, 8]
    told = as_published(timed.append_column("more", pa.array([1, 2, 3])), ["trips"])
    assert set(told.column_names) == {"origin", "destination", "time", "trips"}
    assert told["trips"].to_pylist() == [7, 8, 9]


def test_zones_of_levels_are_those_of_the_hierarchy() -> None:
    tree = Hierarchy.from_parents(["a", "b", "all"], [2, 2, -1])
    named = pa.table({"zone": ["b", "a", "all"], "level": ["own", "own", "1"]})
    placed = with_places(named, tree, TablesWanted(levels=(1,)))
    assert placed["zone"].to_pylist() == ["b", "a", "all"]
    assert placed["tiles"].to_pylist() == [1, 1, 2]
    assert placed["parent"].to_pylist() == ["all", "all", None]
    for wrong in ("aa", "z", ""):
        with pytest.raises(ValueError, match="none of the hierarchy"):
            with_places(
                pa.table({"zone": ["a", wrong], "level": ["own", "own"]}), tree, TablesWanted(levels=(1,))
            )
