"""Noisy methods on the command line: asked for, told truly, audited, measured, and refused early."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from worlds.trips import leaks, some_trips, write_csv

Tripcloak = Callable[..., Any]

METHODS = pytest.mark.parametrize("method", ["laplace", "inftda", "noisycut"])
HERE = ("--hierarchy", "h3:9", "--height", 3, "--epsilon", 5, "--contributions", 2)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return write_csv(tmp_path / "rides.csv", some_trips(900))


@METHODS
def test_a_noisy_release_is_made_told_audited_and_measured(
    tripcloak: Tripcloak, file: Path, tmp_path: Path, method: str
) -> None:
    out = tmp_path / "out"
    told = tripcloak("anonymise", file, "--method", method, *HERE, "--out", out)
    assert told.code == 0, told.err
    words = " ".join(told.out.replace("│", " ").split())
    assert "differential privacy of every person" in words
    assert "no smallest number of people is promised" in words
    assert "smallest flow" not in words
    assert not leaks(told.out, some_trips(900))
    manifest = json.loads((out / "release" / "manifest.json").read_text())
    assert manifest["parameters"].pop("bounding", "sample") == "sample"
    assert manifest["parameters"] == {"epsilon": 5.0, "delta": 1e-6, "contributions": 2, "height": 3}
    assert (manifest["promise"]["kind"], manifest["seed"], manifest["bound"]) == (
        "differential privacy",
        None,
        None,
    )
    audit = tripcloak("audit", out, "--against", file, "--json")
    assert audit.code == 0, audit.out
    measured = tripcloak("metrics", out, "--against", file, "--json")
    assert measured.code == 0, measured.err
    run = json.loads((out / "private" / "run.json").read_text())
    assert measured.json["metrics"].keys() == run["measures"].keys()
    for name, value in run["measures"].items():
        assert measured.json["metrics"][name] == (value if value is None else pytest.approx(value)), name


@pytest.mark.one_in(2)
@METHODS
def test_json_says_what_is_promised_and_no_k(
    tripcloak: Tripcloak, file: Path, tmp_path: Path, method: str
) -> None:
    told = tripcloak("anonymise", file, "--method", method, *HERE, "--out", tmp_path / "out", "--json")
    assert told.code == 0, told.err
    assert told.json["differential_privacy"]["epsilon"] == 5
    assert told.json["parameters"]["k"] is None
    assert told.json["parameters"]["suppress"] is None
    assert told.json["parameters"]["thresholds"] == {}
    assert told.json["bound"] is None
    assert told.json["audit"]["safe"] is True


@METHODS
@pytest.mark.parametrize(
    ("given", "words"),
    [
        ((), "needs --epsilon"),
        (("--epsilon", 0), "epsilon must be a finite number above 0"),
        (("--epsilon", 1, "--contributions", 0), "contributions must be 1 or more"),
        (("--epsilon", 1, "--hierarchy", "quadtree:8"), "give --area"),
        (("--epsilon", 1, "--time-slot", "1h"), "does not know time as an axis"),
    ],
    ids=str,
)
def test_what_cannot_be_had_is_said_before_anything_is_read(
    tripcloak: Tripcloak, tmp_path: Path, method: str, given: tuple[object, ...], words: str
) -> None:
    told = tripcloak(
        "anonymise", tmp_path / "missing.csv", "--method", method, *given, "--out", tmp_path / "out"
    )
    assert told.code == 2
    assert words in told.words
    assert not (tmp_path / "out").exists()


@METHODS
@pytest.mark.parametrize(
    ("given", "words"),
    [
        (("--l", 2), "leave out --l"),
        (("--t", 0.5), "leave out --l, --l-places, --t"),
        (("--slot", "1h"), "cannot be run slot by slot"),
        (("--segment", "user_id"), "segments would tell of them once each"),
        (("--hierarchy", "h3:9/binary"), "do not depend on the data"),
    ],
    ids=lambda given: str(given[0]),
)
def test_what_would_break_the_promise_is_refused(
    tripcloak: Tripcloak, file: Path, tmp_path: Path, method: str, given: tuple[object, ...], words: str
) -> None:
    told = tripcloak("anonymise", file, "--method", method, *HERE, *given, "--out", tmp_path / "out")
    assert told.code == 2, told.err
    assert words in told.words
    assert not (tmp_path / "out").exists()


@pytest.mark.one_in(3)
@METHODS
@pytest.mark.parametrize("given", [("--k-population", "auto"), ("--unit", "population", "--k", 50)], ids=str)
def test_thresholds_on_the_population_play_no_part(
    tripcloak: Tripcloak, file: Path, tmp_path: Path, method: str, given: tuple[object, ...]
) -> None:
    told = tripcloak("anonymise", file, "--method", method, *HERE, *given, "--out", tmp_path / "out")
    assert told.code == 0, told.err


def test_other_methods_know_no_epsilon(tripcloak: Tripcloak, file: Path, tmp_path: Path) -> None:
    told = tripcloak("anonymise", file, "--epsilon", 1, "--out", tmp_path / "out")
    assert told.code == 2
    assert "twincut has no option --epsilon" in told.words


def test_two_runs_differ_and_neither_tells_a_seed(tripcloak: Tripcloak, file: Path, tmp_path: Path) -> None:
    made = []
    for name in ("one", "two"):
        # Without a delta every pair gets noise: for all of them to come out twice is out of the question.
        given = (
            "--hierarchy",
            "h3:9/root=851fb467fffffff",
            "--height",
            2,
            "--epsilon",
            0.1,
            "--delta",
            0,
            "--out",
            tmp_path / name,
        )
        assert tripcloak("anonymise", file, "--method", "laplace", *given).code == 0
        made.append((tmp_path / name / "release" / "flows.csv").read_text())
    assert made[0] != made[1]
