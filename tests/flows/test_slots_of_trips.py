"""From start times to slots: by the clock of the data's zone, and no trip without a time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tripcloak.flows.model import ODMatrix
from tripcloak.flows.reading.matrix import MatrixReading, Zoning, read_matrix
from tripcloak.ground.errors import HierarchyError, InputError
from tripcloak.hierarchy.time import Days
from tripcloak.records.source import TripSource
from worlds.trips import Row, some_trips, without, write_csv

EVER = Days.read("1960-01-01/2030-12-31")


def reading(path: Path, minutes: int, **source: Any) -> MatrixReading:
    zoning = Zoning(spec="h3:5", time_slot=minutes, period=EVER)
    return read_matrix(TripSource(paths=(str(path),), **source), zoning)


def slots(matrix: ODMatrix) -> dict[str, int]:
    """Return the trips of every slot by its id."""
    assert matrix.times is not None
    assert matrix.flows.slot is not None
    found: dict[str, int] = {}
    for slot, trips in zip(matrix.flows.slot, matrix.flows.trips, strict=True):
        name = str(matrix.times.zones.ids[slot])
        found[name] = found.get(name, 0) + int(trips)
    return found


def started(*times: str) -> list[Row]:
    return [{**row, "start_time": time} for row, time in zip(some_trips(len(times)), times, strict=True)]


@pytest.mark.parametrize(
    ("minutes", "expected"),
    [
        (15, {"2024-05-10T08:15": 2, "2024-05-10T08:30": 1, "1969-12-31T23:45": 1}),
        (60, {"2024-05-10T08": 3, "1969-12-31T23": 1}),
        (120, {"2024-05-10T08:00": 3, "1969-12-31T22:00": 1}),
        (1440, {"2024-05-10": 3, "1969-12-31": 1}),
    ],
)
def test_trips_fall_into_the_slot_they_start_in(
    tmp_path: Path, minutes: int, expected: dict[str, int]
) -> None:
    times = (
        "2024-05-10 08:15:00",
        "2024-05-10 08:29:59.999999",
        "2024-05-10 08:30:00",
        "1969-12-31 23:59:59",
    )
    path = write_csv(tmp_path / "trips.csv", started(*times))
    assert slots(reading(path, minutes).trips.matrix) == expected


def test_slots_follow_the_clock_of_the_data_zone_and_the_repeated_hour_shares_its_slots(
    tmp_path: Path,
) -> None:
    # In Paris clocks went from 03:00 back to 02:00 on 27 October 2024, at 01:00 UTC.
    times = ("2024-10-27T00:30:00Z", "2024-10-27T01:30:00Z", "2024-10-27T02:30:00Z", "2024-07-01T22:30:00Z")
    path = write_csv(tmp_path / "trips.csv", started(*times))
    paris = slots(reading(path, 60, timezone="Europe/Paris").trips.matrix)
    assert paris == {"2024-10-27T02": 2, "2024-10-27T03": 1, "2024-07-02T00": 1}
    assert set(slots(reading(path, 60).trips.matrix)) == {
        "2024-10-27T00",
        "2024-10-27T01",
        "2024-10-27T02",
        "2024-07-01T22",
    }


def test_times_written_without_an_offset_keep_their_clock(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "trips.csv", started("2024-07-01 22:30:00"))
    for timezone in ("UTC", "Europe/Paris", "America/New_York"):
        assert slots(reading(path, 60, timezone=timezone).trips.matrix) == {"2024-07-01T22": 1}


def test_trips_without_a_start_are_dropped_and_counted(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "trips.csv", started("2024-07-01 22:30:00", "", "", "2024-07-02 22:30:00"))
    found = reading(path, 60)
    assert found.trips.cleaning.dropped == {"missing_start": 2}
    assert found.trips.cleaning.kept == found.trips.matrix.total() == 2
    without_time = read_matrix(TripSource(paths=(str(path),)), Zoning(spec="h3:5"))
    assert without_time.trips.cleaning.dropped == {}
    assert without_time.trips.matrix.times is None


def test_raw_ends_carry_the_slot_of_their_trip(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "trips.csv", some_trips(200))
    matrix = reading(path, 60).trips.matrix
    assert matrix.points is not None
    for points in matrix.points():
        assert points.slot is not None
        flow = matrix.find(points.origin, points.destination, points.slot)
        assert (flow >= 0).all()
        assert sorted(flow.tolist()) == sorted(
            row for row, trips in enumerate(matrix.flows.trips) for _ in range(trips)
        )


def test_an_input_without_times_is_refused(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "trips.csv", without(some_trips(20), "start_time"))
    with pytest.raises(InputError, match=r"time_slot=.*start_time="):
        reading(path, 60)


@pytest.mark.parametrize("minutes", [0, -15, 7, 45, 90, 300, 2880])
def test_slots_that_do_not_fill_hours_or_days_are_refused(minutes: int) -> None:
    with pytest.raises(HierarchyError, match="divisor of 60 minutes"):
        Zoning(time_slot=minutes)


def test_how_times_become_slots_is_written_down_only_where_there_are_slots() -> None:
    zoning = Zoning(spec="h3:9", time_slot=30)
    assert Zoning.from_dict(zoning.to_dict()) == zoning
    assert set(Zoning().to_dict()) == {"spec", "zones", "area"}
