"""tripcloak exposure: the JSON and the tables, the files, the exit codes, and the words of every refusal."""

from __future__ import annotations

import csv
import json
import re
import stat
from pathlib import Path
from typing import Any

import pytest

from tripcloak.flows.measures import measure
from tripcloak.flows.reading.matrix import Zoning, read_matrix
from tripcloak.records.source import TripSource
from worlds.trips import leaks, some_trips, without, write_csv

QUICK = ("--k", 5, "--hierarchy", "h3:9", "--methods", "odkanon,twincut")
SIDES = ("participants", "population")


def test_the_json_tells_every_method_under_every_target(tripcloak: Any, trips: Path) -> None:
    told = tripcloak("exposure", trips, *QUICK, "--json")
    assert (told.code, told.err) == (0, "")
    found = told.json
    assert found["thresholds"]["travellers"] == 5
    assert found["thresholds"]["population"] > 5 * 50  # weights are 50 to 150
    assert [(one["method"], one["target"]) for one in found["exposures"]] == [
        (method, target) for method in ("odkanon", "twincut") for target in (*SIDES, "both")
    ]
    for one in found["exposures"]:
        assert set(one) == {"method", "target", "groups", "zones", *SIDES, "measures", "metrics", "failure"}
        for side in SIDES:
            assert set(one[side]) == {"smallest", "below", "furthest"}
            if one["target"] in (side, "both"):
                assert one[side]["below"] == one[side]["furthest"] == 0
    some = [one for one in found["exposures"] if one["target"] == "participants"]
    assert any(one["population"]["below"] for one in some), "the example shows nothing"


def test_all_measures_are_there_on_both_sides(tripcloak: Any, trips: Path) -> None:
    found = tripcloak("exposure", trips, *QUICK, "--json").json
    matrix = read_matrix(TripSource(paths=(str(trips),)), Zoning(spec="h3:9")).trips.matrix
    from tripcloak import KAnonymity, TwinCut

    release = TwinCut(promise=KAnonymity(k=5, unit="travellers")).anonymise(matrix)
    one = next(e for e in found["exposures"] if (e["method"], e["target"]) == ("twincut", "participants"))
    for side, volume in (("participants", "trips"), ("population", "population")):
        expected = measure(matrix, release, volume=volume)  # type: ignore[arg-type]
        assert set(one["metrics"][side]) == set(expected)
        assert one["metrics"][side]["C_DM"] == pytest.approx(expected["C_DM"])
        assert one["metrics"][side]["E"] == pytest.approx(expected["E"])


def test_the_tables_are_those_of_the_thesis(tripcloak: Any, trips: Path, rows: Any) -> None:
    told = tripcloak("exposure", trips, *QUICK)
    assert (told.code, told.err) == (0, "")
    for words in (
        "fewest people",
        "least population",
        "Measured on the participants",
        "on the population",
    ):
        assert words in told.out
    assert all(name in told.out for name in ("C_DM", "C_AVG", "GDM_mean"))
    assert re.search(r"\(\d+ below, -\d+%\)", told.out)
    assert told.out.rstrip().endswith("not for publication.")
    assert not leaks(told.out, rows)


def test_a_participant_is_a_trip_where_nobody_is_told_apart(tripcloak: Any, trips: Path) -> None:
    for options in (["--person", "none"], ["--unit", "trips"]):
        found = tripcloak("exposure", trips, *QUICK, *options, "--json").json
        assert list(found["thresholds"]) == ["trips", "population"]


def test_the_files_say_the_same_and_are_for_their_owner(
    tripcloak: Any, tmp_path: Path, trips: Path, rows: Any
) -> None:
    out = tmp_path / "out"
    told = tripcloak("exposure", trips, *QUICK, "--k-population", "900", "--out", out, "--json")
    assert told.code == 0
    files = {path.name: path for path in out.iterdir()}
    assert set(files) == {"exposure.json", "exposure.csv", "exposure.md"}
    assert all(stat.S_IMODE(path.stat().st_mode) == 0o600 for path in files.values())
    written = json.loads(files["exposure.json"].read_text())
    assert {name: written[name] for name in told.json} == told.json
    assert written["thresholds"] == {"travellers": 5, "population": 900}
    table = list(csv.DictReader(files["exposure.csv"].open()))
    assert [float(row["population_smallest"]) for row in table] == [
        one["population"]["smallest"] for one in told.json["exposures"]
    ]
    page = files["exposure.md"].read_text()
    assert "Not for publication" in page
    assert page.count("| twincut | both |") == 3
    assert not any(leaks(path.read_text(), rows) for path in files.values())


def test_tables_that_are_there_stay_unless_forced(tripcloak: Any, tmp_path: Path, trips: Path) -> None:
    order = (
        "exposure",
        trips,
        "--k",
        5,
        "--hierarchy",
        "h3:8",
        "--methods",
        "oigh",
        "--out",
        tmp_path / "out",
    )
    assert tripcloak(*order).code == 0
    told = tripcloak(*order)
    assert told.code == 2
    assert "already holds a table of exposures" in told.words
    assert tripcloak(*order, "--force").code == 0


def test_what_no_method_can_do_ends_with_1_and_says_why(tripcloak: Any, trips: Path) -> None:
    told = tripcloak("exposure", trips, "--methods", "suppression", "--hierarchy", "h3:9")
    assert told.code == 1
    assert told.out.count("not possible") == 3
    found = tripcloak("exposure", trips, "--methods", "suppression,twincut", "--hierarchy", "h3:9", "--json")
    assert found.code == 0
    assert [one["failure"] is None for one in found.json["exposures"]] == [False] * 3 + [True] * 3


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("--weight none", "a weight column (--weight)"),
        ("--k-population lots", "--k-population takes a number of people or auto"),
        ("--k-population 1", "at least 2"),
        ("--k-population 20.5", "whole"),
        ("--k 1", "at least 2"),
        ("--unit population", "--unit says what a participant is: travellers or trips"),
        ("--unit travellers --person none", "a person or vehicle id"),
        ("--methods none-such", "no method 'none-such'; there are"),
        ("--methods twincut,", "no method ''"),
        ("--methods twincut,laplace", "laplace: noise knows no k"),
        ("--methods twincut --levels 3", "--levels is an option of odkanon"),
        ("--suppress 1.5", "share of the volume"),
        ("--out trips.csv", "is a file"),
    ],
)
def test_what_is_wrong_is_named(
    tripcloak: Any, untouched: Any, tmp_path: Path, trips: Path, monkeypatch: Any, options: str, words: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with untouched():
        told = tripcloak("exposure", trips, "--hierarchy", "h3:9", *options.split())
    assert (told.code, told.out) == (2, "")
    assert words in told.words


def test_an_input_without_weights_is_told_which_column_to_name(tripcloak: Any, tmp_path: Path) -> None:
    path = write_csv(tmp_path / "trips.csv", without(some_trips(50), "weight"))
    told = tripcloak("exposure", path)
    assert told.code == 2
    assert "--weight" in told.words


def test_odkanon_takes_its_levels(tripcloak: Any, trips: Path) -> None:
    order = ("exposure", trips, "--k", 5, "--hierarchy", "h3:9", "--methods", "odkanon", "--json")
    fewer, more = (tripcloak(*order, "--levels", levels).json["exposures"] for levels in (0, 3))
    assert fewer != more
