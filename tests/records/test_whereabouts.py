"""Where and when an input lies is told whatever a stray point says, and swapped coordinates are known."""

from __future__ import annotations

import json
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tripcloak as tc
from tripcloak.ground.errors import InputError
from tripcloak.records.period import DAY, look_at_times
from tripcloak.records.whereabouts import Whereabouts, look_at_places, nearest_city
from worlds.made_files.damaged import table, trip, trips

CHICAGO = {"lat": -87.63, "lon": 41.88}
"""With latitude and longitude exchanged: both are fine as they are."""
TURNED = {
    "origin_lat": "start_lon",
    "origin_lon": "start_lat",
    "destination_lat": "end_lon",
    "destination_lon": "end_lat",
}


def places(lat: float, lon: float, *stray: float) -> Whereabouts:
    """Return what is told of a city, and of a point apart from it."""
    drawn = np.random.default_rng(1)
    lats, lons = drawn.normal(lat, 0.05, 200), drawn.normal(lon, 0.05, 200)
    if stray:
        lats, lons = np.append(lats, stray[0]), np.append(lons, stray[1])
    return look_at_places(lambda: [(lats, lons)], len(lats))


@pytest.mark.parametrize(
    ("name", "lat", "lon"),
    [
        ("Chicago", 41.88, -87.63),
        ("New York", 40.7, -74.0),
        ("London", 51.5, -0.1),
        ("Sao Paulo", -23.6, -46.6),
    ],
)
def test_swapped_cities_are_known(name: str, lat: float, lon: float) -> None:
    right, turned = places(lat, lon), places(lon, lat)
    assert (right.city.name, right.swapped) == (name, None)
    assert (turned.mirror.name, turned.swapped) == (name, "certain")
    assert f"from {name}" in str(turned.swapped_words())


def test_where_people_live_both_ways_round_it_is_only_likely() -> None:
    # The other way round, Madrid lies on the coast of Kenya.
    madrid = places(-3.7, 40.4)
    assert (madrid.city.name, madrid.mirror.name, madrid.swapped) == ("Mombasa", "Madrid", "likely")
    assert places(-4.05, 39.67).swapped is None


def test_beyond_ninety_degrees_nothing_can_be_turned() -> None:
    assert places(37.8, -122.4).swapped is None


def test_nearly_every_city_is_known_when_turned_and_none_is_taken_for_turned() -> None:
    from tripcloak.records.whereabouts import _cities, _judged

    _, lats, lons = _cities()
    turnable = [(lat, lon) for lat, lon in zip(lats, lons, strict=True) if abs(lon) <= 90]
    assert [city for city in turnable if _judged(*city)[2]] == []
    assert sum(_judged(lon, lat)[2] is None for lat, lon in turnable) <= 2


def test_a_stray_point_decides_nothing() -> None:
    plain, stray = places(41.88, -87.63), places(41.88, -87.63, 12.5, 99.9)
    assert (plain.stray, stray.stray, stray.turned) == (0, 1, 0)
    assert stray.extent == plain.extent
    assert stray.city.name == "Chicago"
    assert "fewer than 10 places lie far from all others" in str(stray.stray_words())


def test_a_stray_point_that_is_turned_is_told() -> None:
    stray = places(41.88, -87.63, -87.63, 41.88)
    assert (stray.stray, stray.turned) == (1, 1)
    assert "with latitude and longitude exchanged" in str(stray.stray_words())


def test_pieces_that_were_looked_at_are_let_go() -> None:
    """Those of an input that is larger than memory are all of it together."""
    lasting: list[weakref.ref[Any]] = []

    def pieces() -> Iterator[tuple[Any, Any]]:
        for number in range(6):
            assert sum(one() is not None for one in lasting) <= 2
            lat = np.full(1000, 48 + number / 100)
            lasting.append(weakref.ref(lat))
            yield lat, np.full(1000, 2.3)

    assert look_at_places(pieces, 6_000_000).stray == 0
    assert len(lasting) >= 6


def test_another_city_is_not_astray() -> None:
    lats = np.concatenate([np.full(90, 41.9), np.full(10, 34.1)])
    lons = np.concatenate([np.full(90, -87.6), np.full(10, -118.2)])
    found = look_at_places(lambda: [(lats, lons)], 100)
    assert (found.stray, found.extent) == (0, (34.1, -118.2, 41.9, -87.6))


