"""`tripcloak reconstruct`: from a release to flows between drawn zones, and what it refuses."""

from __future__ import annotations

import csv
import json
import re
import shutil
import stat
from pathlib import Path

import pytest

from tripcloak.cli.run import run
from worlds.planted_city import AREA, DEGREES, city_corners, squares, write_planted


def released(trips: Path, name: str, *options: str) -> Path:
    out = trips.parent / name
    assert run(["anonymise", str(trips), *options, "--out", str(out), "--json"]) == 0
    return out


@pytest.fixture(scope="module")
def trips(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("planted")
    return write_planted(folder / "trips.csv", 700)


@pytest.fixture(scope="module")
def true_release(trips: Path) -> Path:
    """A release by the day that is as true as the original."""
    quadtree = ("--hierarchy", "quadtree:3", "--area", AREA, "--slot", "6h", "--fold", "day")
    return released(trips, "true", "--method", "suppression", "--k", "2", *quadtree)


@pytest.fixture(scope="module")
def cells(trips: Path) -> Path:
    """A release in H3 cells, coarser than the original."""
    return released(trips, "cells", "--method", "odkanon", "--k", "5", "--hierarchy", "h3:8")


@pytest.fixture(scope="module")
def boxes(trips: Path) -> Path:
    """A release in boxes."""
    return released(trips, "boxes", "--method", "mondrian", "--k", "5", "--hierarchy", "h3:9")


@pytest.fixture(scope="module")
def city(trips: Path) -> Path:
    """The zones that the trips were made between."""
    return squares(trips.parent / "city.geojson", city_corners())


@pytest.fixture(scope="module")
def everything(trips: Path) -> Path:
    """Four zones that cover all that could be released."""
    corners = [(west, south) for west in (-1.0, 0.03) for south in (-1.0, 0.03)]
    return squares(trips.parent / "everything.geojson", corners, 1.03)


def table(out: Path) -> list[dict[str, str]]:
    with (out / "flows.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_a_true_release_gives_the_original_flows_back(tripcloak, true_release, trips, city, tmp_path):
    out = tmp_path / "out"
    told = tripcloak(
        "reconstruct",
        true_release,
        "--zones",
        city,
        "--against",
        trips,
        "--pair",
        "z0:z7",
        "--out",
        out,
        "--json",
    )
    assert (told.code, told.err) == (0, "")
    facts = told.json
    assert facts["zones"] == 36
    assert facts["volume"] == pytest.approx(facts["released"]) == pytest.approx(1400)
    assert facts["outside"] == {"origins": 0, "destinations": 0}
    assert facts["agreement"]["cpc"] == pytest.approx(1)
    assert facts["agreement"]["mean_error"] == pytest.approx(0)
    assert facts["agreement"]["within_interval"] == facts["agreement"]["within_bounds"] == 1
    rows = table(out)
    assert len(rows) == facts["flows"]
    assert {row["time"] for row in rows} <= {"T00:00", "T06:00", "T12:00", "T18:00"}
    assert sum(float(row["volume"]) for row in rows) == pytest.approx(1400)
    for row in rows:
        ladder = [float(row[number]) for number in ("least", "low", "volume", "high", "most")]
        assert ladder == sorted(ladder)
        assert ladder[0] == ladder[2]
        assert ladder[4] == pytest.approx(ladder[2] + facts["unseen"]["volume"])
    page = (out / "profiles.html").read_text()
    assert "z0 to z7" in page
    assert "Not for publication" in page
    assert re.search(r"https?://|<script src|<img[^>]* src=", page) is None


def test_what_shows_original_data_is_the_owners_and_goes_when_it_is_not_wanted(
    tripcloak, true_release, trips, city, tmp_path
):
    out = tmp_path / "out"
    asked = ("reconstruct", true_release, "--zones", city, "--out", out)
    assert tripcloak(*asked, "--against", trips).code == 0
    for name in ("agreement.json", "profiles.html"):
        assert stat.S_IMODE((out / name).stat().st_mode) == 0o600
    again = tripcloak(*asked)
    assert again.code == 2
    assert "already holds a reconstruction" in again.words
    assert tripcloak(*asked, "--force").code == 0
    assert {path.name for path in out.iterdir()} == {"flows.csv", "flows.parquet"}


@pytest.mark.parametrize("rule", ["area", "tiles"])
@pytest.mark.parametrize("kind", ["cells", "boxes"])
def test_both_rules_conserve_the_volume_of_cells_and_boxes(
    tripcloak, request, everything, tmp_path, kind, rule
):
    release = request.getfixturevalue(kind)
    told = tripcloak(
        "reconstruct", release, "--zones", everything, "--rule", rule, "--out", tmp_path / "out", "--json"
    )
    assert told.code == 0
    facts = told.json
    assert facts["rule"] == rule
    assert facts["volume"] + facts["left_out"] == pytest.approx(facts["released"])
    assert facts["outside"] == {"origins": 0, "destinations": 0}


def test_how_much_falls_outside_is_said(tripcloak, true_release, trips, tmp_path):
    """Of the planted trips, each end lies in the southern half as often as not."""
    south = squares(tmp_path / "south.geojson", city_corners(rows=3))
    told = tripcloak("reconstruct", true_release, "--zones", south, "--out", tmp_path / "out", "--json")
    assert told.code == 0
    with trips.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    for axis, end in (("origins", "start"), ("destinations", "end")):
        north = sum(float(row[f"{end}_lat"]) > 3 * DEGREES for row in rows) / len(rows)
        assert told.json["outside"][axis] == pytest.approx(north)
    shown = tripcloak("reconstruct", true_release, "--zones", south, "--out", tmp_path / "shown")
    assert f"{told.json['outside']['origins']:.1%}" in shown.out


def test_zones_elsewhere_hold_nothing(tripcloak, true_release, trips, tmp_path):
    far = squares(tmp_path / "far.geojson", [(50.0, 50.0)])
    asked = ("reconstruct", true_release, "--zones", far, "--out", tmp_path / "out")
    told = tripcloak(*asked, "--json")
    assert told.code == 0
    assert (told.json["flows"], told.json["volume"]) == (0, 0)
    assert told.json["outside"] == {"origins": 1, "destinations": 1}
    checked = tripcloak(*asked, "--against", trips, "--force")
    assert checked.code == 2
    assert "there is nothing to compare" in checked.words


def test_overlapping_zones_are_refused_by_name(tripcloak, true_release, tmp_path, untouched):
    corners = [*city_corners(), (0.5 * DEGREES, 0.5 * DEGREES)]
    zones = squares(tmp_path / "zones.geojson", corners)
    with untouched():
        told = tripcloak("reconstruct", true_release, "--zones", zones, "--out", tmp_path / "out")
    assert told.code == 2
    assert "the zones z0 and z36 overlap" in told.words
    assert "3 more pairs do" in told.words


def test_a_zone_that_crosses_itself_is_mended(tripcloak, true_release, tmp_path):
    """A bow tie of two triangles, each a quarter of the square around it."""
    side = 6 * DEGREES
    ring = [[0, 0], [side, side], [side, 0], [0, side], [0, 0]]
    shape = {"type": "Polygon", "coordinates": [ring]}
    zones = tmp_path / "zones.geojson"
    feature = {"type": "Feature", "properties": {"zone": "bow"}, "geometry": shape}
    zones.write_text(json.dumps({"type": "FeatureCollection", "features": [feature]}))
    told = tripcloak("reconstruct", true_release, "--zones", zones, "--out", tmp_path / "out", "--json")
    assert told.code == 0
    assert told.json["outside"]["origins"] == pytest.approx(0.5, abs=0.05)


def test_zones_without_outlines_are_refused(tripcloak, true_release, tmp_path, untouched):
    zones = tmp_path / "points.csv"
    zones.write_text("zone,lat,lon\na,0.01,0.01\nb,0.02,0.02\n")
    with untouched():
        told = tripcloak("reconstruct", true_release, "--zones", zones, "--out", tmp_path / "out")
    assert told.code == 2
    assert "zones with outlines" in told.words


@pytest.mark.parametrize("pair", ["z0:nowhere", "z0", "z0-z7", ":"])
def test_an_unknown_pair_is_refused(tripcloak, true_release, trips, city, tmp_path, untouched, pair):
    with untouched():
        told = tripcloak(
            "reconstruct",
            true_release,
            "--zones",
            city,
            "--against",
            trips,
            "--pair",
            pair,
            "--out",
            tmp_path / "out",
        )
    assert told.code == 2
    assert "--pair takes two zones of the file as ORIGIN:DESTINATION" in told.words


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--rule", "volume"], "--rule must be area or tiles; got 'volume'"),
        (["--pair", "z0:z1"], "give the raw input with --against"),
        (["--id-column", "name"], "no column has 'name'"),
    ],
)
def test_wrong_options_are_named(tripcloak, true_release, city, tmp_path, untouched, options, words):
    with untouched():
        told = tripcloak("reconstruct", true_release, "--zones", city, *options, "--out", tmp_path / "out")
    assert told.code == 2
    assert words in told.words


