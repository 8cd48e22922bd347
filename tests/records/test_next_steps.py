"""Every error that a newcomer can meet says what to do next: an option, a command, or what to change."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tripcloak.ground.engine import connect
from tripcloak.ground.errors import InputError
from tripcloak.ground.spelling import spelt_as_flags
from tripcloak.records.source import TripSource
from tripcloak.records.trips import clean, open_canonical
from tripcloak.trajectories.reading.fixes import open_fixes
from tripcloak.trajectories.reading.source import TrajectorySource

TRIPS = "user_id,o_lat,o_lon,d_lat,d_lon\nu1,48.85,2.35,48.86,2.36\nu2,48.85,2.35,48.86,2.36\n"
FILES: dict[str, bytes] = {
    "trips.csv": TRIPS.encode(),
    "empty.csv": b"",
    "blank.csv": b"\n\nuser_id\n",
    "names.csv": TRIPS.splitlines()[0].encode(),
    "data.csv": b"u1,48.85,2.35,48.86,2.36\n",
    "other.pdf": b"%PDF",
    "old.xls": b"\xd0\xcf",
    "folder/notes.md": b"x",
    "zones.csv": b"zone,lat,lon,geometry\nA,48.8,2.3,POINT(2 48)\n",
    "people.csv": b"user_id,when\nu1,2024-05-01 08:30\n",
}
CASES: list[tuple[str, dict[str, Any], str]] = [
    ("trip.csv", {}, "did you mean {folder}/trips.csv?"),
    ("nowhere/trips.csv", {}, "there is no folder {folder}/nowhere either: check the path"),
    ("quite-another-name.csv", {}, "there is no file {folder}/quite-another-name.csv; check the path"),
    ("*.parquet", {}, "check the pattern, and quote it so that the shell leaves it alone"),
    ("folder", {}, "or the files themselves"),
    ("empty.csv", {}, "Get it again, or leave it out"),
    ("blank.csv", {}, "Remove what stands above them"),
    ("names.csv", {}, "Check that it was saved whole"),
    ("data.csv", {}, "Put a line of names first"),
    ("other.pdf", {}, "save or convert it as CSV"),
    ("old.xls", {}, "save it as .xlsx or .csv"),
    ("people.csv", {}, "latitude of the origin (--origin-lat NAME)"),
    ("zones.csv", {}, "It looks like a table of zones: such go beside a table of trips (--zones FILE)"),
    ("trips.csv", {"columns": {"person": "rider"}}, "Name one of these, or say --person none"),
    ("trips.csv", {"attributes": ("age",)}, "Name one of these with --attribute or --segment"),
    ("trips.csv", {"preset": "nyc"}, "expected one of porto-taxi"),
    ("trips.csv", {"form": "rides"}, "(--form): expected one of trips, points"),
    ("trips.csv", {"box": (50.0, 2.0, 40.0, 3.0)}, "such as --box 48.8,2.2,48.9,2.4"),
    (
        "trips.csv",
        {"silence": -1.0},
        "must be a positive number of seconds, such as --silence 180",
    ),
    ("trips.csv", {"zone_prefix": 0}, "(--zone-prefix) must be 1 or more"),
    ("trips.csv", {"timezone": "Mars"}, "(--timezone); expected a name such as UTC or Europe/Paris"),
    ("trips.csv", {"encoding": "klingon"}, "(--encoding); expected a name such as utf-8"),
    ("trips.csv", {"time_format": ("dd.mm",)}, "--time-format '%d/%m/%Y %H:%M'"),
    ("trips.csv", {"decimal": "dot"}, "--decimal must be point or comma"),
    ("trips.csv", {"where": "nonsense"}, "--where"),
    ("trips.csv", {"columns": {"origin_place": "o"}}, "give --origin-place and --destination-place"),
    ("trips.csv", {"columns": {"person": ""}}, 'write "none"'),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made: Path = tmp_path_factory.mktemp("files")
    for name, content in FILES.items():
        (made / name).parent.mkdir(exist_ok=True)
        (made / name).write_bytes(content)
    return made


@pytest.mark.parametrize(("name", "options", "words"), CASES, ids=lambda one: str(one)[:40])
def test_the_next_step_is_said(folder: Path, name: str, options: dict[str, Any], words: str) -> None:
    with connect() as con, spelt_as_flags(), pytest.raises(InputError) as refused:
        clean(open_canonical(con, TripSource(paths=(str(folder / name),), **options)))
    assert words.format(folder=folder) in str(refused.value)


def test_files_whose_names_are_people_are_not_proposed(folder: Path) -> None:
    (folder / "new_abc.txt").write_text("37.75 -122.39 0 1213084687\n")
    with connect() as con, pytest.raises(InputError) as refused:
        open_canonical(con, TripSource(paths=(str(folder / "new_abd.txt"),), preset="cabspotting"))
    assert "abc" not in str(refused.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("origin,destination,trips\nA,B,3\n", "read by `tripcloak describe` and `tripcloak anonymise`"),
        ("user_id,o_lat,o_lon,d_lat,d_lon\nu,48.8,2.3,48.9,2.4\n", "start of the trip (--start-time NAME)"),
        ("user_id,moment,lat,lon\nu,2024-05-01 08:30,48.8,2.3\n", "time of a GPS fix (--time NAME)"),
        ("time,lat,lon\n2024-05-01 08:30,48.8,2.3\n", "--person NAME"),
    ],
)
def test_the_other_wing_is_named_where_it_is_meant(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "a.csv").write_text(text)
    source = TrajectorySource(paths=(str(tmp_path / "a.csv"),))
    with connect() as con, spelt_as_flags(), pytest.raises(InputError) as refused:
        open_fixes(con, source)
    assert words in str(refused.value)
