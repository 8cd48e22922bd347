"""The made-up survey as a stream and as a file: repeatable, well formed, read back as the trips it is of."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tripcloak.ground.engine import connect
from tripcloak.ground.errors import InputError
from tripcloak.records.source import TripSource
from tripcloak.records.trips import clean, open_canonical
from tripcloak.synth import Survey, write_survey
from tripcloak.synth.survey import BLOCK_PEOPLE

PEOPLE = BLOCK_PEOPLE + 72

DIGEST_SCRIPT = f"""
import hashlib
from tripcloak.synth import Survey
digest = hashlib.sha256()
for batch in Survey(people={PEOPLE}, seed=5).batches():
    for column in batch.columns:
        digest.update(str(column.to_pylist()).encode())
print(digest.hexdigest())
"""


def table(survey: Survey) -> pa.Table:
    return pa.Table.from_batches(list(survey.batches()), schema=survey.schema).combine_chunks()


@pytest.fixture(scope="module")
def points() -> pa.Table:
    return table(Survey(people=PEOPLE, seed=5))


@pytest.fixture(scope="module")
def trips() -> pa.Table:
    return table(Survey(people=PEOPLE, seed=5, form="trips"))


def test_one_seed_is_one_survey_on_every_machine() -> None:
    """A second process with another hash seed and without vector instructions says the same."""
    import numpy._core._multiarray_umath as compiled  # type: ignore[import-not-found]

    vector = [name for name in compiled.__cpu_dispatch__ if compiled.__cpu_features__.get(name)]
    environment = os.environ | {"PYTHONHASHSEED": "4321", "NPY_DISABLE_CPU_FEATURES": " ".join(vector)}
    plain = subprocess.run(
        [sys.executable, "-c", DIGEST_SCRIPT], env=environment, capture_output=True, text=True, check=True
    )
    digest = hashlib.sha256()
    for batch in Survey(people=PEOPLE, seed=5).batches():
        for column in batch.columns:
            digest.update(str(column.to_pylist()).encode())
    assert plain.stdout.strip() == digest.hexdigest()


def test_another_seed_is_another_survey(points: pa.Table) -> None:
    other = table(Survey(people=PEOPLE, seed=6))
    rows = min(len(points), len(other))
    for name in ("lat", "time", "weight"):
        assert np.mean(other[name].to_numpy()[:rows] == points[name].to_numpy()[:rows]) < 0.05


@pytest.mark.parametrize("form", ["points", "trips"])
@pytest.mark.parametrize("people", [1, BLOCK_PEOPLE, BLOCK_PEOPLE + 1])
def test_everybody_takes_part(people: int, form: str) -> None:
    found = table(Survey(people=people, days=2, form=form))  # type: ignore[arg-type]
    assert len(found["person_id"].unique()) == people


def test_columns_are_complete_and_in_range(points: pa.Table, trips: pa.Table) -> None:
    for rows in (points, trips):
        rows.validate(full=True)
        assert all(column.null_count == 0 for column in rows.columns)
        assert rows["age"].to_numpy().min() >= 16
        assert rows["age"].to_numpy().max() <= 80
        assert (rows["weight"].to_numpy() > 0).all()
        assert set(rows["sex"].unique().to_pylist()) == {"F", "M"}
        assert len(rows["category"].unique()) == 8
    assert np.isfinite(points["lat"].to_numpy()).all()
    assert np.isfinite(points["lon"].to_numpy()).all()
    assert np.array_equal(trips["trip_id"].to_numpy(), np.arange(len(trips)))


def test_rows_are_by_person_and_then_by_time(points: pa.Table) -> None:
    person = points["person_id"].to_numpy(zero_copy_only=False)
    time = points["time"].to_numpy()
    same = person[1:] == person[:-1]
    assert (np.diff(time)[same] > np.timedelta64(0)).all()
    assert np.count_nonzero(~same) + 1 == PEOPLE


def test_traits_belong_to_the_person(points: pa.Table) -> None:
    names = ("weight", "age", "sex", "category")
    traits = points.group_by("person_id").aggregate([(name, "count_distinct") for name in names])
    for name in names:
        assert set(traits[f"{name}_count_distinct"].to_pylist()) == {1}


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
def test_the_reader_makes_of_the_points_exactly_the_trips(
    tmp_path: Path, trips: pa.Table, suffix: str
) -> None:
    """The silences between trips, and the lone points of long stays, are where the reader expects them."""
    path = tmp_path / f"survey.{suffix}"
    write_survey(Survey(people=PEOPLE, seed=5), path)
    columns = "person, epoch(start_time), epoch(end_time), o_lat, o_lon, d_lat, d_lon, weight, attr_category"
    with connect() as con:
        canonical = open_canonical(con, TripSource(paths=(str(path),), attributes=("sex", "category")))
        report = clean(canonical)
        rows = con.execute(f"select {columns} from canonical where reason = 0").fetchall()
    assert (canonical.form, report.kept) == ("points", len(trips))
    assert set(report.dropped) == {"single_fix"}
    names = ("person_id", "start_time", "end_time", "start_lat", "start_lon", "end_lat", "end_lon", "weight")
    expected = [trips[name].to_pylist() for name in (*names, "category")]
    expected[1:3] = (trips[name].to_numpy().astype("M8[s]").astype(int).tolist() for name in names[1:3])
    assert sorted(rows) == sorted(zip(*expected, strict=True))


def test_a_file_holds_exactly_the_stream_and_a_failed_one_leaves_nothing(
    tmp_path: Path, points: pa.Table
) -> None:
    seen: list[tuple[int, int]] = []
    survey = Survey(people=PEOPLE, seed=5)
    write_survey(survey, tmp_path / "a.parquet", progress=lambda *told: seen.append(told))
    assert pq.read_table(tmp_path / "a.parquet").equals(points)
    assert seen == [(BLOCK_PEOPLE, PEOPLE), (PEOPLE, PEOPLE)]

    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_survey(survey, tmp_path / "b.csv", progress=stop)
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.parquet"]


def test_memory_does_not_grow_with_the_survey() -> None:
    def peak(people: int) -> int:
        tracemalloc.start()
        for _ in Survey(people=people).batches():
            pass
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    small = peak(2 * BLOCK_PEOPLE)
    assert peak(8 * BLOCK_PEOPLE) < 1.3 * small
    assert small < 100e6


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        ({"people": 0}, "people: expected a whole number from 1"),
        ({"seed": -1}, "seed: expected a whole number from 0"),
        ({"days": 0}, "days: expected a whole number from 1"),
        ({"form": "fixes"}, "form: expected points or trips, found 'fixes'"),
        ({"step_s": 150.0}, "step_s: expected a number from 5 to 100, found 150"),
        ({"radius_km": 0}, "radius_km: expected a number from 1 to 200, found 0"),
        ({"centre": 45.0}, "latitude, longitude"),
    ],
)
def test_bad_parameters_are_refused_in_clear_words(bad: dict[str, object], words: str) -> None:
    with pytest.raises(InputError, match=words):
        Survey(**bad)  # type: ignore[arg-type]
