"""The tables of a release: what stands in which column, and what is null."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import shapely

from tripcloak.flows.methods import ODkAnon
from tripcloak.flows.model import ODMatrix
from tripcloak.flows.release import Release, ReleasedZones
from tripcloak.flows.release.tables import (
    POINTS,
    _geometries,
    _is_ring,
    flows_over_time,
    flows_table,
    groups_batches,
    hierarchy_table,
    zone_rows,
    zones_as_named,
    zones_as_published,
    zones_geojson,
    zones_table,
)
from tripcloak.hierarchy import Hierarchy, box_zones, read_box_names
from tripcloak.hierarchy.quadtree import QuadtreeTiling
from tripcloak.promises import AllOf, KAnonymity

IDS = ["a", "b", "c", "d", "ab", "cd", "all"]
PARENTS = [4, 4, 5, 5, 6, 6, -1]


def matrix_of(**columns: Any) -> ODMatrix:
    """Trips a -> c (6 by three people), b -> c (2 by one of them) and d -> a (1)."""
    tree = Hierarchy.from_parents(IDS, PARENTS, name="small")
    origin = np.array([0] * 6 + [1] * 2 + [3], dtype=np.int32)
    destination = np.array([2] * 8 + [0], dtype=np.int32)
    return ODMatrix.from_trips(tree, tree, origin, destination, **columns)


PEOPLE = {"person": np.array([0, 0, 1, 1, 2, 2, 2, 2, 3], dtype=np.int32)}
WEIGHTS = {"weight": np.array([1.3] * 9)}


def release_of(matrix: ODMatrix, *units: str, k: int = 2) -> Release:
    parts = tuple(KAnonymity(k=k, unit=unit) for unit in units)  # type: ignore[arg-type]
    return ODkAnon(promise=AllOf(promises=parts), suppression_limit=0.4, levels=0).anonymise(matrix)


@pytest.mark.parametrize(
    ("units", "columns"),
    [
        (("trips",), ["trips"]),
        (("travellers",), ["trips", "travellers"]),
        (("population",), ["population"]),
        (("population", "trips"), ["trips", "population"]),
    ],
)
def test_flows_have_the_columns_that_are_protected(units, columns):
    matrix = matrix_of(**PEOPLE, **WEIGHTS)
    table = flows_table(release_of(matrix, *units))
    assert table.column_names == ["origin", "destination", *columns]
    assert [str(table.schema.field(name).type) for name in table.column_names] == [
        *("string", "string"),
        *["int64"] * len(columns),
    ]
    pairs = list(zip(table["origin"].to_pylist(), table["destination"].to_pylist(), strict=True))
    assert pairs == sorted(set(pairs))


def test_population_is_rounded_to_whole_people():
    matrix = matrix_of(**WEIGHTS)
    release = release_of(matrix, "population", k=10)
    assert flows_table(release)["population"].to_pylist() == [round(float(n)) for n in release.population]
    assert release.population.sum() != round(release.population.sum())


def test_groups_say_where_every_flow_went():
    matrix = matrix_of(**PEOPLE)
    release = release_of(matrix, "trips")
    table = pa.concat_tables(groups_batches(matrix, release))
    rows = {(row["origin"], row["destination"]): row for row in table.to_pylist()}
    assert {pair: (row["trips"], row["travellers"]) for pair, row in rows.items()} == {
        ("a", "c"): (6, 3),
        ("b", "c"): (2, 1),
        ("d", "a"): (1, 1),
    }
    assert rows["d", "a"]["released_origin"] is None
    assert rows["d", "a"]["released_destination"] is None
    released = flows_table(release).to_pylist()
    for row in released:
        own = [
            one["trips"]
            for one in rows.values()
            if (one["released_origin"], one["released_destination"]) == (row["origin"], row["destination"])
        ]
        assert sum(own) == row["trips"]


def test_both_trees_are_told_with_their_parents():
    table = hierarchy_table(matrix_of()).to_pylist()
    assert len(table) == 2 * len(IDS)
    for axis in ("origin", "destination"):
        above = {row["zone"]: row["parent"] for row in table if row["axis"] == axis}
        assert above == {zone: None if up < 0 else IDS[up] for zone, up in zip(IDS, PARENTS, strict=True)}


def test_zones_of_a_grid_have_outlines_and_no_members():
    tiling = QuadtreeTiling(3, (0.0, 0.0, 8.0, 8.0))
    keys = tiling.encode(np.array([0.5, 1.5, 7.5]), np.array([0.5, 0.5, 7.5]))
    tree = tiling.hierarchy(np.unique(keys))
    rows = tiling.tiles(keys, tree)
    matrix = ODMatrix.from_trips(tree, tree, rows[[0, 0, 1, 1]], rows[[2, 2, 2, 2]])
    table = zones_table(matrix, release_of(matrix, "trips"))
    assert "members" not in table.column_names
    geo = json.loads(table.schema.metadata[b"geo"])
    assert geo["columns"]["geometry"]["encoding"] == "WKB"
    for feature in zones_geojson(table)["features"]:
        ring = feature["geometry"]["coordinates"][0]
        middle = (sum({x for x, _ in ring}) / 2, sum({y for _, y in ring}) / 2)
        assert middle == (feature["properties"]["lon"], feature["properties"]["lat"])
    assert table["axis"].to_pylist() == sorted(table["axis"].to_pylist(), reverse=True)


def test_json_has_null_where_a_number_is_missing():
    matrix = matrix_of()
    table = zones_table(matrix, release_of(matrix, "trips"))
    assert all(math.isnan(area) for area in table["area_km2"].to_pylist())
    assert table.schema.metadata is None
    collection = zones_geojson(table)
    json.dumps(collection, allow_nan=False)
    for feature in collection["features"]:
        assert feature["geometry"] is None
        assert feature["properties"]["lat"] is None
        assert feature["properties"]["trips"] > 0


def test_flows_over_time_lie_in_the_file_time_by_time() -> None:
    import pyarrow as pa

    from tripcloak.flows.release.tables import time_parts

    times = ["T08", "T08", "T09", "T10", "T10"]
    flows = pa.table({"origin": list("abaab"), "time": times, "trips": [1, 2, 3, 4, 5]})
    assert [part.to_pylist() for part in time_parts(flows)] == [
        flows.slice(0, 2).to_pylist(),
        flows.slice(2, 1).to_pylist(),
        flows.slice(3).to_pylist(),
    ]
    timeless = flows.drop_columns("time")
    assert [part.to_pylist() for part in time_parts(timeless)] == [timeless.to_pylist()]


@pytest.mark.parametrize(
    "facts",
    [
        {"hierarchy": {"spec": "h3:6"}, "zone_form": "boxes"},
        {"hierarchy": {"spec": "quadtree:9"}},
        {"hierarchy": {"spec": "h3:123"}},
    ],
)
def test_zones_that_are_no_cells_stay_as_they_are(facts: dict[str, Any]) -> None:
    table = pa.table({"axis": ["origin"], "zone": ["871fb4662ffffff"]})
    assert zones_as_named(table, facts) is table


def test_flows_are_summed_over_all_times_and_stay_as_they_are_where_there_is_none() -> None:
    ends = {"origin": ["a", "b", "a"], "destination": ["b", "a", "b"]}
    points = dict.fromkeys(POINTS, [0.5] * 3)
    numbers = {"trips": [1, 2, 3], "travellers": [1, 2, 2]}
    timeless = flows_over_time(pa.table({**ends, **points, **numbers}))
    assert timeless.to_pydict() == {**ends, **numbers}
    timed = flows_over_time(pa.table({**ends, **points, "time": ["T08", "T08", "T09"], **numbers}))
    # One person may travel at both times.
    assert timed.to_pydict() == {"origin": ["a", "b"], "destination": ["b", "a"], "trips": [4, 2]}


def test_a_ring_is_flat_at_every_point_and_has_no_hole() -> None:
    ring = [(0, 0), (0, 1), (1, 1), (0, 0)]
    assert _is_ring({"type": "Polygon", "coordinates": [ring]})
    assert not _is_ring({"type": "Polygon", "coordinates": [[(0, 0, 7), *ring[1:]]]})
    assert not _is_ring({"type": "Polygon", "coordinates": [ring, ring]})
    assert not _is_ring({"type": "MultiPolygon", "coordinates": [[ring]]})


def test_outlines_with_holes_or_heights_keep_them() -> None:
    ring = [(0.0, 0.0), (9.0, 0.0), (9.0, 9.0), (0.0, 0.0)]
    hole = [(7.0, 5.0), (8.0, 5.0), (8.0, 6.0), (7.0, 5.0)]
    shapes = [
        shapely.Polygon(ring),
        shapely.Polygon(ring, [hole]),
        shapely.Polygon([(*point, 3.0) for point in ring]),
        shapely.MultiPolygon([shapely.Polygon(hole)]),
        shapely.Polygon(hole),
    ]
    found = _geometries([*shapely.to_wkb(shapes, output_dimension=3).tolist(), None])
    assert found[-1] is None
    for shape, outline in zip(shapes, found, strict=False):
        assert outline is not None
        assert shapely.to_wkt(shapely.geometry.shape(outline)) == shapely.to_wkt(shape)


@pytest.mark.parametrize("kind", ["tree", "boxes", "grid"])
def test_only_zones_of_a_tree_that_holds_every_tile_list_their_members(kind: str) -> None:
    at = {"lat": np.full(7, 0.5), "lon": np.full(7, 0.5), "area_km2": np.ones(7)}
    tree = replace(Hierarchy.from_parents(IDS, PARENTS, **at), complete=kind != "grid")
    zones: Any = tree.zones
    if kind == "boxes":
        corners = read_box_names(np.array(["box_0.000000_0.000000_1.000000_1.000000"]))
        zones = box_zones(tree, np.ones(4, dtype=bool), corners, 1.0)
    rows = np.array([0]) if kind == "boxes" else np.array([4, 2])
    table = zone_rows(ReleasedZones("origin", zones, rows, {"trips": rows + 5}), tree)
    told = table["members"].to_pylist() if "members" in table.column_names else None
    assert told == ([["a", "b"], ["c"]] if kind == "tree" else None)
    assert table["trips"].to_pylist() == (rows + 5).tolist()


def test_columns_that_some_tables_of_zones_have_stay_and_others_are_left_out() -> None:
    wholes = {"height": [0, 1], "tiles": [1, 2], "trips": [7, 8], "secret": [9, 9]}
    places = {"area_km2": [1.0, 2.0], "lat": [3.0, 4.0], "lon": [5.0, 6.0]}
    table = pa.table({"zone": ["b", "a"], "axis": ["origin"] * 2, **wholes, **places})
    always = ["axis", "zone", "height", "tiles", "area_km2", "lat", "lon", "trips"]
    told = zones_as_published(table, ["trips"])
    assert (told.column_names, told["zone"].to_pylist()) == (always, ["a", "b"])
    more = {"name": ["B", "A"], "members": [["b"], ["a"]], "geometry": [b"b", b"a"]}
    for name, column in more.items():
        table = table.append_column(name, pa.array(column))
    told = zones_as_published(table, ["trips"])
    assert told.column_names == ["axis", "zone", "name", *always[2:], "members", "geometry"]
    assert told["members"].to_pylist() == [["a"], ["b"]]
