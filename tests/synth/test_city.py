"""The made-up city as a stream: exact, repeatable, well formed, and small in memory."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tracemalloc

import numpy as np
import pyarrow as pa
import pytest

from tripcloak.ground.errors import InputError
from tripcloak.synth import City
from tripcloak.synth.city import BLOCK_TRIPS
from tripcloak.synth.records import city_schema

DIGEST_SCRIPT = """
import hashlib, sys
from tripcloak.synth import City
digest = hashlib.sha256()
for batch in City(trips=30_000, seed=5).batches():
    for column in batch.columns:
        digest.update(str(column.to_pylist()).encode())
print(digest.hexdigest())
"""


def table(city: City) -> pa.Table:
    return pa.Table.from_batches(list(city.batches()), schema=city_schema())


@pytest.fixture(scope="module")
def city() -> pa.Table:
    return table(City(trips=30_000, seed=5))


@pytest.mark.parametrize(
    "city",
    [
        City(trips=1),
        City(trips=7, people=7),
        City(trips=999, people=100),
        City(trips=84, people=1),
        City(trips=1000, days=1),
        City(trips=BLOCK_TRIPS + 1),
        City(trips=BLOCK_TRIPS + 1, people=BLOCK_TRIPS + 1),
        City(trips=2 * BLOCK_TRIPS + 17, people=9001),
    ],
    ids=repr,
)
def test_there_are_exactly_as_many_trips_and_people_as_asked(city: City) -> None:
    people: set[str] = set()
    ids = []
    for batch in city.batches():
        people.update(batch.column("person_id").unique().to_pylist())
        ids.append(batch.column("trip_id").to_numpy())
    assert np.array_equal(np.concatenate(ids), np.arange(city.trips))
    assert len(people) == city.residents


def test_by_default_a_person_makes_about_ten_trips() -> None:
    assert City(trips=200_000).residents == 20_000
    assert City(trips=5, people=None).residents == 1


def test_the_batch_size_changes_neither_rows_nor_order(city: pa.Table) -> None:
    slices = list(City(trips=30_000, seed=5).batches(batch_size=777))
    assert max(batch.num_rows for batch in slices) == 777
    assert pa.Table.from_batches(slices).combine_chunks().equals(city.combine_chunks())


def test_one_seed_is_one_city_on_every_machine(city: pa.Table) -> None:
    """A second process with another hash seed and without vector instructions says the same."""
    import numpy._core._multiarray_umath as compiled  # type: ignore[import-not-found]

    vector = [name for name in compiled.__cpu_dispatch__ if compiled.__cpu_features__.get(name)]
    environment = os.environ | {"PYTHONHASHSEED": "4321", "NPY_DISABLE_CPU_FEATURES": " ".join(vector)}
    plain = subprocess.run(
        [sys.executable, "-c", DIGEST_SCRIPT], env=environment, capture_output=True, text=True, check=True
    )
    digest = hashlib.sha256()
    for column in city.combine_chunks().columns:
        digest.update(str(column.to_pylist()).encode())
    assert plain.stdout.strip() == digest.hexdigest()


def test_another_seed_is_another_city(city: pa.Table) -> None:
    other = table(City(trips=30_000, seed=6))
    for name in ("start_lat", "end_lon", "start_time", "weight"):
        assert np.mean(other[name].to_numpy() == city[name].to_numpy()) < 0.05


def test_blocks_are_different_people() -> None:
    trips = table(City(trips=2 * BLOCK_TRIPS))
    first, second = (trips.slice(at, BLOCK_TRIPS)["start_lat"].to_numpy() for at in (0, BLOCK_TRIPS))
    assert np.mean(first == second) < 0.01


def test_columns_are_complete_and_in_range(city: pa.Table) -> None:
    city.validate(full=True)
    assert city.schema.equals(city_schema())
    assert all(column.null_count == 0 for column in city.columns)
    for name in ("start_lat", "start_lon", "end_lat", "end_lon", "weight"):
        assert np.isfinite(city[name].to_numpy()).all()
    assert (city["weight"].to_numpy() > 0).all()
    age = city["age"].to_numpy()
    assert age.min() >= 6
    assert age.max() < 95
    assert set(city["sex"].unique().to_pylist()) == {"F", "M"}
    assert city["person_id"][0].as_py() == "p0000000"
    start, end = city["start_time"].to_numpy(), city["end_time"].to_numpy()
    assert (start < end).all()
    assert start.min() >= np.datetime64("2024-09-02")
    # The last evening may end after midnight.
    assert start.max() < np.datetime64("2024-09-30T05")


def test_attributes_belong_to_the_person(city: pa.Table) -> None:
    traits = city.group_by("person_id").aggregate(
        [(name, "count_distinct") for name in ("weight", "age", "sex")]
    )
    for name in ("weight", "age", "sex"):
        assert set(traits[f"{name}_count_distinct"].to_pylist()) == {1}
    assert len(city["weight"].unique()) > 1000


def test_a_city_may_lie_across_the_antimeridian() -> None:
    trips = table(City(trips=2000, centre=(-17.0, 179.95)))
    longitude = trips["start_lon"].to_numpy()
    assert longitude.min() >= -180.0
    assert longitude.max() < 180.0
    assert min((longitude < -179.0).sum(), (longitude > 179.0).sum()) > 100
    assert (np.abs(longitude) > 179.0).all()


def test_memory_does_not_grow_with_the_city() -> None:
    def peak(trips: int) -> int:
        tracemalloc.start()
        for _ in City(trips=trips).batches():
            pass
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    small = peak(2 * BLOCK_TRIPS)
    assert peak(8 * BLOCK_TRIPS) < 1.1 * small
    assert small < 300e6


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        ({"trips": 0}, "trips: expected a whole number from 1"),
        ({"trips": 2.5}, "trips: expected a whole number"),
        ({"trips": True}, "trips: expected a whole number"),
        ({"seed": -1}, "seed: expected a whole number from 0"),
        ({"days": 0}, "days: expected a whole number from 1"),
        ({"people": 0}, "people: expected a whole number from 1"),
        ({"trips": 10, "people": 11}, "people: expected a whole number from 1 to 10, found 11"),
        ({"trips": 1000, "people": 1}, "ask for more people or more days"),
        ({"radius_km": 0}, "radius_km: expected a number from 1 to 200, found 0"),
        ({"radius_km": float("nan")}, "radius_km: expected a number"),
        ({"jitter_m": -1.0}, "jitter_m: expected a number from 0"),
        ({"centre": (95.0, 2.0)}, "centre latitude: expected a number from -80 to 80"),
        ({"centre": (45.0, 200.0)}, "centre longitude: expected a number from -180 to 180"),
        ({"centre": 45.0}, "latitude, longitude"),
    ],
)
def test_bad_parameters_are_refused_in_clear_words(bad: dict[str, object], words: str) -> None:
    with pytest.raises(InputError, match=words):
        City(**bad)  # type: ignore[arg-type]


def test_a_bad_batch_size_is_refused_at_once() -> None:
    with pytest.raises(InputError, match="batch_size"):
        City(trips=10).batches(batch_size=0)