def test_a_release_stops_and_says_what_to_type(tmp_path: Path) -> None:
    path = tmp_path / "trips.csv"
    path.write_text(table(trip(n, **CHICAGO) for n in range(40)))
    with pytest.raises(InputError) as refusal:
        tc.anonymise(path, k=2, hierarchy="h3:7")
    for words in ("look swapped", "from Chicago", "origin_lat='start_lon'", "box="):
        assert words in str(refusal.value)
    assert tc.describe(path, k=2).to_dict()["where"]["swapped"] == "certain"
    release = tc.anonymise(path, k=2, hierarchy="h3:7", **TURNED)
    assert not any("swapped" in note for note in release.private.notes)
    # Whoever says where it is knows it.
    assert tc.anonymise(path, k=2, hierarchy="h3:7", box=(-89, 41, -86, 43)).private.notes is not None


def test_names_that_say_otherwise_are_told(tmp_path: Path) -> None:
    path = tmp_path / "trips.csv"
    path.write_text(trips(40))
    (warning, *_) = tc.describe(path, k=2, **TURNED).to_dict()["warnings"]
    assert "swapped" in warning or "its name says otherwise" in warning


def test_describe_tells_where_when_and_why(tmp_path: Path) -> None:
    path = tmp_path / "trips.csv"
    path.write_text(table([*map(trip, range(40)), trip(41, lat=-33.9, lon=18.4)]))
    told = json.loads(json.dumps(tc.describe(path, k=2, person="user_id").to_dict()))
    assert told["form"] == "trips"
    assert told["where"]["nearest_city"] == "Paris"
    assert told["where"]["stray_points"] == 2
    south, _, north, _ = told["where"]["extent"]
    assert 48 < south < north < 49
    assert (told["when"]["first_day"], told["when"]["last_day"]) == ("2024-05-01", "2024-05-01")
    assert told["when"]["times_to"] == "minute"
    assert told["why"]["person"] == "person='user_id' says so"
    assert told["why"]["origin_lat"] == "its name is usual for that"
    assert any("box='48.8,2.3," in warning for warning in told["warnings"])


def test_fixes_are_told_to_be_fixes(tmp_path: Path) -> None:
    path = tmp_path / "calls.csv"
    calls = [f"u{n % 9},2024-05-01 {n // 9:02}:{n % 60:02}:00,48.8{n % 10},2.3{n % 7}" for n in range(180)]
    runs = [f"v{n},2024-05-02 08:0{m}:00,48.8{m},2.3{n}" for n in range(9) for m in range(3)]
    path.write_text("\n".join(["user_id,time,lat,lon", *calls, *runs, ""]))
    (warning,) = tc.describe(path, k=2, silence=180).to_dict()["warnings"]
    for words in (
        "these are fixes, not trips",
        "180 of 189 were a single fix",
        "`tripcloak trajectories trips`",
    ):
        assert words in warning


def test_a_stray_clock_decides_nothing() -> None:
    instants = 19_000 * DAY + np.arange(1000) * (DAY // 100)
    plain, stray = look_at_times(instants), look_at_times(np.append(instants, [0, 40_000 * DAY]))
    assert plain is not None
    assert stray is not None
    assert (stray.first, stray.last) == (plain.first, plain.last)
    assert (plain.stray, stray.stray) == (False, True)
    assert look_at_times(np.empty(0, dtype=np.int64)) is None


def test_cities_lie_where_they_are() -> None:
    for name, lat, lon in (("Sydney", -33.87, 151.21), ("Tokyo", 35.68, 139.77), ("Lagos", 6.52, 3.38)):
        city = nearest_city(lat, lon)
        assert (city.name, city.km < 20) == (name, True)


def test_trajectories_stop_where_coordinates_are_swapped(tmp_path: Path) -> None:
    path = tmp_path / "fixes.csv"
    lines = [f"u{n},2024-05-01 08:{m:02}:00,-87.6{m},41.8{n}" for n in range(9) for m in range(9)]
    path.write_text("\n".join(["user_id,time,lat,lon", *lines, ""]))
    with pytest.raises(InputError, match=r"look swapped.*from Chicago.*lat='lon', lon='lat'"):
        tc.trajectories.anonymise(path, k=2)
    told = json.loads(json.dumps(tc.trajectories.describe(path).to_dict()))
    assert told["where"]["swapped"] == "certain"
    assert told["where"]["extent"] == [-87.7, 41.8, -87.6, 41.9], "tenths of a degree: few may decide it"
    assert (told["columns"]["person"], told["why"]["person"]) == ("user_id", "its name is usual for that")
    assert any("from Chicago" in warning for warning in told["warnings"])
    assert tc.trajectories.describe(path, lat="lon", lon="lat").to_dict()["warnings"] == []
