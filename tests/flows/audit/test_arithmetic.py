"""What the auditor of flows reckons without a release: one step before every edge, and one past it."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import duckdb
import h3
import numpy as np
import pytest
import shapely

from tripcloak.flows.audit import cells
from tripcloak.flows.audit.areas import quarter
from tripcloak.flows.audit.box_grid import STEPS, longitude_step, steps_of_lines, tells_nobody, tile_extent
from tripcloak.flows.audit.boxes import MICRO, Box, read_box
from tripcloak.flows.audit.grids import Quadtree
from tripcloak.flows.audit.hidden import HiddenThresholds
from tripcloak.flows.audit.matrix.counts import _travellers
from tripcloak.flows.audit.matrix.zones import zones_diverse
from tripcloak.flows.audit.outlines import PIECES, RADIUS_KM, ROUNDING, Drawn, _on_line, wrongly_drawn
from tripcloak.flows.audit.privacy import Privacy, read_privacy, too_little
from tripcloak.flows.audit.queries import segment_sql
from tripcloak.flows.audit.rules import privacy as on_privacy
from tripcloak.flows.audit.rules.counted import counted_as_said
from tripcloak.flows.audit.rules.counts import smallest_support
from tripcloak.flows.audit.rules.files import _wrong_zones
from tripcloak.flows.audit.rules.manifest import _beyond_the_table, _typical
from tripcloak.flows.audit.rules.privacy import _all_pairs
from tripcloak.ground.rulebook import BrokenPart
from tripcloak.hierarchy.h3.outlines import PIECES as drawn_pieces

WORLD = Box(-90 * MICRO, -180 * MICRO, 90 * MICRO, 180 * MICRO)


@pytest.mark.parametrize(
    ("name", "reads"),
    [
        ("box_-90.000000_-180.000000_90.000000_180.000000", True),
        ("box_-90.000001_-180.000000_90.000000_180.000000", False),
        ("box_-90.000000_-180.000001_90.000000_180.000000", False),
        ("box_-90.000000_-180.000000_90.000001_180.000000", False),
        ("box_-90.000000_-180.000000_90.000000_180.000001", False),
        ("box_1.000000_2.000000_1.000000_2.000000", True),
        ("box_1.000001_2.000000_1.000000_2.000000", False),
        ("box_1.000000_2.000001_1.000000_2.000000", False),
    ],
)
def test_a_box_lies_within_the_world_and_may_be_a_point(name: str, reads: bool) -> None:
    assert (read_box(name) is not None) == reads


def test_the_middle_of_a_box_is_half_way_on_both_sides() -> None:
    assert Box(0, 2 * MICRO, 4 * MICRO, 8 * MICRO).middle == (2.0, 5.0)


def test_the_ends_of_the_world_are_lines_of_every_grid() -> None:
    assert list(steps_of_lines(WORLD, STEPS[0])) == list(STEPS)
    for inwards in (Box(1, 0, 0, 0), Box(0, 1, 0, 0), Box(0, 0, -1, 0), Box(0, 0, 0, -1)):
        near = Box(*(side + step for side, step in zip(WORLD, inwards, strict=True)))
        assert not list(steps_of_lines(near, STEPS[0]))


@pytest.mark.parametrize(
    ("north", "wide"), [(0, 1000), (48_189_684, 1000), (48_189_686, 2000), (90 * MICRO, 500 * MICRO)]
)
def test_steps_of_longitude_widen_towards_the_poles(north: int, wide: int) -> None:
    """They are two thirds of those of latitude at least, in metres: up to 48.19 degrees the same will do."""
    assert longitude_step(Box(0, 0, north, 0), 1000) == wide


def test_a_box_around_one_tile_is_as_good_as_that_tile_and_none_hides_among_fewer_than_three() -> None:
    box, point = Box(0, 0, 1000, 1000), [[0], [0], [0], [0]]
    alone, beside = np.array(point), np.array([[0, 400], [0, 400], [0, 400], [0, 400]])
    far = np.array([[5000] * 2] * 4)
    assert tells_nobody(box, 1000, alone)
    assert tells_nobody(box, 1000, np.append(alone, far, axis=1))
    assert tells_nobody(box, 1000, beside)
    assert not tells_nobody(box, 1000, np.append(beside, far, axis=1))
    over = np.array([[-1, 0, 400], [0, 0, 400], [0, 0, 400], [0, 0, 400]])
    assert not tells_nobody(box, 1000, over), "the first begins south of the box"


@pytest.mark.parametrize("side", range(4))
def test_a_tile_reaches_to_whole_millionths_outwards(side: int) -> None:
    """In two parts across the antimeridian, whose widths add up."""
    parts = shapely.MultiPolygon(
        [shapely.box(-180, 1.0000004, -179.5, 2.0000004), shapely.box(179, 1.0000006, 180, 2)]
    )
    right = (1_000_000, -180_000_000, 2_000_001, 180_000_000)
    found = tile_extent(parts.__geo_interface__, 1.5, -179.9, 1.0)
    assert found[side] == right[side]
    assert found[4] == pytest.approx(1.5)
    assert tile_extent(parts.__geo_interface__, 1.5, -179.9, math.nan)[4] == 0.0


@pytest.mark.parametrize(
    ("zone", "area", "bounds"),
    [
        ("q0", (0.0, 170.0, 2.0, -170.0), [(170.0, 0.0, 180.0, 1.0)]),
        ("q3", (0.0, 170.0, 2.0, -170.0), [(-180.0, 1.0, -170.0, 2.0)]),
        ("q1", (0.0, 179.5, 2.0, -178.5), [(-179.5, 0.0, -178.5, 1.0)]),
        ("q", (0.0, 170.0, 2.0, -178.0), [(-180.0, 0.0, -178.0, 2.0), (170.0, 0.0, 180.0, 2.0)]),
        ("q", (0.0, -180.0, 2.0, 180.0), [(-180.0, 0.0, 180.0, 2.0)]),
        ("q1", (0.0, 0.0, 2.0, 361.0), [(0.5, 0.0, 1.0, 1.0)]),
    ],
)
def test_a_quarter_across_the_antimeridian_is_cut_there(
    zone: str, area: Any, bounds: list[tuple[float, ...]]
) -> None:
    shape, km2 = quarter(zone, area)
    assert [part.bounds for part in shapely.get_parts(shape)] == bounds
    assert shape.area == sum((east - west) * (north - south) for west, south, east, north in bounds)
    south, north = shape.bounds[1], shape.bounds[3]
    wide = sum(math.radians(east - west) for west, _, east, _ in bounds)
    ball = wide * (math.sin(math.radians(north)) - math.sin(math.radians(south))) * 6378.137**2
    # Near the equator the ellipsoid's band is narrower than the ball's by the square of its eccentricity.
    assert km2 == pytest.approx(ball * (1 - 0.00669438), rel=1e-4)


@pytest.mark.parametrize("side", [None, 0, 1, 2, 3])
def test_the_world_is_outlined_by_the_whole_map(side: int | None) -> None:
    sides = [-180.0, -90.0, 180.0, 90.0]
    if side is not None:
        sides[side] *= 1 - 1e-9
    drawn = Drawn(cells.WORLD, shapely.box(*sides), 4 * math.pi * RADIUS_KM**2, 0.0, 0.0)
    assert wrongly_drawn([drawn], 9, False) == (side is not None)
    assert wrongly_drawn([drawn._replace(area_km2=drawn.area_km2 * 1.00001)], 9, False) == 1


@pytest.mark.parametrize("resolution", [0, 1, 4, 5])
def test_edges_of_large_tiles_are_cut_into_as_many_pieces_as_are_drawn(resolution: int) -> None:
    """Cut in equal parts of the chord; from resolution 5 on, corners alone do."""
    assert drawn_pieces == PIECES
    cell = h3.latlng_to_cell(48.9, 2.3, resolution)
    pieces = PIECES[resolution] if resolution < len(PIECES) else 1
    place, size = cells.centre(cell), cells.area_km2(cell)
    drawn = Drawn(cell, _outlined(cell, pieces), size, *place)
    assert wrongly_drawn([drawn], resolution, False) == 0
    assert wrongly_drawn([drawn, drawn._replace(area_km2=size * 1.0001)], resolution, False) == 1
    finer = drawn._replace(shape=_outlined(cell, pieces + 1))
    assert wrongly_drawn([drawn, finer, drawn], resolution, False) == 1


def _outlined(cell: str, pieces: int) -> shapely.Polygon:
    lat, lon = np.radians(h3.cell_to_boundary(cell)).T
    corners = np.stack([np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)], axis=1)
    share = np.arange(pieces)[None, :, None] / pieces
    cut = corners[:, None] * (1 - share) + np.roll(corners, -1, axis=0)[:, None] * share
    x, y, z = cut.reshape(-1, 3).T
    return shapely.Polygon(np.degrees(np.stack([np.arctan2(y, x), np.arctan2(z, np.hypot(x, y))], axis=1)))


def test_a_cell_around_a_pole_reaches_it() -> None:
    for pole in (-90.0, 90.0):
        south, west, north, east = cells.extent(h3.latlng_to_cell(pole, 0.0, 3))
        assert (west, east) == (-180.0, 180.0)
        assert pole in (south, north)
    south, west, north, east = cells.extent(h3.latlng_to_cell(0.0, 180.0, 3))
    assert (west, east) == (-180.0, 180.0)
    assert -2 < south < 0 < north < 2


LAPLACE: dict[str, Any] = {
    "epsilon": 0.5,
    "delta": 0,
    "unit": "traveller",
    "contributions": 3,
    "mechanism": "discrete Laplace noise",
    "noise_scale": 6.0,
}


def test_numbers_are_published_from_one_on_where_no_threshold_is_stated() -> None:
    assert read_privacy(LAPLACE).threshold == 1.0
    assert read_privacy({**LAPLACE, "threshold": 2}).threshold == 2.0


@pytest.mark.parametrize(("scale", "enough"), [(30.0, True), (29.999, False)])
def test_gaussian_noise_grows_with_the_square_root_of_heights_and_with_contributions(
    scale: float, enough: bool
) -> None:
    """At a rho of 0.02, four heights and three trips each: 4 * 9 / (2 * 0.02) is the square of 30."""
    told = Privacy(
        epsilon=1.0,
        delta=0.01,
        unit="traveller",
        contributions=3,
        noise="Gaussian",
        noise_scale=scale,
        rho=0.02,
        heights=4,
    )
    assert (too_little(told) is None) == enough


@pytest.mark.parametrize(
    ("told", "wrong"),
    [
        ({"trips": "trips", "population": "people by weight"}, False),
        ({"trips": "trips", "population": 3}, True),
        ({"trips": "trips"}, True),
        ({"trips": "trips", "population": "people", "travellers": "people"}, True),
        ({"trips": "trips", "population": "3 people"}, True),
        (None, True),
    ],
)
def test_every_unit_and_no_other_is_counted_in_words(told: Any, wrong: bool) -> None:
    stated: Any = SimpleNamespace(privacy=None, thresholds={"trips": 3, "population": 3}, id_is=None)
    case: Any = SimpleNamespace(facts={"counted": told}, promise=stated)
    assert isinstance(counted_as_said(case), str) == wrong


@pytest.mark.parametrize(
    ("digits", "right"),
    [("06", (4, 14)), ("23", (4, 14)), ("45", (4, 14)), ("145", (5, 21)), ("0236", (5, 28)), ("01", None)],
)
def test_unions_of_two_stand_below_unions_of_three_and_four(
    digits: str, right: tuple[int, int] | None
) -> None:
    assert cells.height_and_tiles(f"881fb46623fffff/{digits}", 10, unions=True) == right
    assert cells.height_and_tiles(f"881fb46623fffff/{digits}", 10) is None


@pytest.mark.parametrize(("trips", "typical"), [((5, 5), 1.0), ((4, 6), 2.0), ((6, 4), 1.0), ((0, 1), 2.0)])
def test_half_of_the_trips_begin_in_a_zone_as_small_as_the_typical_one(
    trips: tuple[int, int], typical: float
) -> None:
    with duckdb.connect() as con:
        con.execute("create table audit_zones (axis varchar, area_km2 double, trips bigint)")
        for area, number in zip((1.0, 2.0), trips, strict=True):
            con.execute("insert into audit_zones values ('origin', ?, ?)", [area, number])
        con.execute("insert into audit_zones values ('origin', 'nan', 100), ('destination', 0.1, 100)")
        case: Any = SimpleNamespace(
            facts={"typical_zone_km2": typical},
            promise=SimpleNamespace(volume="trips"),
            columns=lambda _: ("axis", "area_km2", "trips"),
            value=lambda sql: con.execute(sql).fetchone()[0],
        )
        assert _typical(case) is None
        case.facts = {"typical_zone_km2": 3.0 - typical}
        assert _typical(case) is not None


@pytest.mark.parametrize(
    ("told", "wrong"),
    [
        ({"area": [0, 0, 1, 1]}, False),
        ({"area": [0, 0, 1, 2]}, True),
        ({}, True),
        ({"area": [0, 0, 1, 1], "period": ["2024-01-01", "2024-01-02"]}, True),
    ],
)
def test_the_study_area_and_the_period_are_those_of_the_record(told: dict[str, Any], wrong: bool) -> None:
    case: Any = SimpleNamespace(
        facts={"hierarchy": told},
        recorded={"tiling": {"area": [0, 0, 1, 1]}},
        promise=SimpleNamespace(privacy=None),
    )
    assert (_beyond_the_table(case) is not None) == wrong
    case.recorded = {}
    assert _beyond_the_table(case) is None


def test_a_tile_across_the_antimeridian_is_drawn_in_two_parts_that_meet() -> None:
    cell = h3.latlng_to_cell(0.005, 180.0, 7)
    ring = shapely.Polygon([(lon % 360, lat) for lat, lon in h3.cell_to_boundary(cell)])
    west = shapely.intersection(ring, shapely.box(0, -90, 180, 90))
    beyond = shapely.intersection(ring, shapely.box(180, -90, 360, 90))
    east = shapely.transform(beyond, lambda points: points - [360, 0])
    size, point = cells.area_km2(cell), shapely.point_on_surface(west)
    both = Drawn(cell, shapely.orient_polygons(shapely.MultiPolygon([west, east])), size, point.y, point.x)
    half = both._replace(shape=shapely.orient_polygons(west), area_km2=size * west.area / ring.area)
    assert wrongly_drawn([both], 7, False) == 0
    assert wrongly_drawn([half], 7, False) == 1


@pytest.mark.parametrize(
    ("zone", "cells_of_height_two"), [("q", 16), ("q0", 4), ("q03", 1), ("q030", 1), ("x", 0)]
)
def test_an_area_is_covered_by_cells_that_are_no_higher(zone: str, cells_of_height_two: int) -> None:
    assert Quadtree(4).number(zone, 2) == cells_of_height_two


def test_of_the_smallest_group_each_threshold_is_told_and_of_noise_trips_and_travellers() -> None:
    asked: Any = {"load": lambda _: None, "value": lambda sql: 7 if "min(population)" not in sql else None}
    kept = SimpleNamespace(promise=SimpleNamespace(privacy=None), thresholds={"travellers": 3}, **asked)
    noisy = SimpleNamespace(promise=SimpleNamespace(privacy=1), thresholds={}, **asked)
    assert smallest_support(kept) == {"travellers": 7}  # type: ignore[arg-type]
    assert set(smallest_support(noisy)) == {"trips", "travellers"}  # type: ignore[arg-type]


def test_how_many_places_a_zone_of_its_own_covers_cannot_be_told() -> None:
    case: Any = SimpleNamespace(promise=SimpleNamespace(floors={"tiles": 2}), in_trees=False)
    assert "cannot be told" in str(zones_diverse(case))


def test_pairs_are_counted_of_zones_of_a_height_that_there_is() -> None:
    def pairs(height: Any, area: str | None = "q") -> int:
        case: Any = SimpleNamespace(
            facts={"parameters": {"height": height}}, promise=SimpleNamespace(names=Quadtree(4))
        )
        stated: Any = SimpleNamespace(study_area=area)
        return _all_pairs(case, stated)

    assert [pairs(height) for height in (0, 1, 4)] == [4**8, 4**6, 1]
    for height, area in ((-1, "q"), (True, "q"), (1.0, "q"), (None, "q"), (1, None)):
        with pytest.raises(BrokenPart):
            pairs(height, area)


def test_the_finest_cells_have_no_unions_and_other_texts_none_either() -> None:
    finest = h3.cell_to_center_child("891fb46622fffff", 15)
    assert cells.members(h3.cell_to_parent(finest, 14) + "/06", unions=True)
    for other in (f"{finest}/06", "nowhere/06", "891fb46622fffff/60", "891fb46622fffff/"):
        assert cells.members(other, unions=True) == ()


def test_thresholds_are_drawn_from_k_up_to_the_highest_and_both_ends_occur() -> None:
    hidden = HiddenThresholds(k=3, unit="trips", up_to=6)
    assert {hidden.drawn("secret", [str(zone), "b"]) for zone in range(60)} == {3, 4, 5, 6}


def test_the_finest_grid_is_no_excuse_for_a_box_that_fits_few_tiles() -> None:
    step = STEPS[0]
    box = Box(0, 0, step, step)
    near, far = [0, 0, 0, 0], [5 * step] * 4
    alone = np.array([near, near, far]).T
    assert not tells_nobody(box, step, alone)
    assert tells_nobody(box, step, np.array([near, near, near]).T)


def test_trips_stand_for_people_only_where_every_trip_is_one() -> None:
    con = duckdb.connect()
    for each, told in ((True, "volumes.trips"), (False, "null::bigint")):
        matrix = SimpleNamespace(flows=SimpleNamespace(travellers=None), each_trip_is_a_person=each)
        case: Any = SimpleNamespace(con=con, matrix=matrix)
        assert _travellers(case) == told


@pytest.mark.parametrize(
    ("width", "names"),
    [
        (1, ["-1", "0", "0", "1", "unknown", "unknown"]),
        (2, ["-2--1", "0-1", "0-1", "0-1", "unknown", "unknown"]),
        (10, ["-10--1", "0-9", "0-9", "0-9", "unknown", "unknown"]),
    ],
)
def test_bins_begin_at_multiples_of_their_width_and_are_named_by_both_ends(
    width: int, names: list[str]
) -> None:
    ages = "(values ('-0.5'), ('0'), ('0.9'), ('1'), ('old'), (null)) people(attr_age)"
    sql = f"select {segment_sql([f'age:{width}'], ['attr_age'])} from {ages}"
    with duckdb.connect() as con:
        assert [name for (name,) in con.execute(sql).fetchall()] == [f"age={name}" for name in names]


QUARTER = np.array([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]])
"""An edge of a quarter of the equator."""


@pytest.mark.parametrize(
    ("degrees", "pieces", "loose", "on"),
    [
        ((0.0, 0.0), 1, False, True),
        ((90.0, 0.0), 1, False, True),
        ((45.0, 0.0), 2, False, True),
        ((45.0, 0.0), 1, False, False),
        ((30.0, 0.0), 2, False, False),
        ((30.0, 0.0), 2, True, True),
        ((-1.0, 0.0), 1, True, False),
        ((91.0, 0.0), 1, True, False),
        ((181.0, 0.0), 1, True, False),
        ((45.0, math.degrees(0.9 * ROUNDING)), 2, True, True),
        ((45.0, math.degrees(2 * ROUNDING)), 2, True, False),
        ((45.0, -math.degrees(2 * ROUNDING)), 2, True, False),
        ((-math.degrees(0.9 * ROUNDING), 0.0), 1, True, True),
        ((-math.degrees(2 * ROUNDING), 0.0), 1, True, False),
        ((90 + math.degrees(2 * ROUNDING), 0.0), 1, True, False),
    ],
)
def test_a_point_lies_on_an_edge_between_its_corners_or_where_it_is_cut(
    degrees: tuple[float, float], pieces: int, loose: bool, on: bool
) -> None:
    lon, lat = np.radians(degrees)
    point = np.array([[math.cos(lat) * math.cos(lon), math.cos(lat) * math.sin(lon), math.sin(lat)]])
    assert _on_line(point, QUARTER, pieces, np.array([loose])).tolist() == [on]
    # A corner that is repeated makes an edge of no length, which nothing lies on.
    assert not _on_line(point[:, [2, 0, 1]], QUARTER[:, [0, 0]], pieces, np.array([loose])).any()


def test_of_pairs_that_do_not_occur_so_many_were_possible(monkeypatch: pytest.MonkeyPatch) -> None:
    """All pairs of zones, but for those with trips, published or not."""
    asked: list[tuple[int, int]] = []
    numbers = SimpleNamespace(counted=np.array([3, 0, 1, 0, 0]))
    monkeypatch.setattr(on_privacy, "_numbers", lambda *_: numbers)
    monkeypatch.setattr(on_privacy, "_all_pairs", lambda *_: 100)
    monkeypatch.setattr(on_privacy, "too_many", lambda *_: False)
    monkeypatch.setattr(on_privacy, "verdict", lambda *_: True)
    monkeypatch.setattr(on_privacy, "too_few_made_up", lambda _, made_up, of: asked.append((made_up, of)))
    privacy = SimpleNamespace(noise="Laplace", delta=0.0)
    case: Any = SimpleNamespace(promise=SimpleNamespace(privacy=privacy), columns=lambda _: ["trips"])
    case.value = lambda query: 4 if "released_origin is null" in query else False
    assert on_privacy.noise_as_stated(case) is None
    assert asked == [(3, 100 - 2 - 4)]
    privacy.delta = 0.1
    assert on_privacy.noise_as_stated(case) is None
    assert len(asked) == 1


@pytest.mark.parametrize(
    ("change", "wrong"),
    [
        ({}, False),
        ({"population": [50, 60]}, False),
        ({"trips": None, "population": [50, 60]}, False),
        ({"trips": None}, True),
        ({"trips": [5, 7]}, True),
        ({"travellers": [1, 2]}, True),
        ({"zone": ["a", "b", "c"], "trips": [5, 6, 0]}, True),
    ],
)
def test_zones_on_the_map_show_sums_of_released_columns(change: dict[str, Any], wrong: bool) -> None:
    table = {"zone": ["a", "b"], "trips": [5, 6], **change}
    side = {name: column for name, column in table.items() if column is not None}
    with duckdb.connect() as con:
        con.execute(
            """create table audit_flows as
            from (values ('a', 'a', 2, 20), ('a', 'b', 3, 30), ('b', 'a', 6, 60))
            flows(origin, destination, trips, population)"""
        )
        summed = ("trips", "population")
        case: Any = SimpleNamespace(promise=SimpleNamespace(told=SimpleNamespace(summed=summed)))
        case.rows = lambda query: con.execute(query).fetchall()
        there = {"zone": ["a", "b"], "trips": [8, 3]}
        assert (_wrong_zones(case, {"origin": side, "destination": there}) is not None) is wrong