def test_the_public_part_is_enough_but_not_for_a_comparison(tripcloak, true_release, trips, city, tmp_path):
    public = tmp_path / "downloaded"
    shutil.copytree(true_release / "release", public)
    asked = ("reconstruct", public, "--zones", city, "--out", tmp_path / "out")
    assert tripcloak(*asked).code == 0
    told = tripcloak(*asked, "--against", trips, "--force")
    assert told.code == 2
    assert "holds the public part of a release alone" in told.words


def test_another_input_than_that_of_the_release_is_noticed(tripcloak, true_release, trips, city, tmp_path):
    """One whose trips are all made at night."""
    other = tmp_path / "night.csv"
    lines = trips.read_text().splitlines()
    night = [line for line in lines[1:] if line.split(" ")[1].startswith(("00", "01", "23"))]
    other.write_text("\n".join([lines[0], *night]))
    told = tripcloak(
        "reconstruct", true_release, "--zones", city, "--against", other, "--out", tmp_path / "out"
    )
    assert told.code == 2
    assert "was made from another input than this one" in told.words


@pytest.mark.parametrize("name", ["nothing", "empty"])
def test_a_folder_without_a_release_is_refused(tripcloak, city, tmp_path, name):
    (tmp_path / "empty").mkdir()
    told = tripcloak("reconstruct", tmp_path / name, "--zones", city, "--out", tmp_path / "out")
    assert told.code == 2
    assert "holds no release" in told.words
