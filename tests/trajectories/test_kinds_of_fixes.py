"""Stays and stops are tuned by what fixes are, and rides are those that the other wing reads."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyarrow import parquet as pq

from tripcloak.flows.reading.matrix import Zoning, read_matrix
from tripcloak.ground.errors import EmptyInputError, InputError
from tripcloak.records.source import TripSource
from tripcloak.trajectories.reading import TrajectorySource
from tripcloak.trajectories.trips import ExtractedTrips, TripRules, write_trips_of_trajectories
from worlds.fleets import NOON, Fix, drives, fixes_csv, fleet


def extracted(tmp_path: Path, text: str, rules: TripRules | None = None, **options: object) -> ExtractedTrips:
    name = "new_abc.txt" if options.get("preset") == "cabspotting" else "fixes.csv"
    (tmp_path / name).write_text(text)
    source = TrajectorySource(paths=(str(tmp_path / name),), **options)  # type: ignore[arg-type]
    return write_trips_of_trajectories(source, tmp_path / "trips.parquet", rules, force=True)


def visits(
    hours: float, places: int, *, apart: float = 0.002, people: int = 5, rounds: int = 12
) -> list[Fix]:
    """Return people who go around some places, so many hours from one to the next."""
    return [
        (f"p{who}", NOON + round(3600 * hours * at) + who, 40.7 + apart * ((who + at) % places), -74.0)
        for who in range(people)
        for at in range(rounds)
    ]


def test_every_change_of_place_is_a_trip_of_check_ins(tmp_path: Path) -> None:
    made = extracted(tmp_path, fixes_csv(visits(6, 3), "user_id,time,lat,lon"))
    assert (made.rules["fixes"], made.rules["stay"], made.trips) == ("check-ins", 0, 5 * 11)
    assert any("look like check-ins" in note and "--stay 0" in note for note in made.notes)


def test_what_is_said_is_taken_whatever_the_fixes_are(tmp_path: Path) -> None:
    text = fixes_csv(visits(6, 3), "user_id,time,lat,lon")
    made = extracted(tmp_path, text, TripRules(minutes=1, metres=150, hours=7))
    assert (made.rules["stay"], made.rules["place"], made.rules["longest"]) == (1, 150, 7)
    with pytest.raises(EmptyInputError):
        extracted(tmp_path, text, TripRules(hours=5))


def test_sparse_fixes_at_ever_new_places_are_no_check_ins(tmp_path: Path) -> None:
    wandering = [
        (f"p{who}", NOON + 3600 * at, 40 + 0.01 * at + who / 9, -74.0) for who in range(5) for at in range(9)
    ]
    text = fixes_csv([*wandering, *visits(6, 1)[:2]], "user_id,time,lat,lon")
    made = extracted(tmp_path, text, TripRules(minutes=0))
    assert made.rules["fixes"] == "GPS fixes"


def test_few_places_far_apart_that_come_again_are_base_stations(tmp_path: Path) -> None:
    grid = [
        (f"p{who}", NOON + 600 * at, 40.0 + 0.02 * (at % 12), 3.0 + 0.03 * ((at // 12 + who) % 12))
        for who in range(10)
        for at in range(300)
    ]
    made = extracted(tmp_path, fixes_csv(grid, "user_id,time,lat,lon"), TripRules(minutes=0))
    assert (made.rules["fixes"], made.rules["place"]) == ("calls", 2000)


@pytest.mark.parametrize(("seconds", "minutes"), [(60, 5), (300, 10)])
def test_vehicles_stop_for_shorter_than_people_stay(tmp_path: Path, seconds: int, minutes: float) -> None:
    stops = [
        (f"v{who}", NOON + seconds * at, 40.0 + 0.1 * (at // 8), 3.0) for who in range(3) for at in range(16)
    ]
    made = extracted(tmp_path, fixes_csv(stops), id_is="vehicle")
    assert (made.rules["fixes"], made.rules["stay"], made.trips) == ("GPS fixes of vehicles", minutes, 3)


CABS = [
    (lat, lon, seat, at)
    for begin, seat in ((0, 0), (4000, 1), (8000, 0), (9000, 1), (90_000, 1), (95_000, 0))
    for _, at, lat, lon in drives("cab", 400, begin=NOON + begin, fixes=3)
]


def cabs(rows: list[tuple[float, float, int, int]]) -> str:
    return "\n".join(f"{lat} {lon} {seat} {at}" for lat, lon, seat, at in rows)


def test_rides_are_those_that_the_other_wing_reads(tmp_path: Path) -> None:
    made = extracted(tmp_path, cabs(CABS), preset="cabspotting")
    assert (made.trips, made.stays, made.rules) == (2, None, {"by": "rides"})
    table = pq.read_table(tmp_path / "trips.parquet")
    raw = TripSource(paths=(str(tmp_path / "new_abc.txt"),), preset="cabspotting")
    zones = Zoning(spec="h3:9")
    read, again = (
        read_matrix(source, zones).trips.matrix.digest()
        for source in (raw, TripSource(paths=(str(tmp_path / "trips.parquet"),), id_is="vehicle"))
    )
    assert read == again
    assert table["start_time"].to_pylist()[0].timestamp() == NOON + 4000
    assert any("passenger is on board" in note for note in made.notes)


def test_stays_can_be_asked_for_where_there_are_rides(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="one vehicle alone"):
        extracted(tmp_path, cabs(CABS), TripRules(by="stays"), preset="cabspotting")


def test_rides_need_a_mark_of_passengers(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no column says whether a passenger"):
        extracted(tmp_path, fixes_csv(fleet([60] * 3)), TripRules(by="rides"))
    with pytest.raises(InputError, match="stays, rides or silence"):
        TripRules(by="speed")


def test_silence_parts_trips_as_the_other_wing_does(tmp_path: Path) -> None:
    made = extracted(tmp_path, fixes_csv(fleet([300] * 10)), TripRules(by="silence"))
    assert (made.trips, made.stays, made.rules) == (20, None, {"by": "silence", "silence": 900})
    assert pq.read_table(tmp_path / "trips.parquet").num_rows == 20
    with pytest.raises(InputError, match="better than silence"):
        extracted(tmp_path, cabs(CABS), TripRules(by="silence"), preset="cabspotting")


def test_rides_outside_the_window_of_time_are_left_out(tmp_path: Path) -> None:
    made = extracted(
        tmp_path, cabs(CABS), preset="cabspotting", since="2024-05-01T14:00:00", until="2024-05-03"
    )
    assert made.trips == 1


@pytest.mark.parametrize(("lone", "told"), [(2, False), (4, True)])
def test_it_is_said_when_most_samples_are_part_of_no_trip(tmp_path: Path, lone: int, told: bool) -> None:
    moving = [("a", NOON + 60 * at, 40.0 + (0.1 if at > 30 else 0.0), 3.0) for at in range(60)]
    still = [(f"s{n}", NOON + 60 * at, 41.0, 3.0) for n in range(lone) for at in range(25)]
    made = extracted(tmp_path, fixes_csv([*moving, *still], "user_id,time,lat,lon"), TripRules(minutes=10))
    assert any("are part of no trip" in note for note in made.notes) is told
