"""What people type: several files after one flag, percent, ~ where no shell has seen it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tripcloak.cli.arguments import several_against
from worlds.trips import some_trips, write_csv


@pytest.fixture
def halves(tmp_path: Path) -> list[Path]:
    """The trips in two files."""
    rows = some_trips()
    parts = ((0, rows[: len(rows) // 2]), (1, rows[len(rows) // 2 :]))
    return [write_csv(tmp_path / f"part{number}.csv", part) for number, part in parts]


def test_several_files_after_against(tripcloak, tmp_path, halves):
    assert tripcloak("anonymise", *halves, "--out", tmp_path / "out", "--method", "odkanon").code == 0
    out = tmp_path / "out"
    told = tripcloak("audit", out, "--against", *halves, "--json")
    assert (told.code, told.json["same_input"]) == (0, True), told.err
    assert tripcloak("audit", "--against", *halves, out, "--json").code == 0
    assert tripcloak("measures", out, "--against", *halves, "--json").code == 0
    half = tripcloak("audit", out, "--against", halves[0], "--json")
    assert (half.code, half.json["same_input"]) == (1, False)


VALUED = {"--against", "--k", "--out"}


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("out --against a b --json", "out --against a --against b --json"),
        ("out --against a --k 5 --against b", "out --against a --k 5 --against b"),
        ("--against a out", "--against a out"),
        ("--against a b --k 5 out", "--against a --against b --k 5 out"),
        ("--against a b out --k 5", "--against a --against b out --k 5"),
        ("--k 5 --against a b", "--k 5 --against a b"),
        ("out --against - b", "out --against - --against b"),
        ("out --against", "out --against"),
        ("out --against=a", "out --against=a"),
        ("--against a b -- out", "--against a --against b -- out"),
    ],
)
def test_which_names_are_files_and_which_the_folder(typed, meant):
    assert several_against(typed.split(), VALUED) == meant.split()


def test_nothing_is_rearranged_where_there_is_no_such_flag():
    assert several_against(["a", "--against", "b", "c"], {"--k"}) == ["a", "--against", "b", "c"]


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        (
            "10",
            "(--suppress) is a share of the volume, from 0 to below 1; got 10: for 10 percent write 0.1",
        ),
        ("1", "for 1 percent write 0.01 or 1%"),
        ("100%", "from 0 to below 1; got 1"),
        ("250", "from 0 to below 1; got 250"),
        ("ten", "--suppress takes a share such as 0.1 or 10%"),
    ],
)
def test_a_share_that_is_none_says_what_to_write(tripcloak, tmp_path, trips, typed, words):
    told = tripcloak("anonymise", trips, "--out", tmp_path / "out", "--suppress", typed)
    assert (told.code, (tmp_path / "out").exists()) == (2, False)
    assert words in told.words


def test_percent_is_a_share(tripcloak, tmp_path, trips):
    order = ("--method", "odkanon", "--json", "--out")
    percent = tripcloak("anonymise", trips, "--suppress", "10%", *order, tmp_path / "a")
    share = tripcloak("anonymise", trips, "--suppress", "0.1", *order, tmp_path / "b")
    manifests = [(tmp_path / name / "release" / "manifest.json").read_bytes() for name in "ab"]
    assert (percent.code, share.code, manifests[0] == manifests[1]) == (0, 0, True)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of one's own, and another folder to be in."""
    (tmp_path / "home").mkdir()
    (tmp_path / "work").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path / "work")
    return tmp_path / "home"


@pytest.mark.parametrize("typed", [["--out", "~/x"], ["--out=~/x"]])
def test_a_home_that_the_shell_left_alone_is_found(tripcloak, home, trips, typed):
    assert tripcloak("anonymise", trips, "--method", "odkanon", *typed).code == 0
    assert (home / "x" / "release").is_dir()
    assert list(Path().iterdir()) == []
    trips.rename(home / "trips.csv")
    assert tripcloak("audit", "~/x", "--against", "~/trips.csv").code == 0


@pytest.mark.parametrize("typed", ["~", "HOME"])
def test_a_home_itself_gets_no_release(tripcloak, home, trips, typed):
    told = tripcloak("anonymise", trips, "--out", str(home) if typed == "HOME" else typed)
    assert (told.code, list(home.iterdir())) == (2, [])
    assert "give it a folder of its own, such as --out ~/release" in told.words


def test_a_folder_called_like_a_home_is_asked_about(tripcloak, home, trips):
    Path("~").mkdir()
    told = tripcloak("anonymise", trips, "--out", "~/x")
    assert (told.code, list(home.iterdir())) == (2, [])
    assert f"write --out {home}/x or --out {Path.cwd()}/~/x" in told.words
    assert tripcloak("anonymise", trips, "--method", "odkanon", "--out", Path.cwd() / "~" / "x").code == 0
    assert Path("~", "x", "release").is_dir()


COLUMNS = [
    # Somebody and a time alone are trips as much as fixes: trips are asked for.
    ("user_id,started_at,y1,x1,y2,x2", "latitude of the origin (--origin-lat NAME)", "GPS fix"),
    ("rider,when,y1,x1,y2,x2", "latitude of the origin (--origin-lat NAME)", "GPS fix"),
    ("user_id,start_lat,start_lng,finish_y,finish_x", "--destination-lat NAME", "GPS fix"),
    ("user_id,origin_zone,goal", "id of the destination zone (--destination NAME)", "GPS fix"),
    ("device_id,lat,lon,moment", "time of a GPS fix (--time NAME)", "of the origin"),
]


@pytest.mark.parametrize(("header", "asked", "not_asked"), COLUMNS)
def test_what_is_missing_is_asked_for_as_what_the_rows_are(tripcloak, tmp_path, header, asked, not_asked):
    file = tmp_path / "trips.csv"
    file.write_text(header + "\n" + ",".join("x" for _ in header.split(",")) + "\n")
    told = tripcloak("describe", file)
    assert told.code == 2
    missing = told.words.split("Columns found")[0]
    assert asked in missing
    assert not_asked not in missing
