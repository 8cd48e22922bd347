"""tripcloak describe's numbers, on inputs small enough to count by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from tripcloak.flows.describe import Description, describe
from tripcloak.flows.reading.matrix import Zoning
from tripcloak.ground.errors import InputError
from tripcloak.records.source import TripSource
from worlds.trips import Row, counted, some_trips, without, write_csv, write_zones, zone_trips

# Two counties of two zones each, so three heights: zones, counties, everything.
ZONES = [
    {"zone": zone, "lat": lat, "lon": "2.0", "county": county}
    for zone, lat, county in (("a", "1.0", "N"), ("b", "1.1", "N"), ("c", "3.0", "S"), ("d", "3.1", "S"))
]


def trip(person: str, origin: str, destination: str, weight: str = "1") -> Row:
    return {"person_id": person, "origin": origin, "destination": destination, "weight": weight}


# a -> c: 3 trips of 2 people; b -> d: 2 trips of 2 people; c -> a: 1 trip.
TRIPS = [
    *[trip("p", "a", "c", "10"), trip("p", "a", "c", "10"), trip("q", "a", "c", "0.5")],
    *[trip("q", "b", "d", "2"), trip("r", "b", "d", "2")],
    trip("s", "c", "a", "4"),
]


@pytest.fixture
def described(tmp_path: Path):
    def of(rows: list[Row], k: float = 3, spec: str = "table:county", **options: object) -> Description:
        file = write_csv(tmp_path / "trips.csv", rows)
        zones = write_csv(tmp_path / "zones.csv", ZONES)
        source = TripSource(paths=(str(file),), **options)  # type: ignore[arg-type]
        return describe(source, Zoning(spec=spec, zones=str(zones)), k=k)

    return of


def test_the_numbers_are_right(described):
    found = described(TRIPS)
    assert found.numbers == {
        "trips": 6,
        "travellers": 4,
        "population": 28.5,
        "flows (pairs of tiles)": 3,
        "origin tiles": 3,
        "destination tiles": 3,
        "flows of a single trip": 1,
    }
    assert found.units == ("trips", "travellers", "population")
    assert found.columns["person"] == "person_id"
    assert found.cleaning.kept == 6


def test_the_shares_below_k_are_right_at_each_height(described):
    levels = described(TRIPS, k=3).levels
    assert [(level.height, level.pairs) for level in levels] == [(0, 3), (1, 2), (2, 1)]
    # By trips: b -> d and c -> a are below 3; then N -> S has 5 trips and S -> N has 1.
    assert [level.below["trips"] for level in levels] == pytest.approx([3 / 6, 1 / 6, 0])
    # By people: no flow has 3; then N -> S has p, q and r.
    assert [level.below["travellers"] for level in levels] == pytest.approx([1, 1 / 6, 0])
    # By population: 20.5, 4 and 4 people.
    assert [level.below["population"] for level in levels] == pytest.approx([0, 0, 0])


def test_it_stops_where_nothing_is_below_k(described):
    assert [level.height for level in described(without(TRIPS[:3], "person_id", "weight"), k=3).levels] == [0]


@pytest.mark.parametrize("k", [2, 5, 20])
@pytest.mark.parametrize("spec", ["h3:10", "h3:7", "quadtree:9"])
def test_shares_fall_with_height_and_rise_with_k(tmp_path, spec, k):
    file = write_csv(tmp_path / "trips.csv", some_trips(300))
    levels = describe(TripSource(paths=(str(file),)), Zoning(spec=spec), k=k).levels
    more = describe(TripSource(paths=(str(file),)), Zoning(spec=spec), k=k + 5).levels
    for unit in ("trips", "travellers", "population"):
        shares = [level.below[unit] for level in levels]
        assert shares == sorted(shares, reverse=True)
        assert all(0 <= share <= 1 for share in shares)
        assert all(low.below[unit] <= high.below[unit] for low, high in zip(levels, more, strict=False))
    assert [level.pairs for level in levels] == sorted((level.pairs for level in levels), reverse=True)
    assert levels[-1].below["travellers"] == 0


def test_high_trees_are_looked_at_in_steps(tmp_path):
    zones = [{"zone": f"z{n:03d}", "lat": str(n * n / 300), "lon": "2.0"} for n in range(150)]
    file = write_csv(tmp_path / "trips.csv", [trip("p", f"z{n:03d}", f"z{n:03d}") for n in range(150)])
    place = Zoning(spec="dendrogram", zones=str(write_csv(tmp_path / "zones.csv", zones)))
    levels = describe(TripSource(paths=(str(file),)), place, k=1000).levels
    heights = [level.height for level in levels]
    assert heights[0] == 0
    assert len(heights) <= 17
    assert levels[-1].pairs == 1


def test_advice_where_there_is_no_id(described):
    advice = described(without(TRIPS, "person_id"), k=3).advice
    assert "no column of ids" in advice[0]
    assert "k = 3 on trips" in advice[1]


def test_advice_where_k_is_too_large(described):
    (advice,) = described(TRIPS, k=5).advice
    assert "k = 5 on people is out of reach" in advice
    assert "holds 4" in advice


def test_advice_where_k_is_easy(described):
    (advice,) = described([*TRIPS[:1] * 9, trip("q", "a", "c")], k=2).advice
    assert "easy" in advice


def test_advice_where_zones_must_grow(described):
    (advice,) = described([*TRIPS[:5] * 2], k=3).advice
    assert "Realistic: k = 3 on people" in advice
    assert "height 1" in advice
    assert "At that height all is one flow, so expect little" in advice
    (advice,) = described([*TRIPS[:5] * 2, *(trip(who, "c", "a") for who in "pqr")], k=3).advice
    assert "height 1" in advice
    assert "one flow" not in advice


def test_people_counted_once_are_travellers(tmp_path):
    file = write_csv(tmp_path / "counts.csv", counted(zone_trips(), "commuters"))
    place = Zoning(spec="table:county", zones=str(write_zones(tmp_path / "zones.csv")))
    found = describe(TripSource(paths=(str(file),)), place)
    assert found.numbers["travellers"] == found.numbers["trips"] == 900


def test_all_of_it_can_be_written_as_json(described):
    import json

    found = json.loads(json.dumps(described(TRIPS).to_dict()))
    assert found["numbers"]["trips"] == 6
    assert found["levels"][0] == {"height": 0, "pairs": 3, "below": described(TRIPS).levels[0].below}
    assert found["cleaning"]["read"] == 6
    assert found["hierarchy"] == "table:county"


@pytest.mark.parametrize("k", [1, 0, -1, float("nan"), 2.5])
def test_k_must_be_a_k(described, k):
    with pytest.raises(InputError, match="k "):
        described(TRIPS, k=k)
