"""Publishing: zones of points, zones without a zoning at all, and failures at every step of the writing."""

from __future__ import annotations

import errno
from typing import Any

import numpy as np
import pytest

from tripcloak.flows import publish as publishing
from tripcloak.flows.methods import ODkAnon
from tripcloak.flows.model import ODMatrix
from tripcloak.flows.publish import publish
from tripcloak.flows.reading.matrix import Zoning
from tripcloak.ground.errors import InputError
from tripcloak.hierarchy import Hierarchy
from tripcloak.promises import KAnonymity
from worlds.folders import contents, is_whole, read_public
from worlds.trips import some_trips, write_csv, write_zones, zone_trips


@pytest.mark.parametrize("spec", ["dendrogram", "table:county"])
def test_zones_of_points_have_no_area_but_a_map(make, tmp_path, spec):
    zones = write_zones(tmp_path / "zones.csv")
    file = write_csv(tmp_path / "trips.csv", zone_trips())
    public = read_public(make(file, k=10, zoning=Zoning(spec=spec, zones=str(zones))).out)
    assert all(zone["area_km2"] is None or zone["area_km2"] != zone["area_km2"] for zone in public.zones)
    for axis in ("origin", "destination"):
        table = public.map_data[axis]
        assert table["area_km2"] == [None] * len(table["zone"])
        assert all(table["outline"])
        # Without areas the zones of many tiles are drawn first.
        assert table["tiles"] == sorted(table["tiles"], reverse=True)
    assert "Not on the map" not in public.map_words


def bare_matrix(**places: Any) -> ODMatrix:
    """Forty trips between four tiles of a tree that knows no outlines."""
    tree = Hierarchy.from_parents(["a", "b", "c", "d", "ab", "cd", "all"], [4, 4, 5, 5, 6, 6, -1], **places)
    ends = np.arange(40, dtype=np.int32)
    return ODMatrix.from_trips(tree, tree, ends % 4, ends // 10)


@pytest.mark.parametrize("placed", [False, True], ids=["nowhere", "points"])
def test_zones_without_outlines_are_listed_and_the_map_says_so(tmp_path, placed):
    places = {"lat": np.linspace(1, 2, 7), "lon": np.linspace(3, 4, 7)} if placed else {}
    matrix = bare_matrix(**places)
    release = ODkAnon(promise=KAnonymity(k=10)).anonymise(matrix)
    publish(tmp_path / "out", matrix, release, run={}, dropped={}, tilings={"spec": "bare"})
    assert is_whole(tmp_path / "out")
    public = read_public(tmp_path / "out")
    assert all(feature["geometry"] is None for feature in public.features)
    assert all("geometry" not in zone for zone in public.zones)
    assert "all zones, which have no outline" in public.map_words
    assert public.map_data["origin"]["outline"] == [[]] * len(public.map_data["origin"]["zone"])
    assert sum(public.map_data["flows"]["trips"]) == sum(flow["trips"] for flow in public.flows)


def test_some_zones_without_outlines_are_counted():
    square = {"type": "Polygon", "coordinates": [[[0, 0], [1, 0], [1, 1], [0, 0]]]}
    unknown, point = {"area_km2": None}, {"area_km2": 0.0}
    places = [{"geometry": square, "properties": unknown}, {"geometry": None, "properties": unknown}]
    assert publishing._not_drawn(places) == {
        "Not on the map": "1 of 2 zones, which have no outline; they are in the tables"
    }
    assert publishing._not_drawn(places[:1]) == {}
    assert publishing._not_drawn([places[0], {"geometry": square, "properties": point}])


STEPS = (
    *(
        "manifest",
        "flows_table",
        "zones_table",
        "zones_geojson",
        "render_map",
        "render_readme",
        "write_manifest",
    ),
    *("write_record", "groups_batches", "hierarchy_table", "_write_parquet", "_write_public"),
)


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize(
    "failure", [KeyboardInterrupt(), OSError(errno.ENOSPC, "full"), RuntimeError("bug")], ids=repr
)
def test_a_failure_at_any_step_keeps_the_old_release(tmp_path, monkeypatch, step, failure):
    matrix = bare_matrix()
    release = ODkAnon(promise=KAnonymity(k=10)).anonymise(matrix)
    order = {"run": {}, "dropped": {}, "tilings": {"spec": "bare"}}
    publish(tmp_path / "out", matrix, release, **order)
    before = contents(tmp_path)
    whole = getattr(publishing, step)

    def failing(*given: Any, **named: Any) -> Any:
        whole(*given, **named)
        raise failure

    monkeypatch.setattr(publishing, step, failing)
    for out, force in (("out", True), ("another", False)):
        with pytest.raises((KeyboardInterrupt, InputError, RuntimeError, OSError)):
            publish(tmp_path / out, matrix, release, **order, force=force)
    assert contents(tmp_path) == before


def test_the_manifest_is_what_publish_returns(make, tmp_path):
    outcome = make(write_csv(tmp_path / "trips.csv", some_trips(200)))
    facts = publish(
        tmp_path / "again",
        bare_matrix(),
        ODkAnon(promise=KAnonymity(k=10)).anonymise(bare_matrix()),
        run={},
        dropped={},
        tilings={"spec": "bare"},
    )
    assert read_public(tmp_path / "again").manifest == facts
    assert facts["files"].keys() == read_public(outcome.out).manifest["files"].keys()
