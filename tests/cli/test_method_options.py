"""A new method: one class with its options and one line in the registry, and the command line knows it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import tripcloak as package
from tripcloak.flows.methods.registry import METHODS
from tripcloak.trajectories.methods.registry import TRAJECTORY_METHODS
from worlds import carousel, roundabout
from worlds.carousel import Carousel
from worlds.fixes import some_fixes
from worlds.roundabout import Roundabout
from worlds.trips import write_csv


@dataclass(frozen=True)
class Wing:
    """The commands of one wing, a file they take, and the made-up method there."""

    command: tuple[str, ...]
    method: str
    file: Path
    other: str

    def run(self, tripcloak: Any, verb: str, *arguments: object) -> Any:
        return tripcloak(*self.command, verb, *arguments)


@pytest.fixture(params=["flows", "trajectories"])
def wing(
    request: pytest.FixtureRequest, tmp_path: Path, trips: Path, monkeypatch: pytest.MonkeyPatch
) -> Wing:
    if request.param == "flows":
        monkeypatch.setitem(METHODS, "roundabout", Roundabout)
        return Wing((), "roundabout", trips, "odkanon")
    monkeypatch.setitem(TRAJECTORY_METHODS, "carousel", Carousel)
    fixes = write_csv(tmp_path / "fixes.csv", some_fixes(8))
    return Wing(("trajectories",), "carousel", fixes, "glove")


def words(text: str) -> str:
    return " ".join(text.replace("│", " ").split())


@pytest.mark.parametrize("verb", ["anonymise", "compare"])
def test_its_flags_stand_in_the_help(tripcloak: Any, wing: Wing, verb: str) -> None:
    page = words(wing.run(tripcloak, verb, "--help").out)
    says = f"{wing.method}: how it goes round (calm or brisk). [default: calm]"
    assert f"--manner MANNER {says}" in page
    assert f"--rounds N {wing.method}: times it goes round. [default: 2]" in page
    assert f"--patience TIME {wing.method}: when it gives up. [default: never]" in page


def test_exposure_knows_it_too(tripcloak: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(METHODS, "roundabout", Roundabout)
    assert "--manner MANNER roundabout: how it goes round" in words(tripcloak("exposure", "--help").out)


def test_it_is_listed_with_its_options(tripcloak: Any, wing: Wing) -> None:
    listed = wing.run(tripcloak, "methods", "--json").json["methods"]
    (found,) = (one for one in listed if one["method"] == wing.method)
    assert found["parameters"].items() >= {"manner": "calm", "rounds": 2, "patience": None}.items()
    (manner,) = (one for one in found["options"] if one["name"] == "manner")
    assert manner == {
        "name": "manner",
        "flag": "--manner",
        "kind": "text",
        "default": "calm",
        "values": ["calm", "brisk"],
        "help": "How it goes round.",
        "if_not_given": "calm",
    }
    told = words(wing.run(tripcloak, "methods").out)
    assert wing.method in told
    assert "--manner MANNER" in told
    assert "--patience TIME" in told


def test_its_values_are_passed_on(tripcloak: Any, wing: Wing, tmp_path: Path) -> None:
    own = ("--method", wing.method, "--manner", "brisk", "--rounds", 5, "--patience", "1.5min")
    told = wing.run(tripcloak, "anonymise", wing.file, *own, "--k", 2, "--out", tmp_path / "out", "--json")
    assert (told.code, told.err) == (0, "")
    facts = json.loads((tmp_path / "out" / "release" / "manifest.json").read_text())
    assert facts["method"] == wing.method
    assert facts["parameters"].items() >= {"manner": "brisk", "rounds": 5, "patience": 90.0}.items()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--manner", "wild"), "--manner must be one of calm, brisk; got 'wild'"),
        (("--rounds", 0), "--rounds must be 1 or more; got 0"),
        (("--rounds", "two"), "--rounds"),
        (("--patience", "long"), "--patience takes a time such as 60s or 5min; got 'long'"),
    ],
)
def test_a_wrong_value_is_refused_in_words_that_name_the_flag(
    tripcloak: Any, wing: Wing, tmp_path: Path, untouched: Any, options: tuple[object, ...], said: str
) -> None:
    with untouched():
        for verb, choice in (("anonymise", "--method"), ("compare", "--methods")):
            out = ("--out", tmp_path / "out") if verb == "anonymise" else ()
            told = wing.run(tripcloak, verb, wing.file, choice, wing.method, *options, *out)
            assert (told.code, told.out) == (2, "")
            assert said in told.words


def test_other_methods_do_not_have_it(tripcloak: Any, wing: Wing, tmp_path: Path) -> None:
    own = ("--manner", "calm")
    out = ("--out", tmp_path / "out")
    alone = wing.run(tripcloak, "anonymise", wing.file, "--method", wing.other, *own, *out)
    assert alone.code == 2
    assert f"{wing.other} has no option --manner" in alone.words
    beside = wing.run(tripcloak, "compare", wing.file, "--methods", wing.other, *own)
    assert beside.code == 2
    assert f"none of {wing.other} has an option --manner" in beside.words
    assert f"--manner is an option of {wing.method}" in beside.words


def test_a_comparison_says_who_ran_with_what(tripcloak: Any, trips: Path) -> None:
    asked = ("--methods", "oigh,odkanon", "--k", 5, "--hierarchy", "h3:8", "--loss", "area", "--json")
    told = tripcloak("compare", trips, *asked)
    assert (told.code, told.err) == (0, "")
    assert "oigh ran with --loss area" in told.json["notes"]
    plain = tripcloak("compare", trips, *asked[:6], "--json").json["notes"]
    assert not [note for note in plain if "ran with" in note]


@pytest.fixture
def extended(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """The package with a file more and a line more in each registry, as a command of its own."""
    copy = tmp_path / "src" / "tripcloak"
    shutil.copytree(Path(package.__file__).parent, copy, ignore=shutil.ignore_patterns("__pycache__"))
    for made_up, folder, line in (
        (roundabout, copy / "flows" / "methods", '"roundabout": "roundabout:Roundabout",'),
        (carousel, copy / "trajectories" / "methods", '"carousel": "carousel:Carousel",'),
    ):
        shutil.copy(str(made_up.__file__), folder)
        before, mark, after = (folder / "registry.py").read_text().partition("    {\n")
        (folder / "registry.py").write_text(f"{before}{mark}        {line}\n{after}")

    def run(*arguments: object) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "PYTHONPATH": str(tmp_path / "src"), "COLUMNS": "100"}
        command = [sys.executable, "-X", "importtime", "-m", "tripcloak.cli", *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)

    return run


@pytest.mark.parametrize(
    ("command", "method"),
    [((), "roundabout"), (("trajectories",), "carousel")],
    ids=["flows", "trajectories"],
)
def test_one_file_and_one_line_are_enough(
    extended: Callable[..., subprocess.CompletedProcess[str]],
    tmp_path: Path,
    trips: Path,
    command: tuple[str, ...],
    method: str,
) -> None:
    page = extended(*command, "anonymise", "--help")
    assert f"{method}: how it goes round (calm or brisk). [default: calm]" in words(page.stdout)
    assert "numpy" not in page.stderr
    listed = json.loads(extended(*command, "methods", "--json").stdout)["methods"]
    assert [one["method"] for one in listed].count(method) == 1
    asked = (*command, "anonymise", trips, "--method", method, "--manner", "wild", "--out", tmp_path / "out")
    refused = extended(*asked)
    assert refused.returncode == 2
    assert "Error: --manner must be one of calm, brisk; got 'wild'" in refused.stderr
