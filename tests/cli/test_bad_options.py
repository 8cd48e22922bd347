"""Bad options: refused with exit code 2, before anything is written, in words that name the option."""

from __future__ import annotations

from importlib import import_module

import pytest

from worlds.fixes import some_fixes
from worlds.trips import write_csv

BAD_OPTIONS = [
    ("--method none-such", "no method 'none-such'; there are"),
    ("--hierarchy none-such", "not a hierarchy; expected one of h3:RESOLUTION"),
    ("--hierarchy h3:99", "0 to 15"),
    ("--hierarchy quadtree:99", "1 to 26"),
    ("--hierarchy dendrogram", "needs a zones file"),
    ("--hierarchy table:county", "needs a zones file"),
    ("--hierarchy dendrogram --zones none.csv", "no zones file"),
    ("--unit people", "one of trips, travellers, population"),
    ("--unit trips,people", "one of trips, travellers, population"),
    ("--person none --unit travellers", "needs a person or vehicle id"),
    ("--weight none --unit population", "needs a weight column"),
    ("--unit travellers,population", "--k-population auto"),
    ("--unit population", "protects nobody here"),
    ("--unit population --k-population 60", "protects nobody here"),
    ("--unit travellers --k-population 5000", "goes with --unit population"),
    ("--k-population many", "a number of people or auto"),
    ("--k-population 1", "at least 2"),
    ("--k-population 20.5", "whole"),
    ("--weight none --k-population auto", "needs a weight column"),
    ("--k 1", "at least 2"),
    ("--k 0", "at least 2"),
    ("--k -3", "at least 2"),
    ("--k nan", "at least 2"),
    ("--k inf", "finite"),
    ("--k 2.5", "whole"),
    ("--k ten", "valid number"),
    ("--suppress 1.5", "share of the volume"),
    ("--suppress 1", "share of the volume"),
    ("--suppress -0.1", "share of the volume"),
    ("--suppress nan", "share of the volume"),
    ("--memory nonsense", "such as 512MB"),
    ("--memory 12", "such as 512MB"),
    ("--memory 1MB", "at least 200MB"),
    ("--box nonsense", "--box takes numbers"),
    ("--box 1,2,3", "south,west,north,east"),
    ("--box 50,2,40,3", "south"),
    ("--box nan,2,50,3", "box"),
    ("--box -10,-10,-9,-9", "outside the box"),
    ("--area 1,2 --hierarchy quadtree:8", "--area takes south,west,north,east"),
    ("--area -10,-10,-9,-9 --hierarchy quadtree:8", "in no known zone"),
    ("--polygon none.geojson", "no polygon file"),
    ("--method odkanon --levels -1", "levels"),
    ("--method twincut --levels 2", "no option --levels"),
    ("--where nonsense", "--where"),
    ("--where false", "check the condition"),
    ("--timezone Mars/Olympus", "--timezone"),
    ("--silence -1", "positive"),
    ("--form rides", "one of trips, points"),
    ("--preset none-such", "one of porto-taxi"),
    ("--person none_such", "no column 'none_such'"),
    ("--attribute none_such", "no attribute column none_such"),
    ("--none-such", "No such option"),
]


@pytest.mark.parametrize(("options", "words"), BAD_OPTIONS, ids=[options for options, _ in BAD_OPTIONS])
def test_a_bad_option_is_refused(tripcloak, untouched, tmp_path, trips, options, words):
    with untouched():
        told = tripcloak("anonymise", trips, "--out", tmp_path / "out", *options.split())
    assert (told.code, told.out) == (2, "")
    assert words in told.words


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "INPUT"),
        (["trips.csv"], "--out"),
    ],
)
def test_what_is_missing_is_named(tripcloak, arguments, words):
    told = tripcloak("anonymise", *arguments)
    assert (told.code, told.out) == (2, "")
    assert "Missing" in told.words
    assert words in told.words


def test_an_unknown_command_is_named(tripcloak):
    told = tripcloak("anonymize")
    assert told.code == 2
    assert "anonymize" in told.words


@pytest.mark.parametrize("k", ["1", "nan"])
def test_describe_checks_k(tripcloak, trips, k):
    told = tripcloak("describe", trips, "--k", k)
    assert (told.code, told.out) == (2, "")
    assert "at least 2" in told.words


def test_our_own_bug_ends_with_3_and_tells_no_data(tripcloak, tmp_path, trips, monkeypatch):
    from tripcloak.flows import anonymise

    def broken(*_, **__):
        raise ZeroDivisionError("somebody 17 at 48.8566")

    monkeypatch.setattr(anonymise, "measure", broken)
    told = tripcloak("anonymise", trips, "--out", tmp_path / "out")
    assert (told.code, told.out) == (3, "")
    assert "our own bug" in told.words
    assert "ZeroDivisionError" in told.words
    assert "somebody" not in told.words
    assert not (tmp_path / "out").exists()


def test_a_release_that_fails_its_own_audit_is_never_written(tripcloak, tmp_path, trips, monkeypatch):
    from tripcloak.flows import anonymise
    from tripcloak.flows.audit import Finding
    from tripcloak.ground.rulebook import Verdict

    report = Verdict.of([Finding("every-group-safe", False, "a flow is too small")])
    monkeypatch.setattr(anonymise, "audit_matrix", lambda *_, **__: report)
    told = tripcloak("anonymise", trips, "--out", tmp_path / "out")
    assert told.code == 3
    assert "every-group-safe" in told.words
    assert not (tmp_path / "out").exists()


def test_trajectories_that_fail_their_own_audit_are_our_own_bug_too(tripcloak, tmp_path, monkeypatch):
    from tripcloak.ground.rulebook import Finding, Verdict

    # A verb of this name stands before the room.
    anonymise = import_module("tripcloak.trajectories.anonymise")
    fixes = write_csv(tmp_path / "fixes.csv", some_fixes(14))
    report = Verdict.of([Finding("support-reaches-k", False, "somebody is alone")])
    monkeypatch.setattr(anonymise, "audit_release", lambda *_, **__: report)
    told = tripcloak("trajectories", "anonymise", fixes, "--k", 2, "--out", tmp_path / "out")
    assert told.code == 3
    assert "support-reaches-k" in told.words
    assert not (tmp_path / "out").exists()


def test_running_out_of_memory_says_what_to_do(tripcloak, tmp_path, trips, monkeypatch):
    from tripcloak.flows import anonymise

    def hungry(*_, **__):
        raise MemoryError

    monkeypatch.setattr(anonymise, "read_matrix", hungry)
    told = tripcloak("anonymise", trips, "--out", tmp_path / "out")
    assert told.code == 2
    assert "--memory" in told.words
