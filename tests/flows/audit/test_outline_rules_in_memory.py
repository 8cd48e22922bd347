"""The rule on outlines, and what a manifest says of its table, on a few rows in memory."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import pytest
import shapely

from tripcloak.flows.audit.boxes import area_km2, read_box
from tripcloak.flows.audit.matrix import zones as matrix_zones
from tripcloak.flows.audit.outlines import Drawn
from tripcloak.flows.audit.rules import counts, manifest, outlines
from tripcloak.ground.rulebook import BrokenPart, Remark
from worlds.made_evidence import made

ZONES = "axis varchar, zone varchar, area_km2 double, lat double, lon double, geometry blob"
SQUARE = shapely.box(0, 0, 1, 1)


def case_of(*rows: Any, **told: Any) -> Any:
    case = made()
    plain: dict[str, Any] = {"boxes": False, "names": object(), "resolution": None, "homogeneous": True}
    case.promise = SimpleNamespace(**{**plain, "unions": False, **told})
    case.facts, case.tiling = {"hierarchy": {"area": [0.0, 0.0, 1.0, 1.0]}}, None
    return case.table("audit_zones", ZONES, rows)


def judged(monkeypatch: pytest.MonkeyPatch, case: Any, wrong: int = 0, **overlaps: int) -> Any:
    """Return what the rule says where so many zones are wrong, and so many overlap on an axis."""
    found: list[int] = []

    def look(case: Any, zones: Any) -> int:
        found.append(len(zones))
        return wrong

    numbers = iter([overlaps.get("origin", 0), overlaps.get("destination", 0)])
    monkeypatch.setattr(outlines, "_wrong", look)
    monkeypatch.setattr(outlines, "overlapping", lambda shapes: next(numbers))
    return outlines.outlines_are_zones(case), found


def test_outlines_are_looked_at_once_and_must_not_overlap(monkeypatch: pytest.MonkeyPatch) -> None:
    wkb = shapely.to_wkb(SQUARE)
    case = case_of(("origin", "a", 1.0, 0.5, 0.5, wkb), ("destination", "a", 1.0, 0.5, 0.5, wkb))
    assert judged(monkeypatch, case)[0] is None
    said, _ = judged(monkeypatch, case, wrong=1)
    assert said == "fewer than 10 zones are not outlined by the border of their tiles"
    for axis in ("origin", "destination"):
        said, _ = judged(monkeypatch, case, **{axis: 2})
        assert said == f"fewer than 10 {axis} zones overlap others on the map"
        for other in ({"homogeneous": False}, {"names": None}):
            case.promise = SimpleNamespace(**{**vars(case.promise), **other})
            assert judged(monkeypatch, case, **{axis: 2})[0] is None
            case.promise = SimpleNamespace(**{**vars(case.promise), "homogeneous": True, "names": object()})


def test_boxes_are_drawn_as_they_are_named() -> None:
    name = "box_0.000000_0.000000_1.000000_2.000000"
    box = read_box(name)
    assert box is not None
    right = (area_km2(box), *box.middle, shapely.to_wkb(shapely.Polygon([(0, 0), (2, 0), (2, 1), (0, 1)])))
    assert outlines.outlines_are_zones(case_of(("origin", name, *right), boxes=True)) is None
    for at, other in enumerate((right[0] * 1.00001, 0.5001, 0.9999, shapely.to_wkb(SQUARE))):
        wrong = [*right[:at], other, *right[at + 1 :]]
        said = outlines.outlines_are_zones(case_of(("destination", name, *wrong), boxes=True))
        assert said == "fewer than 10 zones are not drawn as the boxes that their names tell"
    assert outlines.outlines_are_zones(case_of(("origin", "a", *right), boxes=True)) is not None


def test_where_there_are_no_outlines_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    bare = case_of()
    bare.table("audit_zones", ZONES.partition(", geometry")[0], [])
    assert outlines.outlines_are_zones(bare) == "release/zones.parquet lacks the column 'geometry'"
    bare.promise.names = None
    bare.promise.boxes = True
    assert outlines.outlines_are_zones(bare) == "release/zones.parquet lacks the column 'geometry'"
    bare.promise.boxes = False
    assert outlines.outlines_are_zones(bare) == Remark("zones have no outlines")
    monkeypatch.setattr(outlines, "_lacks_its_area", lambda case: True)
    said = outlines.outlines_are_zones(case_of())
    assert isinstance(said, Remark)
    assert "states the study area" in said.words


def test_zones_are_read_axis_by_axis_with_nothing_where_nothing_is_told() -> None:
    wkb = shapely.to_wkb(SQUARE)
    case = case_of(("origin", "a", 2.0, 3.0, 4.0, wkb), ("destination", "b", None, None, None, None))
    assert outlines._drawn(case, "origin") == [Drawn("a", SQUARE, 2.0, 3.0, 4.0)]
    (other,) = outlines._drawn(case, "destination")
    assert (other.zone, other.shape) == ("b", None)
    assert all(math.isnan(number) for number in other[2:])
    case.table("audit_zones", ZONES, [("origin", "a", 1.0, 1.0, 1.0, b"no outline")])
    with pytest.raises(BrokenPart, match="no well-known binary"):
        outlines._drawn(case, "origin")


def test_zones_are_held_against_cells_quarters_or_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    zones = [Drawn("a", SQUARE, 1.0, 0.5, 0.5), Drawn("b", SQUARE, 1.0, 0.5, 0.5)]
    monkeypatch.setattr(outlines, "wrongly_drawn", lambda zones, at, unions: (len(zones), at, unions))
    monkeypatch.setattr(outlines, "quarter", lambda zone, area: (zone, area))
    monkeypatch.setattr(outlines, "file_areas", lambda case, names: [None, ("b", 1.0)])
    monkeypatch.setattr(outlines, "_is_like", lambda zone, shape, area: shape != "b")
    assert outlines._wrong(case_of(resolution=9, unions=True), zones) == (2, 9, True)
    assert outlines._wrong(case_of(), zones) == 1
    assert outlines._wrong(case_of(names=None), zones) == 1
    monkeypatch.setattr(outlines, "_is_like", lambda zone, shape, area: shape == "b")
    assert outlines._wrong(case_of(names=None), zones) == 0


@pytest.mark.parametrize(
    ("told", "right"),
    [
        ({}, True),
        ({"lat": 1.0, "lon": 0.0}, True),
        ({"lat": 1.001}, False),
        ({"lon": -0.001}, False),
        ({"shape": None}, False),
        ({"shape": shapely.box(0, 0, 1, 1.001)}, False),
        ({"shape": shapely.Polygon([(*point, 1.0) for point in SQUARE.exterior.coords])}, False),
        ({"area_km2": 5.0 * (1 + outlines.ALIKE / 2)}, True),
        ({"area_km2": 5.0 * (1 + 2 * outlines.ALIKE)}, False),
        ({"area_km2": math.nan}, False),
    ],
)
def test_a_zone_is_drawn_as_it_should_be_with_its_point_inside(told: dict[str, Any], right: bool) -> None:
    zone = Drawn("a", SQUARE, 5.0, 0.5, 0.5)._replace(**told)
    assert outlines._is_like(zone, SQUARE, 5.0) is right


def test_an_area_that_nobody_knows_is_not_asked_for() -> None:
    unknown = Drawn("a", SQUARE, math.nan, 0.5, 0.5)
    assert outlines._is_like(unknown, SQUARE, math.nan)
    assert not outlines._is_like(unknown._replace(area_km2=5.0), SQUARE, math.nan)


@pytest.mark.parametrize(
    ("area", "right"),
    [
        ([1, 2.5, 3, 4], True),
        ([1, 2, 3], False),
        ([1, 2, 3, 4, 5], False),
        ([1, 2, 3, "4"], False),
        ([1, 2, 3, True], False),
        ((1, 2, 3, 4), False),
    ],
)
def test_the_study_area_is_four_numbers(area: Any, right: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    case = case_of()
    case.facts = {"hierarchy": {"area": area}}
    if right:
        assert outlines._study_area(case) == tuple(map(float, area))
    else:
        with pytest.raises(BrokenPart, match="study area"):
            outlines._study_area(case)
    monkeypatch.setattr(outlines, "tiling_of", lambda case, given: SimpleNamespace(area=(5, 6, 7, 8)))
    for unstated in ({"hierarchy": {}}, {"hierarchy": 7}, {}):
        case.facts = unstated
        assert outlines._study_area(case) == (5.0, 6.0, 7.0, 8.0)


FACTS: dict[str, Any] = {"groups": 2, "zones": {"origins": 1, "destinations": 2}}
FACTS |= {"smallest": {"trips": 3}, "released": 7}


@pytest.mark.parametrize(
    ("told", "wrong"),
    [
        ({}, None),
        ({"groups": 3}, "number of groups"),
        ({"zones": {"origins": 2, "destinations": 1}}, "zones"),
        ({"smallest": {"trips": 4}}, "smallest numbers"),
        ({"smallest": {"trips": 3, "travellers": 1}}, "smallest numbers"),
        ({"released": 8}, "released volume"),
        ({"released": 6}, "released volume"),
    ],
)
def test_numbers_of_a_manifest_are_those_of_the_table(told: dict[str, Any], wrong: str | None) -> None:
    """People are protected, and of the two columns that may be told the table has one."""
    case = made(facts={**FACTS, **told})
    flows = [("a", "b", 3), ("a", "c", 4)]
    case.table("audit_flows", "origin varchar, destination varchar, trips int", flows)
    found = [words for words in manifest._statements(case) if words]
    assert found == ([] if wrong is None else [f"the manifest's {wrong} differ from the released table"])


@pytest.mark.parametrize(("released", "right"), [(7, True), (9, True), (10, False), (5, True), (4, False)])
def test_sums_of_rounded_people_may_differ_by_half_a_person_a_flow(released: int, right: bool) -> None:
    case = made(facts={"released": released})
    case.promise = SimpleNamespace(volume="population")
    case.table("audit_flows", "population int", [(3,), (2,), (2,)])
    assert manifest._released_fits(case, 3) is right
    case.promise.volume = "trips"
    assert manifest._released_fits(case, 3) is False


@pytest.mark.parametrize(
    ("outline", "right"),
    [
        ({"type": "Polygon", "coordinates": [[(0, 0), (2, 0), (2, 1), (0, 1), (0, 0)]]}, True),
        ({"type": "MultiPolygon", "coordinates": [[(0, 0), (2, 0), (2, 1), (0, 1), (0, 0)]]}, False),
        ({"type": "Polygon", "coordinates": [[(0, 0), (2, 0), (2, 1), (0, 1), (0, 0)]] * 2}, False),
        (None, False),
    ],
)
def test_a_box_of_a_matrix_is_one_ring(outline: Any, right: bool) -> None:
    zones: Any = SimpleNamespace(outline=lambda row: outline)
    box = read_box("box_0.000000_0.000000_1.000000_2.000000")
    assert box is not None
    assert matrix_zones._true_outline(zones, 0, box) is right


def test_rounded_numbers_are_asked_whether_they_may_come_of_the_recount() -> None:
    rounding = SimpleNamespace(broken=lambda told, recount: f"{told} far from {recount}")
    told = SimpleNamespace(steps={}, summed=())
    case: Any = SimpleNamespace(promise=SimpleNamespace(rounding=rounding, told=told, thresholds={}))
    assert counts._differ(case, "trips") == "flow.trips far from recount.trips"
    case.promise.rounding = None
    assert "far from" not in counts._differ(case, "trips")
