"""tripcloak difference: what folders tell together, with the numbers that give it away."""

from __future__ import annotations

import csv
import json
import shutil
from collections import Counter
from pathlib import Path

import pytest

import tripcloak as tc
from worlds.trips import some_trips, write_csv


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give releases of the same trips: all, without one person, of a larger k, of others' trips."""
    home = tmp_path_factory.mktemp("releases")
    file = str(write_csv(home / "trips.csv", some_trips(400, spread=0.02)))
    person = some_trips(400, spread=0.02)[0]["person_id"]
    for name, k, where in (("all", 5, None), ("erased", 5, f"person_id <> '{person}'"), ("larger", 9, None)):
        tc.anonymise(file, k=k, zones="h3:8", where=where, suppress=0.3, out=home / name)
    other = str(write_csv(home / "other.csv", some_trips(300, seed=9)))
    tc.anonymise(other, k=5, zones="h3:7", out=home / "other")
    return home


def published(folder: Path) -> Counter[tuple[str, str]]:
    with (folder / "release" / "flows.csv").open() as file:
        return Counter(
            {(row["origin"], row["destination"]): int(row["trips"]) for row in csv.DictReader(file)}
        )


def test_an_erased_person_is_told_by_subtraction(tripcloak, home):
    told = tripcloak("difference", home / "all", home / "erased" / "release", "--json")
    assert told.code == 1
    assert told.json["safe"] is False
    assert told.json["facts"] == len(told.json["certificates"]) >= 1
    assert told.json["complete"] is True
    for fact in told.json["certificates"]:
        assert 1 <= fact["people"] < told.json["k"] == 5
        numbers = [
            term["times"] * published(home / term["release"])[term["origin"], term["destination"]]
            for term in fact["terms"]
        ]
        assert numbers == [term["times"] * term["published"] for term in fact["terms"]]
        assert sum(numbers) == fact["divided_by"] * fact["least"] == fact["divided_by"] * fact["most"]


def test_people_read_the_verdict_first_and_what_to_do_last(tripcloak, home):
    told = tripcloak("difference", home / "all", home / "erased")
    first, *_, last = told.out.strip().splitlines()
    assert "follow" in first
    assert "concerned" in first
    assert "Do not publish" in told.out
    assert "--ledger" in told.out
    assert last


def test_a_release_tells_nothing_beside_itself(tripcloak, home, tmp_path):
    shutil.copytree(home / "all", tmp_path / "again")
    told = tripcloak("difference", home / "all", tmp_path / "again", "--json")
    assert (told.code, told.json["facts"], told.json["people"]) == (0, 0, 0)
    assert "Nothing about fewer than 5 people follows" in told.json["verdict"]


def test_k_may_be_asked_for(tripcloak, home):
    fewest = tripcloak("difference", home / "all", home / "larger", "--k", "2", "--json").json["facts"]
    most = tripcloak("difference", home / "all", home / "larger", "--k", "9", "--json").json["facts"]
    assert fewest <= most


@pytest.mark.parametrize(
    ("folders", "words"),
    [
        (["all"], "two folders or more"),
        (["all", "other"], "no record in common"),
        (["all", "nowhere"], "nowhere"),
    ],
)
def test_what_cannot_be_compared_is_said(tripcloak, home, folders, words):
    told = tripcloak("difference", *(home / name for name in folders))
    assert told.code == 2
    assert words in told.err


def test_a_missing_private_part_or_input_is_said(tripcloak, home, tmp_path):
    shutil.copytree(home / "all", tmp_path / "public")
    shutil.rmtree(tmp_path / "public" / "private")
    told = tripcloak("difference", home / "all", tmp_path / "public")
    assert (told.code, "private" in told.err) == (2, True)
    shutil.copytree(home / "all", tmp_path / "moved")
    record = json.loads((tmp_path / "moved" / "private" / "run.json").read_text())
    assert record["source"]["paths"] == [str(home / "trips.csv")]
    (home / "trips.csv").rename(home / "elsewhere.csv")
    try:
        told = tripcloak("difference", home / "all", home / "larger")
        assert told.code == 2
        assert "not where it was read from" in told.err
        again = tripcloak(
            "difference", home / "all", home / "larger", "--against", home / "elsewhere.csv", "--json"
        )
        assert again.code in (0, 1)
    finally:
        (home / "elsewhere.csv").rename(home / "trips.csv")


def test_readers_of_public_parts_subtract_as_well(tripcloak, home, tmp_path):
    """Sent to somebody, or asked for: no private part is read, and none is needed."""
    for name in ("all", "erased"):
        shutil.copytree(home / name / "release", tmp_path / name / "release")
    told = tripcloak("difference", tmp_path / "all", tmp_path / "erased", "--json")
    asked = tripcloak("difference", home / "all", home / "erased", "--public", "--json")
    assert told.json == asked.json
    assert told.json["from"] == "public parts alone"
    assert told.code == (1 if told.json["facts"] else 0)
    assert (told.json["safe"], "people" in told.json) == (not told.json["facts"], False)
    for fact in told.json["certificates"]:
        assert sum(term["times"] * term["published"] for term in fact["terms"]) == fact["least"] < 5
    words = tripcloak("difference", home / "all" / "release", home / "erased" / "release")
    assert words.out.startswith("Readers of these public files can prove")
    assert "taken to be of the same trips" in " ".join(words.out.split())


def test_a_ledger_attacks_its_own_releases(tripcloak, home, tmp_path):
    ledger = tmp_path / "ledger"
    assert tripcloak("ledger", "init", ledger).code == 0
    assert "no release yet" in tripcloak("ledger", "check", ledger).err
    for number, k in enumerate(("5", "9")):
        out = tmp_path / str(number)
        asked = ("--k", k, "--hierarchy", "h3:8", "--suppress", "0.3", "--out", out, "--ledger", ledger)
        tripcloak("anonymise", home / "trips.csv", *asked)
    told = tripcloak("ledger", "check", ledger, "--json")
    assert (told.code, told.json["facts"]) == (0, 0)
    assert 1 <= len(told.json["releases"]) <= 2
    # Facts of more people than k follow from any release: its own numbers.
    assert tripcloak("ledger", "check", ledger, "--k", "400").code == 1
