"""Files with damage: bad rows, swapped coordinates, mixed columns, duplicates."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from worlds.made_files.made import Made

NAMES = "user_id,start_time,end_time,start_lat,start_lon,end_lat,end_lon"


def trip(number: int, *, day: int = 1, lat: float = 48.85, lon: float = 2.35) -> str:
    """Return a line of a trip in a city; different numbers give different trips."""
    place = number / 1000
    return (
        f"u{number % 7},2024-05-{day:02} 08:{number % 60:02}:00,2024-05-{day:02} 09:{number % 60:02}:00,"
        f"{lat + place:.4f},{lon + place:.4f},{lat - place:.4f},{lon + place:.4f}"
    )


def table(lines: Iterable[str], names: str = NAMES) -> str:
    """Return a text file of lines below its column names."""
    return "\n".join((names, *lines, ""))


def trips(n: int, *, day: int = 1, bad: Sequence[str] = ()) -> str:
    """Return a text file of good trips, and of bad lines below them."""
    return table([*(trip(number, day=day) for number in range(n)), *bad])


BROKEN = "u1,2024-05-01 08:00:00"
"""A line that ends too early."""
NO_TIME = "u1,soon,2024-05-01 09:00:00,48.85,2.35,48.86,2.36"
ISLAND = "u1,2024-05-01 08:00:00,2024-05-01 09:00:00,0,0,48.86,2.36"
EMPTY = "u1,2024-05-01 08:00:00,2024-05-01 09:00:00,,,48.86,2.36"
BACKWARDS = "u1,2024-05-01 09:00:00,2024-05-01 08:00:00,48.85,2.35,48.86,2.36"

CASES: tuple[Made, ...] = (
    Made(
        name="bad rows of several files are counted file by file",
        files={
            "may.csv": trips(30, bad=[ISLAND, EMPTY]),
            "june.csv": trips(40, day=2, bad=[BACKWARDS]),
            "july.csv": trips(20, day=3),
        },
        rows={"may.csv": 32, "june.csv": 41, "july.csv": 20},
        used=90,
        dropped={
            "may.csv": {"missing_coordinate": 1, "null_island": 1},
            "june.csv": {"end_before_start": 1},
        },
    ),
    Made(
        name="broken lines are counted in the file that has them",
        files={
            "may.csv": trips(60, bad=[BROKEN, BROKEN, NO_TIME]),
            "june.csv": trips(60, day=2, bad=[BROKEN]),
        },
        rows={"may.csv": 63, "june.csv": 61},
        used=120,
        dropped={"may.csv": {"unparsable": 3}, "june.csv": {"unparsable": 1}},
    ),
    Made(
        name="files with other columns are counted file by file too",
        files={
            "a/trips.csv": trips(30, bad=[ISLAND]),
            "b/trips.csv": table(
                (f"{trip(number, day=2)},{number}" for number in range(20)), NAMES + ",notes"
            ),
        },
        rows={"a/trips.csv": 31, "b/trips.csv": 20},
        used=50,
        dropped={"a/trips.csv": {"null_island": 1}},
    ),
    Made(
        name="a duplicate counts in the later file",
        files={"may.csv": trips(30), "june.csv": table([trip(5), trip(6), *map(trip, range(100, 110))])},
        rows={"may.csv": 30, "june.csv": 12},
        used=40,
        dropped={"june.csv": {"duplicate": 2}},
    ),
    Made(
        name="a column called file_index hides no file",
        files={
            name: table((f"{trip(number, day=day)},{day}" for number in range(9)), NAMES + ",file_index")
            for day, name in enumerate(("may.csv", "june.csv"), start=1)
        },
        rows={"may.csv": 9, "june.csv": 9},
        used=18,
    ),
    Made(
        name="fixes of several files that become trips are counted file by file",
        files={
            name: table(
                [
                    *(
                        f"u{person},2024-05-01 08:0{minute}:00,48.8{minute},2.3{person}"
                        for person in range(9)
                        for minute in minutes
                    ),
                    "u1,2024-05-01 08:00:00,0,0",
                ],
                "user_id,timestamp,lat,lon",
            )
            for name, minutes in (("early.csv", (0, 1)), ("late.csv", (2, 3, 4)))
        },
        rows={"early.csv": 19, "late.csv": 28},
        used=45,
        made=9,
        dropped={"early.csv": {"null_island": 1}, "late.csv": {"null_island": 1}},
    ),
    Made(
        name="fixes of several files are counted file by file",
        kind="fixes",
        files={
            name: table(
                [
                    *(
                        f"u{person},2024-05-01 08:{minute:02}:00,48.8{minute},2.3{person}"
                        for person in range(9)
                        for minute in minutes
                    ),
                    "u1,2024-05-01 08:00:00,0,0",
                    "u1,2024-05-01 08:30:00,-33.9,18.4",
                ],
                "user_id,timestamp,lat,lon",
            )
            for name, minutes in (("early.csv", (0, 1, 2)), ("late.csv", (2, 3, 4)))
        },
        rows={"early.csv": 29, "late.csv": 29},
        used=45,
        dropped={
            "early.csv": {"null_island": 1, "jump": 1},
            "late.csv": {"null_island": 1, "duplicate": 10},
        },
    ),
    Made(
        name="dates lost in a file that was saved again",
        files={
            "may.csv": trips(60),
            "june.csv": trips(20, day=2).replace("2024-05-02 08:", "").replace("2024-05-02 09:", ""),
        },
        rows={"may.csv": 60, "june.csv": 20},
        used=60,
        dropped={"june.csv": {"unparsable": 20}},
        told=(
            "june.csv: 100 % of 20 rows",
            "column 'start_time' must hold the start of the trip",
            "tolerate='100%'",
        ),
    ),
    Made(
        name="a file without ids among others",
        files={
            "may.csv": trips(30),
            "june.csv": table((trip(number, day=2)[2:] for number in range(50)), NAMES[len("user_id") :]),
        },
        rows={"may.csv": 30, "june.csv": 50},
        used=80,
        told=(
            "most rows lack the id that k counts: 50 of 80 rows have no id in 'user_id', most of june.csv",
        ),
    ),
    Made(
        name="a file that is mostly empty",
        files={"may.csv": trips(60), "june.csv": trips(9, day=2, bad=[EMPTY] * 10)},
        rows={"may.csv": 60, "june.csv": 19},
        used=69,
        dropped={"june.csv": {"missing_coordinate": 10}},
        told=("june.csv: 52.6 % of 19 rows (coordinate missing or not a finite number)",),
    ),
    Made(
        name="latitude and longitude exchanged where both are below ninety degrees",
        files={"chicago.csv": table(trip(number, lat=-87.63, lon=41.88) for number in range(40))},
        rows={"chicago.csv": 40},
        used=40,
        told=("look swapped", "the other way round it is", "from Chicago", "origin_lat='start_lon'"),
    ),
    Made(
        name="latitude and longitude exchanged where the other way round somebody lives too",
        files={"madrid.csv": table(trip(number, lat=-3.7, lon=40.42) for number in range(40))},
        rows={"madrid.csv": 40},
        used=40,
        told=('"swapped": "likely"', "from Madrid"),
    ),
    Made(
        name="latitude and longitude exchanged off the map",
        files={"bay.csv": table(trip(number, lat=-122.4, lon=37.8) for number in range(40))},
        refused=("latitude and longitude look swapped in most rows", "origin_lat='start_lon'"),
    ),
    Made(
        name="one stray place",
        files={"paris.csv": table([*map(trip, range(60)), trip(61, lat=-33.9, lon=18.4)])},
        rows={"paris.csv": 61},
        used=61,
        told=("fewer than 10 places lie far from all others", '"nearest_city": "Paris"', '"stray_points": 2'),
    ),
    Made(
        name="one row with latitude and longitude exchanged",
        files={"paris.csv": table([*map(trip, range(60)), trip(61, lat=2.35, lon=48.85)])},
        rows={"paris.csv": 61},
        used=61,
        told=("with latitude and longitude exchanged",),
    ),
    Made(
        name="equal trips with ids of their own, and one that is there twice",
        files={
            "trips.csv": table(
                [*(f"{trip(1)},t{number}" for number in range(9)), f"{trip(1)},t8"], NAMES + ",Trip ID"
            )
        },
        rows={"trips.csv": 10},
        used=9,
        dropped={"trips.csv": {"duplicate": 1}},
    ),
    Made(
        name="fares taken back",
        files={
            "taxis.csv": table(
                (f"{trip(number)},{sign}{number + 3}.5" for number in range(9) for sign in ("", "-")),
                NAMES + ",fare_amount",
            )
        },
        rows={"taxis.csv": 18},
        used=9,
        dropped={"taxis.csv": {"refund": 9}},
    ),
    Made(
        name="fixes in place of trips",
        files={
            "calls.csv": table(
                (
                    f"u{person},2024-05-01 {hour:02}:00:00,48.8{hour},2.3{person}"
                    for person in range(9)
                    for hour in range(9)
                ),
                "user_id,timestamp,lat,lon",
            )
        },
        options={"silence": 7200},
        rows={"calls.csv": 81},
        used=81,
        made=9,
        told=(
            "these are fixes, not trips",
            "`tripcloak.trajectories.anonymise`",
            "`tripcloak trajectories trips`",
        ),
    ),
    Made(
        name="fixes of which some have no time, no id or no place",
        kind="fixes",
        files={
            "fixes.csv": table(
                [
                    *(
                        f"u{person},2024-05-01 08:{minute:02}:00,48.8{minute},2.3{person}"
                        for person in range(9)
                        for minute in range(9)
                    ),
                    "u1,,48.8,2.3",
                    ",2024-05-01 08:00:00,48.8,2.3",
                    "u1,2024-05-01 08:00:00,,",
                    "u1,soon,48.8,2.3",
                    "u1,2024-05-01 08:00:00,148.8,220.3",
                ],
                "user_id,timestamp,lat,lon",
            )
        },
        rows={"fixes.csv": 86},
        used=81,
        dropped={
            "fixes.csv": {
                "unparsable": 1,
                "missing_person": 1,
                "missing_time": 1,
                "missing_coordinate": 1,
                "out_of_range": 1,
            }
        },
    ),
)
