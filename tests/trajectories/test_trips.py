"""Trips of trajectories, raw and released, and trajectories of trips."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyarrow import csv
from pyarrow import parquet as pq

from tripcloak.flows.reading.matrix import Zoning, read_matrix
from tripcloak.ground.errors import EmptyInputError, InputError, OutputExistsError
from tripcloak.records.source import TripSource
from tripcloak.trajectories.anonymise import TrajectoryRequest, anonymise_trajectories
from tripcloak.trajectories.methods.registry import find_trajectory_method
from tripcloak.trajectories.reading import TrajectorySource, read_trajectories
from tripcloak.trajectories.trips import TripRules, write_trips_of_trajectories
from worlds.fixes import some_fixes
from worlds.trips import write_csv

COLUMNS = [
    "person",
    "origin_lat",
    "origin_lon",
    "destination_lat",
    "destination_lon",
    "start_time",
    "end_time",
]
EVERY = TripRules(minutes=0)


@pytest.fixture
def source(tmp_path: Path) -> TrajectorySource:
    return TrajectorySource(paths=(str(write_csv(tmp_path / "fixes.csv", some_fixes(14))),))


def test_the_od_side_reads_the_trips_without_being_told_how(source, tmp_path):
    made = write_trips_of_trajectories(source, tmp_path / "trips.parquet", EVERY)
    table = pq.read_table(tmp_path / "trips.parquet")
    assert table.column_names == COLUMNS
    assert table.num_rows == made.trips > 20
    reading = read_matrix(TripSource(paths=(str(tmp_path / "trips.parquet"),)), Zoning(spec="h3:9"))
    assert reading.trips.cleaning.kept == made.trips
    assert reading.trips.matrix.units == ("trips", "travellers")
    assert set(reading.trips.canonical.columns) == set(COLUMNS)


def test_trips_lead_from_where_somebody_was_to_where_they_were_next(tmp_path):
    rows = [
        {"user_id": user, "timestamp": f"2024-05-13 {hour}:00:00", "lat": lat, "lon": "2.35"}
        for user in ("a", "b")
        for hour, lat in (("08", "48.80"), ("09", "48.80"), ("12", "48.90"), ("15", "48.90"))
    ]
    source = TrajectorySource(paths=(str(write_csv(tmp_path / "fixes.csv", rows)),), metres=10)
    made = write_trips_of_trajectories(source, tmp_path / "trips.csv")
    assert (made.trajectories, made.stays, made.trips, made.too_long) == (2, 4, 2, 0)
    trips = csv.read_csv(tmp_path / "trips.csv").to_pylist()
    assert [one["person"] for one in trips] == ["a", "b"]
    assert all(one["origin_lat"] == pytest.approx(48.80, abs=1e-3) for one in trips)
    assert all(one["destination_lat"] == pytest.approx(48.90, abs=1e-3) for one in trips)
    assert all(one["destination_lon"] == pytest.approx(2.35, abs=1e-3) for one in trips)
    assert {(one["start_time"].hour, one["end_time"].hour) for one in trips} == {(9, 12)}


@pytest.mark.parametrize("given", [".", "release"])
def test_released_trips_are_under_pseudonyms(source, tmp_path, given):
    out = tmp_path / "out"
    anonymise_trajectories(
        TrajectoryRequest(source=source, method=find_trajectory_method("k-scale")(k=2), out=out)
    )
    released = TrajectorySource(paths=(str(out / given),))
    made = write_trips_of_trajectories(released, tmp_path / "trips.parquet", EVERY)
    people = set(pq.read_table(tmp_path / "trips.parquet")["person"].to_pylist())
    pseudonyms = set(pq.read_table(out / "release" / "samples.parquet")["trajectory"].to_pylist())
    assert made.trajectories == 14
    assert people <= pseudonyms
    assert "say no more than the release" in made.notes[0]


def test_back_again_each_trip_is_two_samples(source, tmp_path):
    made = write_trips_of_trajectories(source, tmp_path / "trips.parquet", EVERY)
    back = read_trajectories(
        TrajectorySource(paths=(str(tmp_path / "trips.parquet"),), seconds=60, metres=100)
    )
    assert back.cleaning.rows == 2 * made.trips
    forth = read_trajectories(source).trajectories
    trips = pq.read_table(tmp_path / "trips.parquet")
    assert back.trajectories.users.tolist() == sorted(set(trips["person"].to_pylist()))
    assert set(back.trajectories.users) <= set(forth.users)
    assert any("each gives two fixes" in note for note in back.notes)


def test_a_trip_of_which_one_end_has_no_time_keeps_the_other(tmp_path):
    row = {"origin_lat": "48.80", "origin_lon": "2.3", "destination_lat": "48.90", "destination_lon": "2.3"}
    times = {"start_time": "2024-05-13 08:00:00", "end_time": "2024-05-13 09:00:00"}
    rows = [{"person": person, **row, **times} for person in ("a", "b")]
    rows[1]["end_time"] = ""
    read = read_trajectories(TrajectorySource(paths=(str(write_csv(tmp_path / "trips.csv", rows)),)))
    assert read.trajectories.lengths.tolist() == [2, 1]
    assert read.cleaning.dropped == {"missing_time": 1}
    north = read.trajectories.y * read.trajectories.grid.metres
    assert north[1] - north[0] == pytest.approx(11_100, abs=200)
    assert north[2] == north[0]


def test_a_release_and_raw_files_do_not_mix(source, tmp_path):
    out = tmp_path / "out"
    anonymise_trajectories(
        TrajectoryRequest(source=source, method=find_trajectory_method("k-scale")(k=2), out=out)
    )
    both = TrajectorySource(paths=(*source.paths, str(out)))
    with pytest.raises(InputError, match="one release folder"):
        write_trips_of_trajectories(both, tmp_path / "trips.parquet")


def test_raw_trips_are_not_written_into_the_public_part(source, tmp_path):
    out = tmp_path / "out"
    anonymise_trajectories(
        TrajectoryRequest(source=source, method=find_trajectory_method("k-scale")(k=2), out=out)
    )
    with pytest.raises(OutputExistsError, match="public part"):
        write_trips_of_trajectories(source, out / "release" / "trips.parquet", EVERY)


def test_a_file_that_is_there_stays(source, tmp_path):
    (tmp_path / "trips.parquet").write_text("mine")
    with pytest.raises(OutputExistsError, match="force=True"):
        write_trips_of_trajectories(source, tmp_path / "trips.parquet", EVERY)
    assert (tmp_path / "trips.parquet").read_text() == "mine"
    write_trips_of_trajectories(source, tmp_path / "trips.parquet", EVERY, force=True)
    assert pq.read_table(tmp_path / "trips.parquet").num_rows > 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["fixes.csv", "trips.parquet"]


def test_trips_never_replace_their_own_input(source):
    file = Path(source.paths[0])
    before = file.read_bytes()
    with pytest.raises(InputError, match="very input"):
        write_trips_of_trajectories(source, file, EVERY, force=True)
    assert file.read_bytes() == before


def test_where_nobody_stays_or_moves_there_are_no_trips(source, tmp_path):
    with pytest.raises(EmptyInputError, match="--stay"):
        write_trips_of_trajectories(source, tmp_path / "trips.parquet", TripRules(minutes=5000))
    with pytest.raises(EmptyInputError, match="--place"):
        write_trips_of_trajectories(source, tmp_path / "trips.parquet", TripRules(minutes=0, metres=1e6))
