"""The bench's part on trajectories: it runs in small, says what it skips, and sees who wins."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from benchmarks import survey, trajectories, trajectory_quality
from benchmarks.lines import Line, Skipped
from benchmarks.measuring import Cost
from benchmarks.trajectory_tasks import TASKS
from tripcloak.trajectories.methods.registry import TRAJECTORY_METHODS

TINY = trajectories.Sizes(pairs=300, paired_users=40, users=60, growing=(40, 60), compared_users=40)


def in_here(name: str, *arguments: str) -> Cost:
    """Stands for a process of its own, which would take longer to start than the task."""
    return Cost(0, 0, 100, json.dumps(TASKS[name](*arguments)))


@pytest.fixture
def tasks_in_here(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (survey, trajectories, trajectory_quality):
        monkeypatch.setattr(module, "trajectory_task", in_here)


@pytest.mark.usefixtures("tasks_in_here")
def test_every_line_is_measured_in_small(tmp_path: Path) -> None:
    lines = list(trajectories.trajectories(tmp_path, TINY, data=None))
    measured = {line.what: line for line in lines if isinstance(line, Line)}
    for begin, lines_of in (
        ("k-merge, pairs", 2),
        ("k-scale, 60 people, k = 2, K = 200", 5),
        ("k-scale, 60 people, k = 10, K = 1,000", 4),
        ("k-scale, growth from 40 to 60 people", 1),
        ("glove, 40 people", 1),
        ("w4m, 60 people", 1),
        ("k-scale, 40 made-up people, k = 5", 1),
    ):
        assert sum(what.startswith(begin) for what in measured) == lines_of, begin
    assert all(line.measured > 0 for what, line in measured.items() if "created or deleted" not in what)
    safe = [line.remark for what, line in measured.items() if "mean spatial error" in what]
    assert len(safe) >= 8
    assert all("; safe, " in remark for remark in safe)
    skipped = [line.reason for line in lines if isinstance(line, Skipped) and "quality on" in line.what]
    assert skipped == ["no folder named with --data"] * 2


@pytest.mark.usefixtures("tasks_in_here")
def test_the_survey_s_methods_are_measured_against_their_limits(tmp_path: Path) -> None:
    some = [("dummies", {}), ("dptd", {"epsilon": 1e6}), ("grid", {"k": 2, "withheld": 0.9})]
    lines = list(survey.survey(tmp_path, {40: 1e9, 60: 1e-9}, some))
    assert [line.ok for line in lines] == [True, False] * 3
    assert lines[0].what == "dummies, 40 people, as it comes"
    assert lines[5].what == "grid, 60 people, k 2, withheld 0.9"
    assert survey.SIZES == {10_000: 60.0, 100_000: 720.0}
    assert {name for name, _ in survey.METHODS} | {"k-scale", "glove", "w4m", "nwa"} == set(
        TRAJECTORY_METHODS
    )


def told(space: float, time: float, created: float = 0.0) -> dict[str, Any]:
    measures = {
        "spatial_error_km": {"mean": space},
        "time_error_minutes": {"mean": time},
        "created": created,
        "deleted": 0.0,
    }
    return {"measures": measures, "promise": "p", "safe": True, "smallest_support": 2, "cpu_s": 1.0}


@pytest.mark.parametrize(
    ("ours", "verdicts"),
    [
        (told(1.9, 4.9), [True] * 6),
        (told(2.1, 4.9), [False, True, True] * 2),
        (told(1.9, 5.1), [True, True, True, True, False, True]),
        (told(1.9, 9.1), [True, False, True] * 2),
        (told(1.9, 4.9, created=0.1), [True, True, False] * 2),
    ],
)
def test_k_scale_must_win_on_both_errors_and_change_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ours: dict[str, Any], verdicts: list[bool]
) -> None:
    """Groups are held to GLOVE's; nu-k-pick to the least of each error, whichever peer it is of.

    A method that refuses is told as such.
    """
    answers = {"k-scale": ours, "glove": told(2, 9), "w4m": told(8, 5), "nwa": {"refused": "too few"}}
    (tmp_path / "calls-40.parquet").touch()
    (tmp_path / "my-geolife.parquet").touch()
    monkeypatch.setattr(
        trajectory_quality,
        "trajectory_task",
        lambda name, path, method, options: Cost(0, 0, 0, json.dumps(answers[method])),
    )
    lines = list(trajectory_quality.quality(tmp_path, 40, tmp_path))
    judged = [line.ok for line in lines if isinstance(line, Line) and math.isfinite(line.limit)]
    data_sets, ks = 2, len(trajectory_quality.KS)
    assert judged == verdicts * data_sets * ks
    skipped = [str(line) for line in lines if isinstance(line, Skipped)]
    assert sum("too few" in line for line in skipped) == data_sets * ks
    assert sum("quality on Foursquare NYC" in line for line in skipped) == 1
