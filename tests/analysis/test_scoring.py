"""Releases of flows and tables of records on the scale of NIST's temporal map challenge."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, parquet

import tripcloak as tc
from tripcloak.analysis.scoring import released_records, score_release, subsample, true_records
from tripcloak.flows.measures.nist import DROPOFF, INDIVIDUAL, NEEDED, PICKUP, SHIFT, nist_score
from tripcloak.flows.release.reading import read_published
from tripcloak.ground.errors import InputError
from tripcloak.hierarchy import parse_tiling
from worlds.trips import write_csv

TILES = parse_tiling("quadtree:1", area=(0.0, 0.0, 8.0, 8.0))
MONDAY = "2024-05-06"


def a_trip(who: str, day: str, clock: str, ends: tuple[float, float, float, float]) -> dict[str, str]:
    names = ("start_lat", "start_lon", "end_lat", "end_lon")
    return {"vehicle_id": who, "start_time": f"{day} {clock}"} | dict(zip(names, map(str, ends), strict=True))


@pytest.fixture(scope="module")
def trips(tmp_path_factory) -> Path:
    """Trips of ten cabs: all on Monday morning from the south-west, and each once a week later."""
    there, back = (1.0, 1.0, 7.0, 7.0), (7.0, 7.0, 1.0, 1.0)
    rows = [a_trip(f"cab{n}", MONDAY, f"0{hour}:0{n}", there) for n in range(10) for hour in (1, 2)]
    rows += [a_trip(f"cab{n}", "2024-05-14", f"17:3{n}", back) for n in range(10)]
    return write_csv(tmp_path_factory.mktemp("cabs") / "trips.csv", rows)


def made(trips: Path, folder: Path, **asked: Any) -> Path:
    asked = {"zones": "quadtree:3", "area": (0, 0, 8, 8), "suppress": 0, "id_is": "vehicle", **asked}
    tc.anonymise(trips, k=10, out=folder, **asked)
    return folder


@pytest.fixture(scope="module")
def release(trips, tmp_path_factory) -> Path:
    return made(trips, tmp_path_factory.mktemp("out") / "plain")


def test_true_trips_are_vehicle_weeks_with_shifts_and_areas(trips, release):
    found = true_records(release, (str(trips),), TILES)
    assert len(np.unique(found[INDIVIDUAL])) == 20
    assert np.unique(found[INDIVIDUAL], return_counts=True)[1].tolist().count(2) == 10
    assert sorted(found[SHIFT].tolist()) == [0] * 20 + [5] * 10
    assert len(np.unique(np.stack([found[PICKUP], found[DROPOFF]]), axis=1).T) == 2
    assert set(found[PICKUP]) == set(found[DROPOFF])


def test_a_release_that_tells_all_but_time_has_the_graph_right(release, trips):
    truth = true_records(release, (str(trips),), TILES)
    records = released_records(read_published(release), TILES, 20)
    assert len(records[SHIFT]) == 30
    assert set(records[SHIFT]) <= set(range(21))
    assert len(set(records[SHIFT])) > 2, "trips without a time lie anywhere in the week"
    assert nist_score(truth, records).graph == 1


def test_a_release_with_shifts_has_the_marginals_right_too(trips, tmp_path):
    folder = made(trips, tmp_path / "out", slot="8h", fold="week")
    truth = true_records(folder, (str(trips),), TILES)
    records = released_records(read_published(folder), TILES, 20)
    assert sorted(records[SHIFT].tolist()) == sorted(truth[SHIFT].tolist())
    assert nist_score(truth, records).k_marginal == 1


def test_times_of_a_day_lie_on_any_day(trips, tmp_path):
    folder = made(trips, tmp_path / "out", slot="8h", fold="day")
    shifts = released_records(read_published(folder), TILES, 20)[SHIFT]
    assert set(shifts % 3) == {0, 2}
    assert len(set(shifts // 3)) > 2


def test_draws_are_the_same_every_time(release, trips):
    first, second = (score_release(release, (str(trips),), areas="h3:4").to_dict() for _ in range(2))
    assert first == second
    assert [row["name"] for row in first["rows"]] == ["release", "10 %", "40 %", "70 %"]
    assert first["rows"][0]["columns"] == [DROPOFF]
    assert any("no company" in note for note in first["notes"])


def test_a_subsample_is_of_whole_individuals():
    truth = {name: np.repeat(np.arange(10), 3) for name in NEEDED}
    chosen = subsample(truth, 40)
    assert np.unique(chosen[INDIVIDUAL], return_counts=True)[1].tolist() == [3] * 4
    assert len(subsample(truth, 1)[INDIVIDUAL]) == 3
    assert nist_score(truth, subsample(truth, 100)).score == 1000


@pytest.mark.parametrize("percent", [0, 100.1])
def test_a_subsample_is_a_share(percent, release, trips):
    with pytest.raises(InputError, match="above 0 and up to 100"):
        score_release(release, (str(trips),), subsamples=(percent,))


@pytest.mark.parametrize(
    ("column", "words"), [("vehicle_id", "the id of a person or vehicle"), ("start_time", "a start time")]
)
def test_what_the_contest_cannot_do_without_is_asked_for(column, words, release, trips, tmp_path):
    table = csv.read_csv(trips).drop_columns([column])
    parquet.write_table(table, tmp_path / "less.parquet")
    folder = made(tmp_path / "less.parquet", tmp_path / "out", unit="trips", id_is=None)
    with pytest.raises(InputError, match=words):
        score_release(folder, (str(tmp_path / "less.parquet"),))


TRUTH = {
    "taxi_id": [1, 1, 2, 3],
    "shift": [0, 1, 2, 3],
    PICKUP: [8, 8, 32, -1],
    DROPOFF: [32, 8, 8, 8],
    "fare": [5, 15, 25, 35],
}


def test_tables_of_the_contest_are_scored_epsilon_by_epsilon():
    other = {**TRUTH, DROPOFF: [8, 8, 8, 8]}
    both = {name: TRUTH[name] + other[name] for name in TRUTH} | {"epsilon": [1.0] * 4 + [10.0] * 4}
    found = tc.score(pa.table(both), against=pa.table(TRUTH), subsamples=[50])
    apart = nist_score(TRUTH, other).score
    assert found.table["name"].tolist() == ["epsilon 1", "epsilon 10", "50 %"]
    assert found.table["score"].tolist()[:2] == [1000, apart]
    assert found.score == (1000 + apart) / 2
    assert "company_id" in found.notes[0]
    assert "fare" not in found.notes[0]


def test_ids_may_be_words_and_tables_text(tmp_path):
    words = {**TRUTH, "taxi_id": ["a", "a", "b", "c"]}
    csv.write_csv(pa.table(words), tmp_path / "truth.csv")
    assert tc.score(tmp_path / "truth.csv", against=pa.table(words)).score == 1000


def test_an_unknown_scale_is_refused():
    with pytest.raises(InputError, match="scale must be nist"):
        tc.score("out", against="trips.csv", scale="elo")
