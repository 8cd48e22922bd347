"""The comparison with cell suppression misses its limits where others protect, publish or see more."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchmarks import tasks, totals
from benchmarks.lines import Skipped
from benchmarks.peers import NoPeers

OURS = {"cells": 10, "cpu_s": 0.1}
THEIRS = {
    "published": 10,
    "cells": 15,
    "cpu_s": 1.0,
    "small": 4,
    "solved": 0,
    "protected": 4,
    "ours_protected": 4,
}


def held(**changes: float) -> list[bool]:
    def rival(flows: Path, levels: str) -> dict[str, float]:
        return {**THEIRS, **changes}

    return [line.ok for line in totals.compared("another", OURS, rival, Path(), "0")]


def test_each_of_three_limits_is_missed_by_itself() -> None:
    assert held() == [True, True, True]
    assert held(solved=1) == [False, True, True]
    assert held(protected=5) == [True, False, True]
    assert held(published=11) == [True, True, False]


def test_the_reason_is_told_where_a_package_cannot_be_had(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*told: Any) -> Path:
        raise NoPeers("no matching distribution")

    monkeypatch.setattr(totals, "environment", refused)
    monkeypatch.setattr(totals.shutil, "which", lambda name: None)
    for rival, words in ((totals.g_confid, "no matching"), (totals.gauss_suppression, "no R here")):
        (line,) = totals.compared("another", OURS, rival, Path(), "0")
        assert isinstance(line, Skipped)
        assert words in str(line)


@pytest.mark.parametrize("levels", ["0", "1"])
def test_flows_are_written_with_the_cells_that_count_them(tmp_path: Path, levels: str) -> None:
    out = tmp_path / "flows.csv"
    ours = tasks.tables("2", "300", levels, str(out))
    names, *rows = (line.replace('"', "").split(",") for line in out.read_text().splitlines())
    assert names[:4] == ["origin", "destination", "trips", "released"]
    assert len(names) == 4 + 3 + 3 * int(levels)
    told = {(at, row[at]) for row in rows for at in range(3, len(names)) if row[at] != "0"}
    assert len(told) == ours["cells"]
    for row in rows:
        assert (int(row[2]) >= totals.K) == (row[3] != "0")
