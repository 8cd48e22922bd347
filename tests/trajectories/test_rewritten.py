"""Pages, parameters and digits of a folder are what this version writes, and nothing is hidden in them."""

from __future__ import annotations

import json
import shutil

import pytest

from forgeries.trajectories import entry, manifest, samples
from tripcloak.ground.errors import InputError
from tripcloak.promises import CoLocation
from tripcloak.trajectories.anonymise import TrajectoryRequest, anonymise_trajectories
from tripcloak.trajectories.checking import audit_trajectories_against
from tripcloak.trajectories.methods.registry import find_trajectory_method
from tripcloak.trajectories.reading import TrajectorySource
from tripcloak.trajectories.rewriting import REWRITINGS, rewritten_trajectories
from worlds.fixes import some_fixes
from worlds.trips import write_csv

MESSAGE = "dGhleSBsaXZlIGhlcmU"


@pytest.fixture(scope="module")
def fixes(tmp_path_factory):
    return write_csv(tmp_path_factory.mktemp("raw") / "fixes.csv", some_fixes(14))


@pytest.fixture(scope="module")
def made(fixes, tmp_path_factory):
    out = tmp_path_factory.mktemp("made") / "out"
    source = TrajectorySource(paths=(str(fixes),))
    anonymise_trajectories(
        TrajectoryRequest(source=source, method=find_trajectory_method("k-scale")(k=3), out=out)
    )
    return out


@pytest.fixture
def folder(made, tmp_path):
    return shutil.copytree(made, tmp_path / "out")


def broken(folder):
    return [finding.rule for finding in rewritten_trajectories(folder) if not finding.ok]


def add_to(name, text):
    def forge(folder):
        with (folder / "release" / name).open("a", encoding="utf-8") as file:
            file.write(text)
        manifest(folder)

    return forge


def in_manifest(old, new):
    def forge(folder):
        path = folder / "release" / "manifest.json"
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new, 1), encoding="utf-8")

    return forge


def with_parameters(**changes):
    return lambda folder: manifest(folder, parameters={**entry(folder, "parameters"), **changes})


def parameters_turned(folder):
    manifest(folder, parameters=dict(reversed(entry(folder, "parameters").items())))


def a_digit_wider(folder):
    """Spell something in the last digit that rounding leaves."""
    samples(folder, "UPDATE s SET lat_max = round(lat_max + 1e-6, 6) WHERE rowid = 0")


FORGERIES = {
    "a line in the README": (add_to("README.md", f"{MESSAGE}\n"), "readme-as-written"),
    "blanks in the README": (add_to("README.md", " \t"), "readme-as-written"),
    "a remark in the map": (add_to("map.html", f"<!-- {MESSAGE} -->"), "map-as-written"),
    "another method": (lambda folder: manifest(folder, method="magic"), "method-known"),
    "a parameter more": (with_parameters(note=123456789), "method-known"),
    "a parameter of another kind": (with_parameters(picking=3), "method-known"),
    "parameters in another order": (parameters_turned, "method-known"),
    "another promise than the method makes": (
        lambda folder: manifest(folder, promise=CoLocation(k=3, delta=5.0).stated()),
        "method-known",
    ),
    "the promise in other words": (
        lambda folder: manifest(
            folder, promise={**entry(folder, "promise"), "sentence": f"k = 3: {MESSAGE}, 3 times"}
        ),
        "manifest-as-written",
    ),
    "a blank in the manifest": (in_manifest('"kind": ', '"kind":  '), "manifest-as-written"),
    "an entry twice": (in_manifest('"kind"', f'"kind": "{MESSAGE}", "kind"'), "manifest-as-written"),
    "the last digit": (a_digit_wider, "samples-as-written"),
    "no samples": (
        lambda folder: (folder / "release" / "samples.parquet").unlink(),
        "samples-as-written",
    ),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_what_is_written_otherwise_is_found(folder, name):
    assert broken(folder) == []
    forge, rule = FORGERIES[name]
    forge(folder)
    assert rule in broken(folder)
    assert MESSAGE not in str(rewritten_trajectories(folder))


def test_the_audit_of_a_folder_fails_with_it_and_tells_every_rule(folder, fixes):
    safe = audit_trajectories_against(folder, (str(fixes),))
    assert safe.safe, safe.broken
    assert {one.rule for one in REWRITINGS} <= {finding.rule for finding in safe.findings}
    add_to("README.md", MESSAGE)(folder)
    forged = audit_trajectories_against(folder, (str(fixes),))
    assert not forged.safe
    assert forged.broken == ("readme-as-written",)


def test_a_finer_grid_than_the_private_record_states_is_found(folder, fixes):
    grid = entry(folder, "grid")
    manifest(folder, grid={**grid, "seconds": grid["seconds"] // 2})
    assert "grid-of-the-input" in audit_trajectories_against(folder, (str(fixes),)).broken


def test_without_the_private_record_nothing_is_audited(folder, fixes):
    path = folder / "private" / "run.json"
    run = json.loads(path.read_text())
    path.write_text(json.dumps({**run, "source": {**run["source"], "metres": None}}))
    told = audit_trajectories_against(folder, (str(fixes),))
    words = {finding.rule: finding.words for finding in told.findings}
    assert words["grid-of-the-input"].startswith("not checked")
    path.unlink()
    with pytest.raises(InputError, match=r"run\.json is missing"):
        audit_trajectories_against(folder, (str(fixes),))
