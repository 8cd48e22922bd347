"""Fixes of all samplings, with flags and stops, and of whole continents."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime

from worlds.fleets import NOON, Fix, drives, fixes_csv, fleet
from worlds.made_files.made import Made


def paced(
    name: str,
    paces: list[int],
    told: str,
    *,
    fixes: int,
    trips: int,
    options: dict[str, object] | None = None,
) -> Made:
    """Return a fleet that drives twice, stands two hours in between, and is read at its own pace."""
    return Made(
        name=name,
        files={"fixes.csv": fixes_csv(fleet(paces))},
        options={"hierarchy": "h3:7", **(options or {})},
        rows={"fixes.csv": fixes},
        used=fixes,
        made=trips,
        told=(told,) if told else (),
    )


SLOW = paced(
    "GPS every five minutes",
    [300] * 10,
    "5 minutes apart or less, so a silence of more than 15 minutes",
    fixes=80,
    trips=20,
)
DENSE = paced("GPS every ten seconds", [10] * 10, "a silence of more than 3 minutes", fixes=80, trips=20)
MIXED = paced(
    "GPS at two paces",
    [60] * 4 + [300] * 7,
    "5 minutes apart or less, so a silence of more than 15 minutes",
    fixes=88,
    trips=22,
)
FEW = paced("GPS of nine", [100] * 9, "too few ids have several fixes to tell how often", fixes=72, trips=18)
SAID = paced(
    "GPS every five minutes, with a silence that is said",
    [300] * 10,
    "",
    fixes=80,
    trips=20,
    options={"silence": 301},
)


def tdrive(fixes: Iterable[Fix]) -> str:
    """Return lines in the public form of T-Drive: id, local time, longitude, latitude."""
    return "".join(
        f"{who[1:]},{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M:%S},{lon},{lat:.5f}\n"
        for who, at, lat, lon in fixes
    )


TDRIVE = Made(
    name="T-Drive at five minutes",
    files={f"{n}.txt": tdrive(fix for fix in fleet([300] * 12) if fix[0] == f"v{n}") for n in range(12)},
    options={"preset": "tdrive", "hierarchy": "h3:7"},
    rows={f"{n}.txt": 8 for n in range(12)},
    used=96,
    made=24,
    told=("a silence of more than 15 minutes",),
)
NOTHING_LEFT = Made(
    name="GPS parted by too short a silence",
    files={"fixes.csv": fixes_csv([*fleet([300] * 12), *drives("quick", 20)])},
    options={"hierarchy": "h3:7", "silence": 60},
    rows={"fixes.csv": 100},
    used=100,
    made=1,
    told=("most of the fixes (96%) are part of no trip", "a longer one would help"),
)
CALLED = Made(
    name="check-ins given as trips",
    files={
        "checkins.csv": fixes_csv([*fleet([40_000] * 10), *drives("quick", 20)], "user_id,timestamp,lat,lon")
    },
    options={"hierarchy": "h3:7"},
    rows={"checkins.csv": 84},
    used=84,
    made=1,
    told=("part of no trip", "tripcloak trajectories trips"),
)


def cab(*drives_and_seats: tuple[int, int]) -> str:
    """Return lines in the public form of Cabspotting, newest first: latitude, longitude, occupancy, time."""
    lines = [
        f"{lat - 2.2:.5f} {lon - 238.8:.5f} {seat} {at}"
        for begin, seat in drives_and_seats
        for _, at, lat, lon in drives("cab", 60, begin=NOON + begin)
    ]
    return "\n".join(reversed(lines)) + "\n"


CABS = Made(
    name="Cabspotting with passengers",
    files={
        "new_abc.txt": cab((0, 0), (600, 1), (4000, 1), (8000, 0)),
        "new_xyz.txt": cab((0, 1), (600, 0), (1200, 1)),
    },
    options={"preset": "cabspotting", "hierarchy": "h3:7"},
    rows={"new_abc.txt": 16, "new_xyz.txt": 12},
    used=16,
    dropped={"new_abc.txt": {"vacant": 8}, "new_xyz.txt": {"vacant": 4}},
    made=3,
)
EMPTY_CABS = Made(
    name="Cabspotting without passengers",
    files={"new_abc.txt": cab((0, 0), (600, 0))},
    options={"preset": "cabspotting", "hierarchy": "h3:7"},
    refused=("passenger",),
)


def town(north: float, east: float, people: range) -> list[Fix]:
    """Return people who are seen three times in a town."""
    return [
        (f"p{who}", NOON + round(north * 1000) + 600 * at, north + 0.001 * (who % 4), east)
        for who in people
        for at in range(3)
    ]


HEADER = "user_id,timestamp,lat,lon"
CONTINENTS = Made(
    name="fixes of two continents",
    kind="fixes",
    files={"fixes.csv": fixes_csv([*town(40.7, -74.1, range(14)), *town(48.8, 2.3, range(20, 33))], HEADER)},
    refused=("too far apart", "40,-75,41,-74", "48,2,49,3", "--regions auto"),
)
SCATTERED = Made(
    name="fixes of a few all over the world",
    kind="fixes",
    files={"fixes.csv": fixes_csv([*town(40.7, -74.1, range(5)), *town(48.8, 2.3, range(20, 25))], HEADER)},
    refused=("too far apart", "south,west,north,east"),
)
COUNTRY = Made(
    name="fixes of two cities of a country",
    kind="fixes",
    files={"fixes.csv": fixes_csv([*town(48.8, 2.3, range(12)), *town(43.3, 5.4, range(20, 32))], HEADER)},
    rows={"fixes.csv": 72},
    used=72,
    told=("km apart. Most people are in", "48,2,49,3", "43,5,44,6"),
)
STRAY = Made(
    name="a city and one stray fix",
    kind="fixes",
    files={"fixes.csv": fixes_csv([*town(48.8, 2.3, range(24)), ("p1", NOON - 10**6, 40.7, -74.1)], HEADER)},
    rows={"fixes.csv": 73},
    used=72,
    dropped={"fixes.csv": {"outside_area": 1}},
    told=("the study area is where most people are", "the fixes look like GPS fixes"),
)
VEHICLES = Made(
    name="fixes of vehicles",
    kind="fixes",
    files={"fixes.csv": fixes_csv(fleet([60] * 3))},
    rows={"fixes.csv": 24},
    used=24,
    told=("vehicle",),
)

CASES: tuple[Made, ...] = (
    *(SLOW, DENSE, MIXED, FEW, SAID, TDRIVE, NOTHING_LEFT, CALLED, CABS, EMPTY_CABS),
    *(CONTINENTS, SCATTERED, COUNTRY, STRAY, VEHICLES),
)
