"""What a manifest says of guesses is what it may say, and what comes of guessing once more."""

from __future__ import annotations

import json
import shutil

import pytest

from forgeries.trajectories import audit_of_forged, entry, manifest
from tripcloak.ground.folders import write_json
from tripcloak.promises import CoLocation
from tripcloak.trajectories.anonymise import TrajectoryRequest, anonymise_trajectories
from tripcloak.trajectories.audit import audit_folder
from tripcloak.trajectories.checking import audit_trajectories_against
from tripcloak.trajectories.methods.registry import find_trajectory_method
from tripcloak.trajectories.reading import TrajectorySource
from tripcloak.trajectories.report.readme import render_trajectory_readme
from worlds.fixes import some_fixes
from worlds.trips import write_csv

RULE = "guess-told-safely"


def says(**changes):
    """Return a forgery of the guess of 24 people, of whom tens are told: 40 and 40 in a hundred."""
    return lambda folder: manifest(folder, guess={**entry(folder, "guess"), **changes})


FORGERIES = {
    "told closely": says(right=41),
    "blind told closely": says(blind=39),
    "more than all": says(right=110),
    "fewer than blindly": says(right=30),
    "fewer than nobody": says(blind=-10),
    "no whole number": says(right=40.0),
    "nothing told": says(right=None, blind=None),
    "another number of people": says(people=25),
    "people who are no number": says(people=24.0),
    "another entry": says(best="shortest"),
    "a text": lambda folder: manifest(folder, guess="often"),
}


def test_the_guess_of_a_safe_folder_may_be_told(safe, raw):
    assert entry(safe, "guess") == {"people": 24, "right": 40, "blind": 40}
    assert RULE not in audit_folder(safe, raw).broken


@pytest.mark.parametrize("name", FORGERIES)
def test_what_may_not_be_told_is_found(name, safe, raw, tmp_path):
    audit_of_forged(FORGERIES[name], RULE, safe, raw, tmp_path)


def test_a_guess_that_is_not_told_is_missed(safe, raw, tmp_path):
    audit_of_forged(lambda folder: manifest(folder, guess=None), RULE, safe, raw, tmp_path)


@pytest.mark.parametrize(
    ("people", "guess", "fine"),
    [
        (9, {"right": None, "blind": None}, True),
        (9, {"right": 40, "blind": 40}, False),
        (9, {"right": None, "blind": 40}, False),
        (10, {"right": 40, "blind": 40}, True),
        (10, {"right": None, "blind": None}, False),
        (99, {"right": 41, "blind": 40}, False),
        (99, {"right": 100, "blind": 0}, True),
        (100, {"right": 41, "blind": 39}, True),
        (100, {"right": 101, "blind": 39}, False),
        (100, {"right": 39, "blind": 39}, True),
        (100, {"right": 38, "blind": 39}, False),
        (1001, {"right": 41, "blind": 39, "people": 1000}, True),
        (1001, {"right": 41, "blind": 39, "people": 1001}, False),
    ],
)
def test_the_rule_at_its_edges(people, guess, fine):
    from types import SimpleNamespace

    from tripcloak.trajectories.audit.promise import Stated
    from tripcloak.trajectories.audit.rules.manifest import guess_told_safely

    told = {"people": people, "right": None, "blind": None, **guess}
    case = SimpleNamespace(
        facts={"guess": told},
        manifest=SimpleNamespace(promise=Stated("containment", 3)),
        spans=SimpleNamespace(offsets=range(people + 1)),
    )
    assert (guess_told_safely(case) is None) == fine


def test_of_moved_points_no_guess_may_be_told(safe, raw, tmp_path):
    def forge(folder):
        manifest(folder, promise=CoLocation(k=3, delta=1e9).stated())

    audit_of_forged(forge, RULE, safe, raw, tmp_path)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Return fixes and a release of them."""
    room = tmp_path_factory.mktemp("made")
    fixes = str(write_csv(room / "fixes.csv", some_fixes(14)))
    method = find_trajectory_method("k-scale")(k=2)
    outcome = anonymise_trajectories(
        TrajectoryRequest(source=TrajectorySource(paths=(fixes,)), method=method, out=room / "out")
    )
    return fixes, outcome


def test_a_release_says_how_often_a_guess_is_right(made):
    fixes, outcome = made
    told = entry(outcome.out, "guess")
    assert outcome.to_dict()["guess"] == {**told, "sentence": outcome.guess.sentence()}
    assert told["people"] == 14
    assert f"for up to {told['right']} in 100 people" in " ".join(
        (outcome.out / "release" / "README.md").read_text().split()
    )
    assert json.loads((outcome.out / "private" / "run.json").read_text())["guess"]["right"] == told["right"]
    audit = audit_trajectories_against(outcome.out, (fixes,))
    assert audit.safe
    assert audit.findings[-1].rule == "guess-as-counted"


@pytest.mark.parametrize("change", [10, -10])
def test_another_number_is_found_though_all_else_fits_it(made, tmp_path, change):
    fixes, outcome = made
    folder = shutil.copytree(outcome.out, tmp_path / "out")
    told = entry(folder, "guess")
    changed = {**told, "right": told["right"] + change if told["right"] + change <= 100 else 90}
    manifest(folder, guess=changed)
    facts = json.loads((folder / "release" / "manifest.json").read_text())
    (folder / "release" / "README.md").write_text(render_trajectory_readme(facts))
    manifest(folder)
    assert "guess-as-counted" in audit_trajectories_against(folder, (fixes,)).broken


def test_a_guess_that_cannot_be_tried_is_not_believed(made, tmp_path):
    fixes, outcome = made
    folder = shutil.copytree(outcome.out, tmp_path / "out")
    run = json.loads((folder / "private" / "run.json").read_text())
    write_json(folder / "private" / "run.json", {**run, "input_digest": "0"})
    assert audit_trajectories_against(folder, (fixes,)).broken == ("guess-as-counted",)
