"""The whole road with jumps in the input: nobody is singled out, and the audit of files would say so."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tripcloak.cli.audit import _supports
from tripcloak.ground.errors import InternalError
from tripcloak.trajectories.anonymise import TrajectoryRequest, anonymise_trajectories
from tripcloak.trajectories.audit import audit_folder
from tripcloak.trajectories.checking import ReadInput, audit_trajectories_against
from tripcloak.trajectories.methods import method as contract
from tripcloak.trajectories.methods.registry import find_trajectory_method
from tripcloak.trajectories.reading import TrajectorySource, read_trajectories
from worlds.fixes import some_fixes
from worlds.released_trajectories import written
from worlds.trips import write_csv

RULE = "raw-record-reaches-k"


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> TrajectorySource:
    """Return people in a small town, some of whom were, for a moment, where another one was."""
    rows = some_fixes(14)
    for at in range(3, len(rows) - 8, 8):
        # A second fix at the other end of town, one second later than nobody can be there at this speed.
        there = max(rows[at + 1 : at + 40], key=lambda row: abs(float(row["lat"]) - float(rows[at]["lat"])))
        rows.append({**rows[at], "lat": there["lat"], "lon": there["lon"]})
    path = write_csv(tmp_path_factory.mktemp("raw") / "fixes.csv", rows)
    return TrajectorySource(paths=(str(path),), max_speed=1.0, seconds=600, metres=100)


def request(source: TrajectorySource, out: Path) -> TrajectoryRequest:
    return TrajectoryRequest(
        source=source, method=find_trajectory_method("k-scale")(k=2, constraint="nu-k-pick"), out=out
    )


def test_the_raw_record_is_counted_and_told(source, tmp_path):
    outcome = anonymise_trajectories(request(source, tmp_path / "out"))
    told = outcome.to_dict()["audit"]["raw_record"]
    assert told["people"] > 0
    assert min(told["smallest_support"], told["smallest_two_sided_support"]) >= 2
    assert outcome.release.facts["widened_samples"] > 0
    audit = audit_trajectories_against(tmp_path / "out", source.paths)
    assert audit.numbers["raw_record"] == told
    assert {finding.rule: finding.ok for finding in audit.findings}[RULE]
    assert json.loads((tmp_path / "out/private/run.json").read_text())["audit"]["raw_record"] == told
    lines = _supports(audit)
    assert lines[-1].endswith(
        f"dropped when the data was read: {told['smallest_support']} released trajectories."
    )


def test_without_widening_there_is_no_release_and_no_folder_that_passes(source, tmp_path, monkeypatch):
    monkeypatch.setattr(contract, "cover_dropped", lambda _, solution, __: solution)
    with pytest.raises(InternalError, match=rf"\({RULE}\)"):
        anonymise_trajectories(request(source, tmp_path / "out"))
    assert not (tmp_path / "out").exists()
    reading = read_trajectories(source)
    release = find_trajectory_method("k-scale")(k=2, constraint="nu-k-pick").anonymise(reading.trajectories)
    folder = written(tmp_path / "unsafe", reading.trajectories, release)
    assert audit_folder(folder, ReadInput(reading.source)).broken == (RULE,)
