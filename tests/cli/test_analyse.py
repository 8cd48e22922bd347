"""`tripcloak analyse`: the same questions asked of a release and of the original trips."""

from __future__ import annotations

import csv
import json
import re
import shutil
import stat
from pathlib import Path

import pytest

from tripcloak.cli.run import run
from worlds.folders import contents
from worlds.planted_city import AREA, SIDE, city_corners, kind_of, squares, write_planted

TABLES = {"profiles.csv", "kinds.csv", "topics.csv", "topic_pairs.csv"}
QUADTREE = ("--hierarchy", "quadtree:3", "--area", AREA)


@pytest.fixture(scope="module")
def trips(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("planted")
    return write_planted(folder / "trips.csv", 2500)


@pytest.fixture(scope="module")
def city(trips: Path) -> Path:
    return squares(trips.parent / "city.geojson", city_corners())


@pytest.fixture(scope="module")
def true_release(trips: Path) -> Path:
    """A release by the hour that is as true as the original."""
    return released(trips, "true", "--method", "suppression", "--k", "2", "--slot", "1h", "--fold", "day")


@pytest.fixture(scope="module")
def coarse_release(trips: Path) -> Path:
    """A release in which all zones are one, hour by hour."""
    return released(
        trips,
        "coarse",
        "--method",
        "oigh",
        "--k",
        "150",
        "--slot",
        "1h",
        "--fold",
        "day",
        "--suppress",
        "0.2",
    )


def released(trips: Path, name: str, *options: str) -> Path:
    out = trips.parent / name
    assert run(["anonymise", str(trips), *options, *QUADTREE, "--out", str(out), "--json"]) == 0
    return out


@pytest.fixture(scope="module")
def analysed(trips: Path, city: Path, true_release: Path) -> Path:
    out = trips.parent / "analysed"
    asked = ["analyse", str(true_release), "--against", str(trips), "--zones", str(city)]
    assert run([*asked, "--clusters", "3", "--topics", "3", "--out", str(out), "--json"]) == 0
    return out


def facts(folder: Path):
    return json.loads((folder / "analysis.json").read_text())


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_a_true_release_gives_the_same_answers(analysed: Path):
    agreement = facts(analysed)["agreement"]
    for direction in ("start", "end"):
        assert agreement["profiles"][direction]["mean"] == pytest.approx(1)
    assert agreement["land_use"] == {"adjusted_rand": 1, "same_kind": 1, "zones": SIDE * SIDE}
    assert agreement["typical_flows"]["pairs"] == pytest.approx(1)
    assert agreement["typical_flows"]["slots"] == pytest.approx(1)
    assert facts(analysed)["outside"] == {"origins": 0, "destinations": 0}
    by_chance = facts(analysed)["by_chance"]
    assert 0.8 < by_chance["profiles"]["start"]["mean"] < 1


def test_the_kinds_of_zones_that_were_planted_are_found(analysed: Path):
    for name in ("kinds.csv", "internal_kinds.csv"):
        found = {row["zone"]: row["kind"] for row in rows(analysed / name)}
        kinds = {found[f"z{zone}"]: kind_of(zone) for zone in range(SIDE * SIDE)}
        assert sorted(kinds) == ["A", "B", "C"]
        assert all(kinds[found[f"z{zone}"]] == kind_of(zone) for zone in range(SIDE * SIDE))


def test_profiles_add_up_to_the_trips(analysed: Path, trips: Path):
    told = rows(analysed / "internal_profiles.csv")
    assert len(told) == SIDE * SIDE * 24
    assert sum(float(row["start"]) for row in told) == len(rows(trips))
    at_eight = sum(float(row["start"]) for row in told if row["slot"] == "T08")
    assert at_eight == sum(" 08:" in row["start_time"] for row in rows(trips))
    assert rows(analysed / "profiles.csv") == told


def test_topics_and_their_pairs_are_in_the_tables(analysed: Path):
    weights = rows(analysed / "topics.csv")
    assert {row["topic"] for row in weights} == {"1", "2", "3"}
    for slot in ("T08", "T18"):
        assert sum(float(row["weight"]) for row in weights if row["slot"] == slot) == pytest.approx(
            1, abs=1e-4
        )
    assert {row["topic"] for row in rows(analysed / "topic_pairs.csv")} == {"1", "2", "3"}


def test_what_shows_original_data_is_marked_and_its_owners_alone(analysed: Path):
    internal = {f"internal_{name}" for name in TABLES} | {"analysis.html", "analysis.json"}
    assert {path.name for path in analysed.iterdir()} == internal | TABLES
    for name in internal:
        assert stat.S_IMODE((analysed / name).stat().st_mode) == 0o600
    assert facts(analysed)["internal"] is True
    page = (analysed / "analysis.html").read_text()
    assert "Internal: shows original data. Not for publication." in page
    assert "by chance alone" in page
    assert page.count('class="zone kind') == 2 * 4
    assert re.search(r"https?://|<script src|<img[^>]* src=|@import", page) is None


def test_without_the_original_there_are_answers_but_no_scores(
    tripcloak, analysed, true_release, city, tmp_path
):
    public = tmp_path / "downloaded"
    shutil.copytree(true_release / "release", public)
    out = tmp_path / "out"
    told = tripcloak(
        "analyse", public, "--zones", city, "--clusters", 3, "--topics", 3, "--out", out, "--json"
    )
    assert (told.code, told.err) == (0, "")
    assert (told.json["agreement"], told.json["by_chance"], told.json["original"]) == (None, None, None)
    assert {path.name for path in out.iterdir()} == TABLES | {"analysis.html", "analysis.json"}
    assert "Internal" not in (out / "analysis.html").read_text()
    # The reader's profiles are those that the owner saw of the release.
    assert rows(out / "profiles.csv") == rows(analysed / "profiles.csv")


def test_the_same_question_gets_the_same_files(tripcloak, true_release, trips, city, analysed, tmp_path):
    again = tmp_path / "again"
    asked = ("analyse", true_release, "--against", trips, "--zones", city, "--clusters", 3, "--topics", 3)
    assert tripcloak(*asked, "--out", again).code == 0
    assert contents(again) == contents(analysed)


def test_a_release_that_is_too_coarse_is_told_in_words(tripcloak, coarse_release, trips, city, tmp_path):
    out = tmp_path / "out"
    told = tripcloak("analyse", coarse_release, "--against", trips, "--zones", city, "--out", out)
    assert told.code == 0
    assert "No answer on land use (release)" in told.out
    assert "too coarse" in told.out
    assert "neighbours look alike" in told.out
    found = facts(out)
    assert found["release"]["land_use"] is None
    assert found["original"]["land_use"] is not None
    assert found["agreement"]["land_use"] is None
    assert found["coarse"]
    page = (out / "analysis.html").read_text()
    assert "No answer on land use, release" in page
    assert rows(out / "kinds.csv")[0]["kind"] == ""


def test_cells_are_laid_out_where_no_zones_are_given(tripcloak, true_release, tmp_path):
    told = tripcloak("analyse", true_release, "--out", tmp_path / "out", "--json")
    assert told.code == 0
    assert told.json["zones"]["h3_cells"] is True
    assert told.json["outside"]["origins"] < 1e-3
    finer = tripcloak("analyse", true_release, "--zones", "h3:8", "--out", tmp_path / "finer", "--json")
    assert finer.code == 0
    assert finer.json["zones"]["number"] > told.json["zones"]["number"]
    assert {len(row["zone"]) for row in rows(tmp_path / "finer" / "kinds.csv")} == {15}


def test_a_release_without_time_says_how_to_make_one(tripcloak, trips, city, tmp_path, untouched):
    release = released(trips, "timeless", "--method", "suppression", "--k", "2")
    with untouched():
        told = tripcloak("analyse", release, "--zones", city, "--out", tmp_path / "out")
    assert told.code == 2
    assert "--slot 1h --fold day" in told.words
    assert "--time-slot 1h" in told.words


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--clusters", "1"], "--clusters must be 2 to 8; got 1"),
        (["--topics", "20"], "--topics must be 2 to 8; got 20"),
        (["--seed", "-4"], "--seed must be a number from 0"),
        (["--zones", "h3:16"], "an H3 resolution is a number from 0 to 15"),
        (["--zones", "nothing.geojson"], "nothing.geojson"),
    ],
)
def test_wrong_options_are_named(tripcloak, true_release, tmp_path, untouched, options, words):
    with untouched():
        told = tripcloak("analyse", true_release, *options, "--out", tmp_path / "out")
    assert told.code == 2
    assert words in told.words


def test_zones_elsewhere_are_refused(tripcloak, true_release, tmp_path, untouched):
    far = squares(tmp_path / "far.geojson", [(50.0, 50.0)])
    with untouched():
        told = tripcloak("analyse", true_release, "--zones", far, "--out", tmp_path / "out")
    assert told.code == 2
    assert "nothing in common" in told.words


def test_cells_far_smaller_than_the_released_zones_are_no_answer(
    tripcloak, coarse_release, tmp_path, untouched
):
    with untouched():
        told = tripcloak("analyse", coarse_release, "--zones", "h3:12", "--out", tmp_path / "out")
    assert told.code == 1
    assert "too coarse to tell one H3 cell from another" in told.words


def test_an_analysis_is_not_replaced_unasked(tripcloak, true_release, city, analysed):
    before = contents(analysed)
    told = tripcloak("analyse", true_release, "--zones", city, "--out", analysed)
    assert told.code == 2
    assert "already holds an analysis" in told.words
    assert contents(analysed) == before
