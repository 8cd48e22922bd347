"""The made-up city as a model: people repeat their trips, crowd at hotspots and keep to the clock."""

from __future__ import annotations

import h3.api.basic_int as h3
import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray

from tripcloak.synth import City
from tripcloak.synth.plan import draw_plan

TRIPS = 60_000
METRES = 111_195.0
Floats = NDArray[np.float64]


def table(city: City) -> pa.Table:
    return pa.Table.from_batches(list(city.batches())).combine_chunks()


def plane(trips: pa.Table, end: str) -> Floats:
    """Metres east and north of the default city's centre."""
    latitude, longitude = City().centre
    north = (trips[f"{end}_lat"].to_numpy() - latitude) * METRES
    east = (trips[f"{end}_lon"].to_numpy() - longitude) * METRES * np.cos(np.radians(latitude))
    return np.stack([east, north], axis=1)


def tiles(trips: pa.Table, end: str, resolution: int = 10) -> NDArray[np.int64]:
    places = zip(trips[f"{end}_lat"].to_pylist(), trips[f"{end}_lon"].to_pylist(), strict=True)
    return np.array([h3.latlng_to_cell(*place, resolution) for place in places])


@pytest.fixture(scope="module")
def noisy() -> pa.Table:
    return table(City(trips=TRIPS))


@pytest.fixture(scope="module")
def exact() -> pa.Table:
    """The same trips without positioning error."""
    return table(City(trips=TRIPS, jitter_m=0.0))


def test_people_repeat_their_trips(exact: pa.Table) -> None:
    ends = ["start_lat", "start_lon", "end_lat", "end_lon"]
    pairs = exact.group_by(ends).aggregate([("trip_id", "count"), ("person_id", "count_distinct")])
    trips = pairs["trip_id_count"].to_numpy()
    travellers = pairs["person_id_count_distinct"].to_numpy()
    assert (travellers <= trips).all()
    repeated = (trips >= 4) & (travellers == 1)
    assert trips[repeated].sum() > 0.05 * TRIPS
    assert trips[repeated].sum() < 0.6 * TRIPS


def test_commuters_go_and_come_back_on_weekdays(exact: pa.Table) -> None:
    """A person's most repeated pair of at least four trips is mostly a weekday one, and is travelled back."""
    pair = ["person_id", "start_lat", "start_lon", "end_lat", "end_lon"]
    repeated = exact.group_by(pair).aggregate([("trip_id", "count")])
    often = repeated.filter(repeated["trip_id_count"].to_numpy() >= 4)
    back = often.rename_columns(
        ["person_id", "end_lat", "end_lon", "start_lat", "start_lon", "trip_id_count"]
    )
    returned = often.join(back, pair, join_type="left semi")
    assert returned.num_rows > 0.5 * often.num_rows
    commuting = exact.join(often.select(pair), pair, join_type="left semi")
    weekday = commuting["start_time"].to_numpy().astype("M8[D]").astype(np.int64)
    weekday = (weekday + 3) % 7
    assert np.mean(weekday < 5) > 0.85


def test_positioning_error_is_10_to_20_metres_and_mostly_stays_in_the_tile(
    noisy: pa.Table, exact: pa.Table
) -> None:
    for end in ("start", "end"):
        gap = plane(noisy, end) - plane(exact, end)
        assert 10.0 < np.hypot(gap[:, 0], gap[:, 1]).mean() < 20.0
        some_noisy, some_exact = (trips.slice(0, 10_000) for trips in (noisy, exact))
        assert 0.6 < np.mean(tiles(some_noisy, end) == tiles(some_exact, end)) < 0.95
    assert len(noisy.group_by(["start_lat", "start_lon"]).aggregate([])) > 0.99 * TRIPS


def test_trips_follow_each_other_in_place_and_time(exact: pa.Table) -> None:
    person = exact["person_id"].to_numpy(zero_copy_only=False)
    same = person[1:] == person[:-1]
    start, end = exact["start_time"].to_numpy(), exact["end_time"].to_numpy()
    assert (start[1:] > end[:-1])[same].all()
    origin, destination = plane(exact, "start"), plane(exact, "end")
    assert (origin[1:] == destination[:-1]).all(axis=1)[same].all()


