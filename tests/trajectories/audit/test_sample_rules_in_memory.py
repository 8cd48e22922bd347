"""Rules about published boxes on a few rows in memory: the line holds, and one step past it is told."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import duckdb
import numpy as np
import pytest

from tripcloak.ground.rulebook import NotPromised, Remark
from tripcloak.trajectories.audit.promise import Stated
from tripcloak.trajectories.audit.rules import samples
from tripcloak.trajectories.audit.rules.samples import DegreesPart

GRID = {"seconds": 60, "metres": 100, "start": 0}
BOX = {"trajectory": "a", "t_start": 0, "t_end": 60, "x_min": 0, "x_max": 100, "y_min": 0, "y_max": 100}


@pytest.fixture(scope="module")
def con() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect(config={"threads": 1}) as engine:
        yield engine


def case(con: duckdb.DuckDBPyConnection, *boxes: dict[str, Any], **grid: int) -> Any:
    """Return what stands in for a release: boxes by row, times in seconds since 1970, and the grid."""
    rows = ", ".join(
        f"({at}, '{box['trajectory']}', to_timestamp({box['t_start']}), to_timestamp({box['t_end']}), "
        + ", ".join(str(box[name]) for name in ("x_min", "x_max", "y_min", "y_max"))
        + ")"
        for at, box in enumerate({**BOX, **box} for box in boxes)
    )
    names = "row, trajectory, t_start, t_end, x_min, x_max, y_min, y_max"
    told = SimpleNamespace(**{**GRID, **grid}, promise=Stated("containment", 3))
    return SimpleNamespace(
        table=f"(select * from (values {rows}) as t({names}))",
        value=lambda sql: con.execute(sql).fetchall()[0][0],
        manifest=told,
    )


@pytest.mark.parametrize(
    ("box", "rule"),
    [
        ({}, None),
        ({"t_end": 0}, "boxes_have_extent"),
        ({"x_max": 0}, "boxes_have_extent"),
        ({"y_max": 0}, "boxes_have_extent"),
        ({"t_start": 30, "t_end": 60}, "edges_on_the_grid"),
        ({"t_end": 61}, "edges_on_the_grid"),
        ({"x_min": -1}, "edges_on_the_grid"),
        ({"x_max": 150}, "edges_on_the_grid"),
        ({"y_min": -50}, "edges_on_the_grid"),
        ({"y_max": 101}, "edges_on_the_grid"),
        ({"x_min": -100, "y_min": -300}, None),
    ],
)
def test_a_box_has_extent_and_lies_on_the_grid(con: Any, box: dict[str, Any], rule: str | None) -> None:
    for name in ("boxes_have_extent", "edges_on_the_grid"):
        assert (getattr(samples, name)(case(con, {}, box)) is not None) == (name == rule)


def test_the_grid_of_time_begins_where_it_is_said_to(con: Any) -> None:
    box = {"t_start": 30, "t_end": 90}
    assert samples.edges_on_the_grid(case(con, box, start=30)) is None
    assert samples.edges_on_the_grid(case(con, box, start=31)) is not None
    assert samples.edges_on_the_grid(case(con, box, seconds=30)) is None


@pytest.mark.parametrize(
    ("boxes", "overlap", "astray"),
    [
        ([{}, {"t_start": 60, "t_end": 120}], False, False),
        ([{}, {"t_start": 59, "t_end": 120}], True, False),
        ([{}, {"trajectory": "b"}], False, False),
        ([{"trajectory": "b"}, {}], False, True),
        ([{"t_start": 60, "t_end": 120}, {}], False, True),
        ([{}, {}], True, True),
    ],
)
def test_boxes_follow_each_other_by_pseudonym_and_time(
    con: Any, boxes: Any, overlap: bool, astray: bool
) -> None:
    told = case(con, *boxes)
    assert (samples.no_overlap_in_time(told) is not None) == overlap
    assert (samples.ordered_by_pseudonym(told) is not None) == astray


@pytest.mark.parametrize(
    ("people", "kind", "found"),
    [
        *((3, "containment", None), (2, "containment", str), (4, "containment", str)),
        *((3, "colocation", Remark), (4, "colocation", Remark), (2, "colocation", str)),
    ],
)
def test_one_released_trajectory_for_every_person(people: int, kind: str, found: Any) -> None:
    told = SimpleNamespace(
        spans=SimpleNamespace(offsets=np.arange(4)),
        tracks=SimpleNamespace(n_users=people),
        manifest=SimpleNamespace(promise=Stated(kind, 3, 1.0 if kind == "colocation" else None)),
    )
    assert type(samples.as_many_as_people(told)) is (found or type(None))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "by", "wrong"), [("t1", 0, False), ("t1", 1, True), ("x1", 1, True), ("y1", -1, True)]
)
def test_colocation_is_about_points(name: str, by: int, wrong: bool) -> None:
    sides = {"t0": 0, "t1": 60_000_000, "x0": 0, "x1": 100, "y0": 0, "y1": 100}
    spans = {side: np.array([value, value]) for side, value in sides.items()}
    spans[name] = spans[name] + np.array([0, by])
    promise = Stated("colocation", 3, 5.0)
    told: Any = SimpleNamespace(
        spans=SimpleNamespace(**spans),
        companions=np.array([2, 2]),
        manifest=SimpleNamespace(promise=promise, seconds=60, metres=100),
    )
    assert ("about points" in str(samples.companions_reach_k(told))) == wrong
    told.companions = np.array([2, 1])
    assert samples.companions_reach_k(told) is not None
    told.manifest.promise = Stated("containment", 3)
    assert isinstance(samples.companions_reach_k(told), NotPromised)


def test_points_around_a_box() -> None:
    sides = [np.array([[side]], dtype=float) for side in (0, 4, 10, 18)]
    x, y = samples._outline(*sides)
    assert x.tolist() == [[0, 1, 2, 3, 4, 4, 4, 4, 4, 3, 2, 1, 0, 0, 0, 0]]
    assert y.tolist() == [[10, 10, 10, 10, 10, 12, 14, 16, 18, 18, 18, 18, 18, 16, 14, 12]]


def part(west: float, south: float, east: float, north: float, **inner: tuple[float, float]) -> DegreesPart:
    """Return a box of stated degrees, and points around the one in metres, which may reach less far."""
    lon, lat = inner.get("lon", (west, east)), inner.get("lat", (south, north))
    x, y = samples._outline(*(np.array([[side]]) for side in (*lon, *lat)))
    stated = (np.array([[side]]) for side in (west, south, east, north))
    return DegreesPart(*stated, x, y)


@pytest.mark.parametrize(
    ("lon", "lat", "holds"),
    [
        ((1.0, 2.0), (3.0, 4.0), True),
        ((1.0, 2.0 + 5e-10), (3.0 - 5e-10, 4.0 + 5e-10), True),
        ((1.0, 2.0 + 5e-9), (3.0, 4.0), False),
        ((1.0, 2.0), (3.0 - 5e-9, 4.0), False),
        ((1.0, 2.0), (3.0, 4.0 + 5e-9), False),
    ],
)
def test_degrees_hold_the_box_in_metres(lon: Any, lat: Any, holds: bool) -> None:
    assert samples._encloses(part(1.0, 3.0, 2.0, 4.0, lon=lon, lat=lat)).tolist() == [holds]


def test_around_a_pole_all_longitudes_are_held() -> None:
    assert samples._encloses(part(-180.0, 80.0, 180.0, 90.0, lon=(-180.0, 200.0))).tolist() == [True]
    assert samples._encloses(part(-180.0, 80.0, 179.0, 90.0, lon=(-180.0, 200.0))).tolist() == [False]


@pytest.mark.parametrize(
    ("told", "tight"),
    [
        (part(1.0, 3.0, 2.0, 4.0), True),
        (part(1.0, 3.0, 2.0, 4.0, lon=(1.01, 1.99), lat=(3.01, 3.99)), True),
        (part(1.0, 3.0, 2.0, 4.0, lon=(1.02, 2.0)), False),
        (part(1.0, 3.0, 2.0, 4.0, lon=(1.0, 1.98)), False),
        (part(1.0, 3.0, 2.0, 4.0, lat=(3.02, 4.0)), False),
        (part(1.0, 3.0, 2.0, 4.0, lat=(3.0, 3.98)), False),
        (part(1.0000001, 3.0, 2.0, 4.0), False),
        (part(1.0, 3.0000001, 2.0, 4.0), False),
        (part(1.0, 3.0, 2.0000001, 4.0), False),
        (part(1.0, 3.0, 2.0, 4.0000001), False),
        (part(-180.0, 3.0, -179.0, 4.0), True),
        (part(-180.5, 3.0, -179.0, 4.0), False),
        (part(179.0, 3.0, 181.0, 4.0), True),
        (part(180.0, 3.0, 181.0, 4.0), False),
        (part(-180.0, 80.0, 180.0, 90.0, lat=(80.0, 81.0)), True),
        (part(-180.0, 80.0, 180.0, 89.0, lat=(80.0, 81.0)), False),
        (part(-180.0, -90.0, 180.0, -80.0, lat=(-81.0, -80.0)), True),
        (part(-180.0, -89.0, 180.0, -80.0, lat=(-81.0, -80.0)), False),
        (part(-179.0, 80.0, 181.0, 90.0, lat=(80.0, 81.0)), False),
        (part(-180.0, 80.0, 181.0, 90.0, lat=(80.0, 81.0)), False),
        (part(1.0, 80.0, 2.0, 90.0, lat=(80.0, 81.0)), False),
        (part(1.0, -90.0, 2.0, -80.0, lat=(-81.0, -80.0)), False),
    ],
)
def test_degrees_are_hardly_wider_than_the_box_in_metres(told: DegreesPart, tight: bool) -> None:
    assert samples._is_tight(told).tolist() == [tight]


@pytest.mark.parametrize(("beyond", "close"), [(2.9e-6, True), (3.1e-6, False)])
def test_a_small_box_is_rounded_outwards_and_no_more(beyond: float, close: bool) -> None:
    around = np.zeros((1, 16))
    one = np.array([[beyond]])
    assert samples._close(-one, 0 * one, around).tolist() == [[close]]
    assert samples._close(0 * one, one, around).tolist() == [[close]]


def test_an_edge_just_as_far_out_as_allowed_is_close(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(samples, "MARGIN", 0.25)
    around, slack = np.zeros((1, 16)), np.array([[0.25]])
    assert samples._close(-slack, slack, around).tolist() == [[True]]


def test_a_bent_edge_may_lie_as_much_further_out_as_it_bends() -> None:
    """One of four edges is a square, whose second difference is 2 at every step."""
    around = np.array([[0.0, 1.0, 4.0, 9.0, 16.0, *[16.0] * 4, 12.0, 8.0, 4.0, *[0.0] * 4]])
    for beyond, close in ((1.99, True), (2.01, False)):
        assert samples._close(np.array([[-beyond]]), np.array([[16.0]]), around)[0, 0] == close


@pytest.mark.parametrize(
    ("west", "turned"), [(1.0, False), (1.0 + 5e-10, False), (1.0 + 2e-9, True), (0.5, False)]
)
def test_a_place_is_told_eastwards_from_the_western_edge(west: float, turned: bool) -> None:
    """A hair west of it is on it; what is farther west lies nearly all the way around."""
    sides = {
        "x0": 1.0,
        "x1": 2.0,
        "y0": 3.0,
        "y1": 4.0,
        "west": west,
        "south": 3.0,
        "east": 2.0,
        "north": 4.0,
    }
    made: Any = SimpleNamespace(
        table="boxes",
        numbers=lambda _: {name: np.array([side]) for name, side in sides.items()},
        project=lambda x, y, back: (x, y),
    )
    (part,) = samples._parts(made)
    least, most = np.round([part.lon.min(), part.lon.max()], 6)
    assert (least > 1.0, most) == (turned, 361.0 if turned else 2.0)
    assert part.lat[0].min() == 3.0
    assert part.lat[0].max() == 4.0
