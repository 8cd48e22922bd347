"""The made-up survey as a model: who people are agrees with how much, how far and when they travel."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray

from tripcloak.synth import Survey

PEOPLE = 1500
METRES = 111_195.0


@pytest.fixture(scope="module")
def trips() -> pa.Table:
    survey = Survey(people=PEOPLE, seed=7, form="trips")
    return pa.Table.from_batches(list(survey.batches())).combine_chunks()


@pytest.fixture(scope="module")
def people(trips: pa.Table) -> pa.Table:
    traits = [(name, "first") for name in ("weight", "age", "sex", "category")]
    return trips.group_by("person_id", use_threads=False).aggregate([*traits, ("trip_id", "count")])


def of(rows: pa.Table, column: str, *values: str) -> NDArray[np.bool_]:
    return np.isin(rows[column].to_numpy(zero_copy_only=False).astype(str), values)


def kilometres(trips: pa.Table) -> Any:
    north = trips["end_lat"].to_numpy() - trips["start_lat"].to_numpy()
    east = trips["end_lon"].to_numpy() - trips["start_lon"].to_numpy()
    return np.hypot(north, east * np.cos(np.radians(Survey().centre[0]))) * METRES / 1000


def hours(trips: pa.Table) -> Any:
    return trips["start_time"].to_numpy().astype("M8[h]").astype(np.int64) % 24


def weekend(trips: pa.Table) -> Any:
    return (trips["start_time"].to_numpy().astype("M8[D]").astype(np.int64) + 3) % 7 >= 5


def test_people_make_about_as_many_trips_as_in_the_papers(trips: pa.Table, people: pa.Table) -> None:
    """81,289 trips of 3,300 participants, of which some make few and some many."""
    assert 0.95 < len(trips) / PEOPLE / (81_289 / 3300) < 1.05
    made = people["trip_id_count"].to_numpy()
    assert made.min() >= 2
    assert np.percentile(made, 95) > 3 * np.percentile(made, 5)


def test_points_are_hundreds_to_thousands_a_person() -> None:
    sizes: list[int] = []
    for batch in Survey(people=400, seed=7).batches():
        sizes += pa.table([batch["person_id"]], ["id"])["id"].value_counts().field("counts").to_pylist()
    assert 500 < np.mean(sizes) < 1500
    assert np.percentile(sizes, 5) > 150
    assert 1500 < max(sizes) < 6000


def test_weights_are_skewed_around_the_mean_of_the_papers(people: pa.Table) -> None:
    weight = people["weight_first"].to_numpy()
    assert 0.93 < weight.mean() / 2674 < 1.07
    assert np.median(weight) < 0.8 * weight.mean()
    assert weight.max() > 8 * weight.mean()
    assert weight[of(people, "category_first", "executive")].mean() < 0.8 * weight.mean()
    assert weight[of(people, "category_first", "worker")].mean() > 1.3 * weight.mean()


def test_age_and_category_agree(people: pa.Table) -> None:
    age = people["age_first"].to_numpy()
    assert age[of(people, "category_first", "retired")].min() >= 55
    assert age[of(people, "category_first", "student")].max() < 35
    assert np.mean(of(people, "category_first", "student")[age < 18]) > 0.8
    assert np.mean(of(people, "category_first", "retired")[age >= 65]) > 0.8
    women = of(people, "sex_first", "F")
    assert women[of(people, "category_first", "employee")].mean() > 0.65
    assert women[of(people, "category_first", "worker")].mean() < 0.3


def test_who_works_travels_further_and_more_than_who_does_not(trips: pa.Table, people: pa.Table) -> None:
    distance = kilometres(trips)
    at_home = of(trips, "category", "retired", "inactive")
    pupil = of(trips, "category", "student") & (trips["age"].to_numpy() < 18)
    working = ~at_home & ~of(trips, "category", "student")
    assert np.median(distance[working]) > 1.7 * np.median(distance[at_home])
    assert np.median(distance[working]) > 1.7 * np.median(distance[pupil])
    made = people["trip_id_count"].to_numpy()
    retired = of(people, "category_first", "retired", "inactive")
    assert made[of(people, "category_first", "executive")].mean() > 1.05 * made[retired].mean()


def test_the_clock_follows_from_what_people_do(trips: pa.Table) -> None:
    hour, free = hours(trips), weekend(trips)
    early = (hour >= 5) & (hour < 9)
    at_home, worker = of(trips, "category", "retired", "inactive"), of(trips, "category", "worker")
    working = ~at_home & ~of(trips, "category", "student")
    assert early[working & ~free].mean() > 3 * early[at_home & ~free].mean()
    assert early[working & ~free].mean() > 2 * early[working & free].mean()
    sunrise = (hour >= 5) & (hour < 7)
    assert sunrise[worker & ~free].mean() > 3 * sunrise[of(trips, "category", "executive") & ~free].mean()
    night = (hour >= 2) & (hour < 5)
    assert night.mean() < 0.01


def test_nobody_is_in_two_places_and_everybody_comes_home(trips: pa.Table) -> None:
    person = trips["person_id"].to_numpy(zero_copy_only=False)
    same = person[1:] == person[:-1]
    start, end = trips["start_time"].to_numpy(), trips["end_time"].to_numpy()
    gap = (start[1:] - end[:-1])[same]
    # Longer than the three minutes of silence that part two trips.
    assert gap.min() >= np.timedelta64(300, "s")
    exact = pa.Table.from_batches(list(Survey(people=50, form="trips", jitter_m=0.0).batches()))
    whose = exact["person_id"].to_numpy()
    places = [
        list(zip(exact[f"{e}_lat"].to_pylist(), exact[f"{e}_lon"].to_pylist(), strict=True))
        for e in ("start", "end")
    ]
    first = np.flatnonzero(np.append(True, whose[1:] != whose[:-1]))
    for begin, stop in pairwise([*first, len(whose)]):
        assert places[1][begin : stop - 1] == places[0][begin + 1 : stop]
        assert places[0][begin] == places[1][stop - 1]
