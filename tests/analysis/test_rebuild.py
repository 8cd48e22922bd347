"""From a release to flows between drawn zones, and beside the original trips."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import shapely
from pyarrow import parquet

from tripcloak.analysis.drawn import original_ends
from tripcloak.analysis.rebuild import Checked, check_against, profiles_page, rebuild
from tripcloak.flows.model import ODMatrix
from tripcloak.flows.reading.matrix import Zoning
from tripcloak.ground.errors import InputError
from tripcloak.hierarchy import Hierarchy, ZoneFile
from worlds.planted_city import AREA, SIDE, city_corners, planted_trips, squares
from worlds.trips import Row, write_csv

QUADTREE = Zoning(spec="quadtree:3", area=tuple(map(float, AREA.split(","))))
SIX_HOURS = replace(QUADTREE, time_slot=360, fold="day", apart=True)


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    """Trips of which those that start in the west stand for three people each, the others for one."""
    made = planted_trips(400)
    return [{**row, "weight": "3" if float(row["start_lon"]) < 0.03 else "1"} for row in made]


@pytest.fixture
def trips(tmp_path: Path, rows: list[Row]) -> Path:
    return write_csv(tmp_path / "trips.csv", rows)


@pytest.fixture
def city(tmp_path: Path) -> str:
    return str(squares(tmp_path / "city.geojson", city_corners()))


def checked(folder: Path, trips: Path, zones: str) -> Checked:
    return check_against(rebuild(folder, zones), folder, (str(trips),), zones)


def test_released_zones_drawn_again_give_the_released_flows_back(tmp_path, make, trips):
    """Cells of a quadtree nest without gaps, so a release rebuilt between its own zones is itself."""
    folder = tmp_path / "out"
    make(trips, k=8, zoning=QUADTREE)
    features = json.loads((folder / "release" / "zones.geojson").read_text())["features"]
    flows = parquet.read_table(folder / "release" / "flows.parquet").to_pylist()
    for axis in ("origin", "destination"):
        own = [one for one in features if one["properties"]["axis"] == axis]
        corner = {"type": "Feature", "properties": {"zone": "elsewhere"}, "geometry": rest(own)}
        drawn = tmp_path / f"{axis}.geojson"
        drawn.write_text(json.dumps({"type": "FeatureCollection", "features": [*own, corner]}))
        expected: Counter[str] = Counter()
        for flow in flows:
            expected[flow[axis]] += flow["trips"]
        found = rebuild(folder, str(drawn)).columns()
        rebuilt: Counter[str] = Counter()
        for zone, volume in zip(found[axis], found["volume"], strict=True):
            rebuilt[str(zone)] += volume
        assert len(expected) > 3
        assert rebuilt == pytest.approx(expected)


def rest(features: list[dict[str, Any]]) -> dict[str, Any]:
    """Return what zones leave of the study area, and more around it."""
    drawn = shapely.union_all([shapely.geometry.shape(one["geometry"]) for one in features])
    return shapely.geometry.mapping(shapely.difference(shapely.box(-1, -1, 1, 1), drawn))


def test_both_rules_agree_where_tiles_are_squares(tmp_path, make, trips, city):
    make(trips, k=8, zoning=QUADTREE)
    one, other = (rebuild(tmp_path / "out", city, rule=rule).columns() for rule in ("area", "tiles"))
    by_pair = [
        dict(zip(zip(found["origin"], found["destination"], strict=True), found["volume"], strict=True))
        for found in (one, other)
    ]
    # Points of an even grid stand for tiles, so shares are true to one point of twelve a side.
    assert by_pair[0].keys() == by_pair[1].keys()
    assert sum(by_pair[0].values()) == pytest.approx(sum(by_pair[1].values()), rel=1e-6)
    assert list(by_pair[0].values()) == pytest.approx(list(by_pair[1].values()), rel=0.2)


def test_flows_too_small_to_list_are_left_out_but_counted(tmp_path, make, trips, city):
    make(trips, k=8, zoning=QUADTREE)
    everything = rebuild(tmp_path / "out", city)
    volumes = everything.columns()["volume"]
    some = rebuild(tmp_path / "out", city, at_least=float(volumes.mean()))
    assert some.volume == everything.volume == pytest.approx(volumes.sum())
    listed = some.columns()["volume"]
    assert sorted(listed) == sorted(volumes[volumes >= volumes.mean()])
    assert 0 < len(listed) < len(volumes)


@pytest.mark.parametrize("zoning", [QUADTREE, SIX_HOURS], ids=["no time", "six hours"])
def test_a_true_release_agrees_with_the_original(tmp_path, make, trips, city, zoning):
    """Made by two people at a time, all flows are safe as they are."""
    make(trips, k=2, zoning=zoning, method="suppression")
    found = checked(tmp_path / "out", trips, city)
    assert found.agreement.mean_error == pytest.approx(0)
    assert found.agreement.root_mean_square == pytest.approx(0)
    assert (found.agreement.cpc, found.agreement.correlation) == pytest.approx((1, 1))
    assert found.agreement.within_interval == found.agreement.within_bounds == 1
    assert found.original.sum() == 800
    assert found.n_slots == (1 if zoning is QUADTREE else 4)


def test_a_profile_is_the_volume_of_a_pair_slot_by_slot(tmp_path, make, trips, city, rows):
    make(trips, k=2, zoning=SIX_HOURS, method="suppression")
    found = checked(tmp_path / "out", trips, city)
    largest = found.telling_pairs()[0]
    expected = [0, 0, 0, 0]
    for row in rows:
        ends = [
            int(float(row[f"{end}_lat"]) * 100) * SIDE + int(float(row[f"{end}_lon"]) * 100)
            for end in ("start", "end")
        ]
        if [f"z{end}" for end in ends] == [str(found.names[end]) for end in largest]:
            expected[int(row["start_time"][11:13]) // 6] += 1
    assert found.profile(largest, original=True).tolist() == expected
    assert found.profile(largest, original=False).tolist() == pytest.approx(expected)
    assert found.telling_pairs(["z0:z1"]) == [
        (found.names.tolist().index("z0"), found.names.tolist().index("z1"))
    ]


def test_telling_pairs_are_a_large_a_middling_and_a_small_one(tmp_path, make, trips, city):
    make(trips, k=2, zoning=QUADTREE, method="suppression")
    found = checked(tmp_path / "out", trips, city)
    volumes = [float(found.profile(pair, original=True).sum()) for pair in found.telling_pairs()]
    assert len(volumes) == 3
    assert volumes == sorted(volumes, reverse=True)
    assert volumes[0] == found.original.max()
    assert volumes[-1] > 0
    page = profiles_page(found, found.telling_pairs())
    assert page.count("<figure") == 3


def test_population_is_compared_with_population(tmp_path, make, trips, city, rows):
    make(trips, k=2, units=("population",), zoning=QUADTREE, method="suppression")
    found = checked(tmp_path / "out", trips, city)
    assert found.original.sum() == sum(float(row["weight"]) for row in rows)
    assert found.agreement.cpc == pytest.approx(1)


def test_trips_between_zones_lie_at_the_centres_of_their_tiles() -> None:
    """Where the input names zones and no coordinates."""
    tree = Hierarchy.from_parents(
        ["a", "b", "ab"], [2, 2, -1], lat=np.array([0.5, 1.5, 1.0]), lon=np.array([0.5, 0.5, 0.5])
    )
    matrix = ODMatrix.from_trips(tree, tree, np.array([0, 0, 1]), np.array([1, 1, 0]))
    drawn = ZoneFile(
        np.array(["south"]), np.array([0.5]), np.array([0.5]), outlines=["POLYGON((0 0,1 0,1 1,0 1,0 0))"]
    )
    (ends,) = original_ends(matrix, drawn, "trips")
    assert ends.origin.tolist() == [0, -1]
    assert ends.destination.tolist() == [-1, 0]
    assert ends.volume.tolist() == [2, 1]
    nowhere = Hierarchy.from_parents(["a", "b", "ab"], [2, 2, -1])
    blind = ODMatrix.from_trips(nowhere, nowhere, np.array([0, 0, 1]), np.array([1, 1, 0]))
    with pytest.raises(InputError, match="cannot be placed in other zones"):
        next(original_ends(blind, drawn, "trips"))


def test_longer_times_are_spread_over_their_slots(tmp_path, make, trips, city):
    """Where time is an axis, a flow of a whole day has a quarter of its volume in every six hours."""
    make(trips, k=12, zoning=replace(SIX_HOURS, apart=False), method="productcut")
    rebuilt = rebuild(tmp_path / "out", city)
    assert rebuilt.times is not None
    assert rebuilt.times.tolist() == ["every day"]
    found = checked(tmp_path / "out", trips, city)
    assert found.rebuilt.sum() == pytest.approx(rebuilt.volume)
    (part,) = rebuilt.parts
    busiest = int(part.volume.argmax())
    pair = int(part.origin[busiest]), int(part.destination[busiest])
    assert found.profile(pair, original=False).tolist() == pytest.approx([part.volume[busiest] / 4] * 4)
