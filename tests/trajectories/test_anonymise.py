"""The road of trajectories: whole or not at all, and never unsafe."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

from tripcloak.comparing.trajectories import compare_trajectories
from tripcloak.ground.errors import InputError, InternalError
from tripcloak.trajectories.anonymise import TrajectoryRequest, anonymise_trajectories
from tripcloak.trajectories.checking import (
    audit_trajectories_against,
    measure_trajectories_against,
    read_as_released,
)
from tripcloak.trajectories.methods.method import HidingMethod
from tripcloak.trajectories.methods.registry import find_trajectory_method
from tripcloak.trajectories.reading import TrajectorySource, read_trajectories
from tripcloak.trajectories.release.release import Boxes, TrajectorySolution
from worlds.fixes import leaked, some_fixes
from worlds.folders import contents
from worlds.trips import write_csv


@dataclass(frozen=True, kw_only=True)
class AsTheyAre(HidingMethod):
    """Releases what it is given, and claims to have hidden it."""

    name: ClassVar[str] = "as-they-are"
    summary: ClassVar[str] = "nothing"
    source: ClassVar[str] = "nobody"

    def solve(self, trajectories, progress):
        t, x, y = trajectories.t, trajectories.x, trajectories.y
        boxes = Boxes(t, t + 1, x, x + 1, y, y + 1)
        return TrajectorySolution(
            trajectories.offsets,
            boxes,
            np.arange(trajectories.n_users),
            np.arange(trajectories.n_samples),
            {},
        )


ROWS = some_fixes(14)
OWN = {"nwa": {"period": 7200, "trash": 0.5}}


@pytest.fixture
def source(tmp_path: Path) -> TrajectorySource:
    return TrajectorySource(paths=(str(write_csv(tmp_path / "fixes.csv", ROWS)),))


def released(source: TrajectorySource, out: Path, method: str = "k-scale", k: int = 3):
    return anonymise_trajectories(
        TrajectoryRequest(
            source=source, method=find_trajectory_method(method)(k=k, **OWN.get(method, {})), out=out
        )
    )


def test_what_is_not_safe_is_never_written(source, tmp_path):
    before = contents(tmp_path)
    with pytest.raises(InternalError, match=r"its own audit \(.*support.*\); nothing was written") as told:
        anonymise_trajectories(TrajectoryRequest(source=source, method=AsTheyAre(k=2), out=tmp_path / "out"))
    assert told.value.exit_code == 3
    assert contents(tmp_path) == before


def test_a_release_that_cannot_be_written_leaves_nothing(source, tmp_path, monkeypatch):
    road = import_module("tripcloak.trajectories.anonymise")

    def fails(*_, **__):
        raise OSError(28, "full")

    monkeypatch.setattr(road, "write_trajectory_release", fails)
    before = contents(tmp_path)
    with pytest.raises(InputError, match="no room left"):
        released(source, tmp_path / "out")
    assert contents(tmp_path) == before


def flat(measures, name=""):
    """Return measures by path, without words and what cannot be told."""
    if isinstance(measures, list):
        return flat(dict(enumerate(measures)), name)
    if isinstance(measures, dict):
        return {key: one for part in measures for key, one in flat(measures[part], f"{name}/{part}").items()}
    return {} if measures is None or isinstance(measures, str) else {name: measures}


@pytest.mark.parametrize("method", ["k-scale", "glove", "w4m", "nwa"])
def test_what_was_released_is_read_back_the_same(source, tmp_path, method):
    outcome = released(source, tmp_path / "out", method, k=2)
    trajectories, release = read_as_released(tmp_path / "out", source.paths)
    assert trajectories.digest == outcome.trajectories.digest
    assert release.n_released == outcome.release.n_released
    assert release.n_boxes == outcome.release.n_boxes
    measured = flat(measure_trajectories_against(tmp_path / "out", source.paths))
    assert measured == pytest.approx(flat(outcome.measures), nan_ok=False)
    assert audit_trajectories_against(tmp_path / "out", source.paths).safe


def test_the_public_part_names_nobody_and_the_private_part_says_how_it_was_read(source, tmp_path):
    released(source, tmp_path / "out")
    for file in sorted((tmp_path / "out" / "release").iterdir()):
        assert leaked(file.read_bytes().decode("latin-1"), ROWS) == [], file.name
    run = json.loads((tmp_path / "out" / "private" / "run.json").read_text())
    again = read_trajectories(TrajectorySource.from_dict(run["source"]))
    assert again.trajectories.digest == run["input_digest"]
    assert run["audit"]["safe"]
    assert set(run["seconds"]) == {"read", "solve", "check"}


def test_an_audit_asks_for_the_k_that_was_ordered(source, tmp_path):
    released(source, tmp_path / "out", k=2)
    assert audit_trajectories_against(tmp_path / "out", source.paths, k=2).safe
    assert not audit_trajectories_against(tmp_path / "out", source.paths, k=9).safe


def test_large_exchange_files_are_left_out_with_a_word(source, tmp_path, monkeypatch):
    road = import_module("tripcloak.trajectories.anonymise")
    from tripcloak.trajectories.release import writing

    for module in (writing, road):
        monkeypatch.setattr(module, "MOST", 10)
    outcome = released(source, tmp_path / "out")
    assert any("formats=" in note for note in outcome.notes)
    assert not (tmp_path / "out" / "release" / "trajectories.geojson").exists()
    assert audit_trajectories_against(tmp_path / "out", source.paths).safe


def test_measures_need_the_very_input(source, tmp_path):
    released(source, tmp_path / "out")
    other = write_csv(tmp_path / "other.csv", some_fixes(14, seed=9))
    with pytest.raises(InputError, match="another input"):
        measure_trajectories_against(tmp_path / "out", (str(other),))


def test_a_comparison_tells_what_is_unsafe_and_what_did_not_run(source):
    methods = [
        find_trajectory_method("k-scale")(k=2),
        AsTheyAre(k=2),
        find_trajectory_method("glove")(k=99),
    ]
    safe, unsafe, impossible = compare_trajectories(source, methods).rows
    assert (safe.safe, unsafe.safe, impossible.safe) == (True, False, None)
    assert safe.smallest_support >= 2 > unsafe.smallest_support
    assert (safe.created, safe.deleted) == (0, 0)
    assert unsafe.spatial_km == 0 < safe.spatial_km
    assert "99 people" in impossible.reason