@pytest.mark.parametrize("seed", [1, 2])
def test_nobody_is_in_two_places_however_busy(seed: int) -> None:
    trips = table(City(trips=40_000, people=500, seed=seed))
    person = trips["person_id"].to_numpy(zero_copy_only=False)
    same = person[1:] == person[:-1]
    start, end = trips["start_time"].to_numpy(), trips["end_time"].to_numpy()
    assert (start[1:] > end[:-1])[same].all()
    assert end.max() < np.datetime64("2024-10-01")


def test_some_travel_much_more_than_others(noisy: pa.Table) -> None:
    trips = np.sort(noisy.group_by("person_id").aggregate([("trip_id", "count")])["trip_id_count"].to_numpy())
    assert np.median(trips) < 0.75 * trips.mean()
    assert trips[-trips.size // 10 :].sum() > 0.3 * TRIPS
    assert trips[0] == 1


def test_the_day_has_a_morning_and_an_evening_peak(noisy: pa.Table) -> None:
    hour = noisy["start_time"].to_numpy().astype("M8[h]").astype(np.int64) % 24
    share = np.bincount(hour, minlength=24) / TRIPS
    assert share[2:5].sum() < 0.01
    assert share[7:9].sum() > 1.4 * share[11:13].sum()
    assert share[16:18].sum() > 1.4 * share[11:13].sum()
    day = noisy["start_time"].to_numpy().astype("M8[D]").astype(np.int64)
    weekend = (day + 3) % 7 >= 5
    morning = (hour >= 7) & (hour < 9)
    assert morning[~weekend].mean() > 2 * morning[weekend].mean()


def test_the_city_is_dense_inside_and_has_a_thin_tail(exact: pa.Table) -> None:
    radius = City().radius_km * 1000.0
    distance = np.hypot(*plane(exact, "start").T)
    assert np.mean(distance < 1.1 * radius) > 0.9
    assert 0.005 < np.mean(distance > 1.4 * radius) < 0.05
    assert distance.max() < 2.4 * radius
    rings = [
        np.mean((distance >= a * radius) & (distance < b * radius)) / (b * b - a * a)
        for a, b in ((0.0, 0.2), (0.2, 0.6), (0.6, 1.2), (1.2, 2.2))
    ]
    assert rings == sorted(rings, reverse=True)


def test_people_choose_what_is_near(exact: pa.Table) -> None:
    origin, destination = plane(exact, "start"), plane(exact, "end")
    length = np.hypot(*(destination - origin).T)
    shuffled = np.hypot(*(np.random.default_rng(1).permutation(destination) - origin).T)
    assert np.median(length) < 0.7 * np.median(shuffled)
    assert np.mean(length < 20.0) < 0.01


def test_station_and_airport_are_hotspots(exact: pa.Table) -> None:
    plan = draw_plan(1, City().radius_km * 1000.0)
    end = plane(exact, "end")
    for hotspot, least in ((plan.station, 0.008), (plan.airport, 0.002)):
        near = (np.abs(end[:, None, :] - hotspot).max(axis=2) < 1.0).any(axis=1)
        assert least < near.mean() < 0.08


def test_popularity_of_places_is_skewed(noisy: pa.Table) -> None:
    visits = np.sort(np.unique(tiles(noisy, "end"), return_counts=True)[1])[::-1]
    assert visits[: visits.size // 100].sum() > 0.15 * TRIPS
    assert np.median(visits) <= 3


def test_weights_stand_for_people_and_differ_by_age_and_sex() -> None:
    trips = table(City(trips=40_000, people=40_000))
    weight, age = trips["weight"].to_numpy(), trips["age"].to_numpy()
    male = trips["sex"].to_numpy(zero_copy_only=False) == "M"
    assert 320 < weight.mean() < 390
    assert np.median(weight) < weight.mean()
    young = (age >= 18) & (age < 35)
    assert weight[young & male].mean() > 1.05 * weight[young & ~male].mean()
    assert 0.45 < male.mean() < 0.52


def test_most_pairs_of_the_demo_city_are_rare() -> None:
    trips = table(City())
    flows = {*zip(tiles(trips, "start").tolist(), tiles(trips, "end").tolist(), strict=True)}
    assert 130_000 < len(flows) < 165_000
