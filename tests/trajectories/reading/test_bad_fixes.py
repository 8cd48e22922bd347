"""What cannot be read is refused in words that say what to do, and tell nothing of anybody."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tripcloak.ground.errors import EmptyInputError, InputError, MissingColumnError
from tripcloak.trajectories.reading import TrajectorySource, read_trajectories
from worlds.fix_lines import ReadLines, fix, walk
from worlds.fixes import leaked, some_fixes
from worlds.trips import write_csv

GOOD = [*walk("a"), *walk("b")]


def test_one_person_alone(read: ReadLines) -> None:
    with pytest.raises(InputError, match=r"one person alone.*at least two people"):
        read(walk("a"))


def test_no_row_is_left(read: ReadLines) -> None:
    with pytest.raises(EmptyInputError, match=r"no usable fix is left.*coordinate is \(0, 0\): some fixes"):
        read([fix("a", 0, 0, 0), fix("b", 0, 0, 0)])
    with pytest.raises(EmptyInputError, match="no row was read; expected at least one fix"):
        read(GOOD, where="user_id = 'nobody'")
    with pytest.raises(EmptyInputError, match="holds no rows"):
        read([])


def test_many_fixes_of_few_people_are_not_told(read: ReadLines) -> None:
    for people, told in ((9, "some"), (12, "60")):
        lost = [fix(f"p{person}", second, 0, 0) for person in range(people) for second in range(5)]
        with pytest.raises(EmptyInputError, match=rf"\(0, 0\): {told} fixes"):
            read(lost)


def test_notes_do_not_tell_of_few_people(read: ReadLines) -> None:
    for people, told in ((3, "some"), (12, "240")):
        twice = [
            fix(f"p{person:02d}", 60 * minute, lat)
            for person in range(people)
            for minute in range(20)
            for lat in (48.85, 48.86)
        ]
        notes = " ".join(read(twice[::-1], max_speed=10_000.0).notes)
        assert f"{told} fixes are of the same person and instant" in notes
        assert f"backwards between fixes of the same id {'some' if people == 3 else 19 * people}" in notes


def test_empty_windows(read: ReadLines) -> None:
    with pytest.raises(EmptyInputError, match=r"no fix lies in the window.*since=\.\.\. and until="):
        read(GOOD, since="2025-01-01")
    with pytest.raises(InputError, match="until must be later than since"):
        read(GOOD, since="2024-05-02", until="2024-05-02")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"since": "yesterday"}, "since must be a day or a time"),
        ({"until": "2024-13-01"}, "until must be a day or a time"),
        ({"since": "2024-05-01", "timezone": "Mars/Olympus"}, "unknown time zone"),
        ({"max_speed": 0.0}, "greatest speed"),
        ({"max_speed": float("nan")}, "greatest speed"),
        ({"box": (50.0, 0.0, 40.0, 1.0)}, "expected a box"),
        ({"preset": "nowhere"}, "unknown preset"),
        ({"columns": {"hat": "x"}}, "unknown roles of columns"),
        ({"sample": (0, 1)}, "one traveller or more"),
        ({"paths": ()}, "no input was given"),
    ],
)
def test_wishes_that_cannot_be(options: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        TrajectorySource(**{"paths": ("a.csv",), **options})


def test_a_source_survives_being_written_down() -> None:
    source = TrajectorySource(
        paths=("a.csv", "b.csv"),
        preset="cdr",
        columns={"person": "who"},
        where="x > 1",
        box=(1.0, 2.0, 3.0, 4.0),
        polygon="p.geojson",
        timezone="Europe/Paris",
        stations="s.csv",
        sample=(5, 6),
        since="2024-05-01",
        until="2024-06-01",
        seconds=30,
        metres=50,
        max_speed=300.0,
    )
    assert TrajectorySource.from_dict(source.to_dict()) == source
    assert hash(TrajectorySource.from_dict(source.to_dict())) == hash(source)
    with pytest.raises(InputError, match="unknown entries: colour"):
        TrajectorySource.from_dict({"paths": ["a.csv"], "colour": "red"})


def test_columns_that_are_not_there(read: ReadLines) -> None:
    with pytest.raises(MissingColumnError, match=r"lon='NAME'.*Columns found: user_id, timestamp, lat"):
        read(["a,1,48"], header="user_id,timestamp,lat")
    with pytest.raises(MissingColumnError, match="'rider'"):
        read(GOOD, columns={"person": "rider"})
    with pytest.raises(MissingColumnError, match="trajectories belong to people"):
        read(["1,1714564800,48,2"], header="trip_id,timestamp,lat,lon")
    with pytest.raises(MissingColumnError, match="'user_id' is empty"):
        read([fix(""), fix("")])


def test_a_file_that_is_swapped_or_text_as_a_whole(read: ReadLines) -> None:
    with pytest.raises(InputError, match="look swapped"):
        read([f"{user},1714564800,139.7,35.6" for user in "abc"])
    with pytest.raises(InputError, match="'lat' cannot be read as the latitude"):
        read([f"{user},1714564800,north,35.6" for user in "abc"])


def test_there_is_no_such_file() -> None:
    with pytest.raises(InputError, match="there is no file"):
        read_trajectories(TrajectorySource(paths=("nowhere/fixes.csv",)))


def test_no_message_tells_of_anybody(tmp_path: Path) -> None:
    rows = some_fixes(3, samples=4)
    far = [{**row, "lat": "-33.123456789", "lon": "151.987654321", "user_id": "b7e2c9d1f0a3"} for row in rows]
    for number, (part, options) in enumerate(
        [
            (rows[:4], {}),
            ([*rows, *far], {}),
            (rows, {"since": "2025-01-01"}),
            (rows, {"where": "lat < 3"}),
            (rows, {"box": (1, 1, 2, 2)}),
            ([{**row, "lat": row["user_id"]} for row in rows], {}),
        ]
    ):
        path = write_csv(tmp_path / f"{number}.csv", part)
        with pytest.raises(InputError) as error:
            read_trajectories(TrajectorySource(paths=(str(path),), **options))
        assert not leaked(f"{error.value} {error.value.__cause__}", [*rows, *far])


def test_no_note_tells_of_anybody_or_of_few(read: ReadLines) -> None:
    lines = [line for user in range(30) for line in walk(f"id{user}", 20)]
    odd = [
        fix("id3", 400_000, -33.123456, 151.987654),
        fix("secret"),
        fix("id3", 0, 48.8765432),
        lines[5],
        lines[4],
    ]
    notes = " ".join(read([*lines, *odd]).notes)
    assert "study area" in notes
    assert "backwards" in notes
    assert not any(secret in notes for secret in ("id3", "secret", "33.12", "151.98", "48.87"))
    assert " 1 " not in notes
