"""Rules on the table of zones, each at its edge, on a few rows in memory."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import shapely

from tripcloak.flows.audit.matrix import zones as matrix_zones
from tripcloak.flows.audit.matrix.case import Form
from tripcloak.flows.audit.rules import zones
from tripcloak.ground.rulebook import BrokenPart, NotPromised
from worlds.made_evidence import made

SQUARE = shapely.box(0, 0, 1, 1)


def case_of(**told: Any) -> Any:
    """Return evidence without any table, of a promise that is told entry by entry."""
    case = made()
    plain = {"slot": None, "fold": None, "period": None, "apart": False, "boxes": False, "names": None}
    plain |= {"resolution": None, "unions": False, "grid": False, "homogeneous": True}
    case.promise = SimpleNamespace(**{**plain, "axes": ("origin", "destination"), **told})
    tree = [("all", None, 1, 2), ("a", "all", 0, 1), ("b", "all", 0, 1)]
    rows = [(axis, *row) for axis in ("origin", "destination") for row in tree]
    return case.table("audit_tree", "axis varchar, zone varchar, parent varchar, height int, tiles int", rows)


SENT = "origin varchar, destination varchar, released_origin varchar, released_destination varchar"
FLOWS = "origin varchar, destination varchar"


def sent(*rows: Any, released: Any = (("a", "b"),), **told: Any) -> Any:
    case = case_of(**told).table("audit_groups", SENT, rows)
    return case.table("audit_flows", FLOWS, released)


def test_every_tile_is_sent_to_a_zone_that_holds_it_or_withheld() -> None:
    good = [("a", "b", "a", "all"), ("b", "b", "all", "b"), ("b", "a", None, None)]
    assert zones.zones_contain_tiles(sent(*good)) is None
    wrong = zones.zones_contain_tiles(sent(*good, ("a", "a", "b", "all")))
    assert wrong == "fewer than 10 origin tiles were sent to a zone that does not hold them"
    wrong = zones.zones_contain_tiles(sent(*good, ("a", "a", "a", "b")))
    assert wrong == "fewer than 10 destination tiles were sent to a zone that does not hold them"


def test_zones_that_do_not_overlap_take_every_tile_once_and_lie_in_no_other() -> None:
    good = [("a", "b", "a", "b"), ("a", "a", "a", "a"), ("b", "b", None, None)]
    assert zones.zones_disjoint(sent(*good, released=[("a", "b"), ("a", "a")])) is None
    torn = zones.zones_disjoint(sent(*good, ("a", "b", "all", "b")))
    assert torn == "fewer than 10 origin tiles were sent to more than one zone"
    torn = zones.zones_disjoint(sent(*good, ("b", "b", "b", "all")))
    assert torn == "fewer than 10 destination tiles were sent to more than one zone"
    nested = zones.zones_disjoint(sent(*good, released=[("a", "b"), ("all", "b")]))
    assert nested == "fewer than 10 origin zones lie inside another released origin zone"
    nested = zones.zones_disjoint(sent(*good, released=[("a", "b"), ("b", "all")]))
    assert nested == "fewer than 10 destination zones lie inside another released destination zone"


def test_whether_zones_overlap_is_asked_where_it_is_promised_and_never_of_boxes() -> None:
    assert isinstance(zones.zones_disjoint(sent(homogeneous=False)), NotPromised)
    assert "which may overlap" in str(zones.zones_disjoint(sent(boxes=True)))
    assert isinstance(zones.flows_never_overlap(sent(boxes=True)), NotPromised)
    assert "cannot be told" in str(zones.flows_never_overlap(sent(boxes=True, slot=60)))


def timed(*rows: Any) -> Any:
    axes = ("origin", "destination", "time")
    case = case_of(slot=60, axes=axes)
    return zones.flows_never_overlap(case.table("audit_flows", f"{FLOWS}, time varchar", rows))


def test_flows_overlap_in_both_places_and_in_time() -> None:
    here = ("a", "b", "2024-05-06T08")
    assert (
        timed(here, ("a", "b", "2024-05-06T09"), ("b", "b", "2024-05-06"), ("a", "a", "2024-05-06")) is None
    )
    for other in (("all", "b", "2024-05-06T08"), ("a", "all", "2024-05-06"), ("all", "all", "2024-05-06")):
        assert timed(here, other) == "fewer than 10 pairs of released flows overlap"


def listed(*rows: Any, flows: Any = (("a", "b", 3), ("a", "a", 4))) -> Any:
    case = case_of().table("audit_flows", f"{FLOWS}, trips int", flows)
    case.table("audit_zones", "axis varchar, zone varchar, trips int", rows)
    return case.value(zones._listed_wrongly(("origin", "destination"), ["trips"]))


def test_zones_are_listed_once_with_the_sums_of_their_flows() -> None:
    right = [("origin", "a", 7), ("destination", "b", 3), ("destination", "a", 4)]
    assert listed(*right) == 0
    assert listed(*right[1:]) == 1
    assert listed(*right, right[0]) == 1
    assert listed(*right, ("origin", "b", 0)) == 1
    assert listed(("origin", "a", 8), *right[1:]) == 2


def test_a_table_without_a_volume_that_is_told_is_wrong() -> None:
    case = case_of(told=SimpleNamespace(summed=("trips", "population")))
    case.table("audit_zones", "axis varchar, zone varchar, trips int", [])
    assert zones.zones_table_matches(case) == "release/zones.parquet lacks the column 'population'"
    case.promise.told.summed = ("trips",)
    case.table("audit_flows", f"{FLOWS}, trips int", [("a", "b", 3)])
    assert zones.zones_table_matches(case) == "release/zones.parquet is wrong about fewer than 10 zones"


def test_boxes_are_measured_by_their_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zones, "wrong_boxes", lambda case: "by their names")
    case = case_of(boxes=True).table("audit_zones", "axis varchar, zone varchar, height int, tiles int", [])
    assert zones._sizes(case) == "by their names"
    case.promise.boxes = False
    assert zones._sizes(case) is None


@pytest.mark.parametrize("form", [Form.BOXES, Form.NAMES, Form.TREE])
def test_of_a_matrix_boxes_may_always_overlap(form: Form, monkeypatch: pytest.MonkeyPatch) -> None:
    found = {"destination": 1}
    for name in ("nested_names", "_nested_subtrees"):
        monkeypatch.setattr(matrix_zones, name, lambda case, axis: found.get(axis, 0))
    case: Any = SimpleNamespace(
        release=SimpleNamespace(homogeneous=True), axes=("origin", "destination"), form=lambda axis: form
    )
    words = "which may overlap" if form is Form.BOXES else "fewer than 10 destination zones lie inside"
    assert words in str(matrix_zones.zones_disjoint(case))
    found.clear()
    assert (matrix_zones.zones_disjoint(case) is None) == (form is not Form.BOXES)
    case.release.homogeneous = False
    assert isinstance(matrix_zones.zones_disjoint(case), NotPromised)


TIMES = [("time", "2024-05-06T08", 0, 1), ("time", "2024-05-06", 2, 24), ("time", "all time", 4, 336)]
FORTNIGHT = (date(2024, 5, 6), date(2024, 5, 19))


def lengths(*rows: Any, **told: Any) -> Any:
    case = case_of(**{"slot": 60, "period": FORTNIGHT, **told})
    case.table("audit_zones", "axis varchar, zone varchar, height int, tiles int", rows)
    return zones._times(case)


def test_times_are_as_long_as_their_names_say() -> None:
    assert lengths(*TIMES, ("origin", "a", 7, 7)) is None
    assert lengths(*TIMES, ("time", "a", 7, 7), slot=None) is None
    for wrong in (("2024-05-07", 1, 24), ("2024-05-07", 2, 23), ("no time", 0, 1), ("all time", 4, 168)):
        assert (
            lengths(*TIMES, ("time", *wrong))
            == "release/zones.parquet gives fewer than 10 times a wrong length"
        )
    assert lengths(TIMES[2], period=None) is not None


def test_slots_that_are_apart_are_slots() -> None:
    assert lengths(TIMES[0], apart=True) is None
    assert "and fewer than 10 times hold several" in lengths(*TIMES[:2], apart=True)


def members(*rows: Any, **told: Any) -> Any:
    case = case_of(**told)
    case.table("audit_zones", "axis varchar, zone varchar, tiles int, members varchar[]", rows)
    return zones._members(case)


def test_lists_of_tiles_hold_all_that_is_below_a_zone_and_nothing_else() -> None:
    right = [("origin", "all", 2, ["a", "b"]), ("destination", "b", 1, ["b"]), ("time", "x", 9, None)]
    assert members(*right) is None
    for axis in ("origin", "destination"):
        for wrong in (["a"], ["a", "c"], ["a", "b", "all"], []):
            assert members(*right, (axis, "all", 2, wrong)) is not None
    assert members(("origin", "a", 1, ["b"]), grid=True) is None
    bare = case_of().table("audit_zones", "axis varchar, zone varchar, tiles int", [("origin", "a", 5)])
    assert zones._members(bare) is None


def points(lat: Any, lon: Any, *, zone: Any = (1.0, 2.0), axis: str = "origin") -> Any:
    """Return what is wrong where one end of a flow, and its zone, lie there."""
    ends = {"origin": (1.0, 2.0), "destination": (3.0, 4.0), axis: (lat, lon)}
    case = case_of().table(
        "audit_flows",
        f"{FLOWS}, origin_lat double, origin_lon double, destination_lat double, destination_lon double",
        [("a", "b", *ends["origin"], *ends["destination"])],
    )
    at = {"origin": (1.0, 2.0), "destination": (3.0, 4.0), axis: zone}
    rows = [("origin", "a", *at["origin"]), ("destination", "b", *at["destination"]), ("origin", "b", 9, 9)]
    return zones._points(
        case.table("audit_zones", "axis varchar, zone varchar, lat double, lon double", rows)
    )


@pytest.mark.parametrize("axis", ["origin", "destination"])
def test_flows_lie_where_their_zones_do_to_seven_decimals(axis: str) -> None:
    nan = float("nan")
    assert points(1.00000005, 2.0, axis=axis) is None
    assert points(1.0, 1.99999995, axis=axis) is None
    for at in ((1.0000001, 2.0), (1.0, 2.0000001), (None, 2.0), (1.0, None)):
        assert points(*at, axis=axis) == (
            f"release/flows.parquet puts fewer than 10 {axis} ends elsewhere than their zones"
        )
    for nowhere in ((None, None), (nan, nan)):
        assert points(None, None, zone=nowhere, axis=axis) is None
        assert points(1.0, 2.0, zone=nowhere, axis=axis) is not None


def feature(axis: str, zone: str, shape: Any = SQUARE, **told: Any) -> dict[str, Any]:
    outline = None if shape is None else json.loads(shapely.to_geojson(shape))
    return {"type": "Feature", "geometry": outline, "properties": {"axis": axis, "zone": zone, **told}}


def drawn(place: Path, features: Any, *, rows: Any = None, **more: Any) -> Any:
    """Return what is wrong with a file of features beside a table of two zones."""
    (place / "zones.geojson").write_text(
        json.dumps({"type": "FeatureCollection", "features": features, **more})
    )
    case: Any = case_of()
    case.public = lambda name: place / name
    wkb = shapely.to_wkb(SQUARE)
    own = [("origin", "a", 1.0, wkb), ("origin", "b", float("nan"), None)] if rows is None else rows
    case.table("audit_zones", "axis varchar, zone varchar, lat double, geometry blob", own)
    return zones._geojson(case)


BOTH = [feature("origin", "a", lat=1.0), feature("origin", "b", None, lat=None)]


def test_both_files_of_zones_say_the_same(tmp_path: Path) -> None:
    assert drawn(tmp_path, BOTH) is None
    assert drawn(tmp_path, BOTH[::-1]) is None
    for other in (BOTH[:1], [BOTH[0], feature("destination", "b", None, lat=None)]):
        assert "list different zones" in drawn(tmp_path, other)
    larger = shapely.box(0, 0, 1, 1.0000001)
    for wrong in (
        feature("origin", "a", lat=1.5),
        feature("origin", "a", lat=1.0, more=1),
        feature("origin", "a"),
        feature("origin", "a", None, lat=1.0),
        feature("origin", "a", larger, lat=1.0),
        feature("origin", "a", lat=1.0) | {"geometry": {"type": "Polygon"}},
        feature("origin", "a", lat=1.0) | {"geometry": {"type": "Nothing", "coordinates": []}},
    ):
        assert drawn(tmp_path, [wrong, BOTH[1]]) == (
            "release/zones.geojson differs from release/zones.parquet in fewer than 10 zones"
        )
    assert drawn(tmp_path, [BOTH[0], feature("origin", "b", lat=None)]) is not None


def test_a_collection_holds_zones_once_and_nothing_beside(tmp_path: Path) -> None:
    with pytest.raises(BrokenPart, match="each once"):
        drawn(tmp_path, [*BOTH, BOTH[0]])
    with pytest.raises(BrokenPart, match="each once"):
        drawn(tmp_path, BOTH, crs="there")
    for wrong in ({"type": "Feature"}, 7, {"properties": 7, "geometry": None}):
        with pytest.raises(BrokenPart, match="each once"):
            drawn(tmp_path, [wrong])
    (tmp_path / "zones.geojson").write_text("no JSON")
    case: Any = SimpleNamespace(public=lambda name: tmp_path / name)
    with pytest.raises(BrokenPart, match="each once"):
        zones._features(case)
