"""The comparison with scikit-mobility's attacks says why where it cannot be made, and compares risks."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from benchmarks import attackers
from benchmarks.lines import Skipped
from benchmarks.measuring import Cost
from benchmarks.peers import NoPeers


def no_package(*told: object) -> Path:
    raise NoPeers("no matching distribution")


def test_the_reason_is_told_where_the_package_cannot_be_had(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attackers, "runs", lambda python: True)
    monkeypatch.setattr(attackers, "environment", no_package)
    (line,) = attackers.attackers(tmp_path)
    assert isinstance(line, Skipped)
    assert "no matching distribution" in str(line)
    monkeypatch.setattr(attackers, "runs", lambda python: False)
    (line,) = attackers.attackers(tmp_path)
    assert "no python3.10 that runs" in str(line)


def test_other_risks_and_slow_attacks_miss_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = json.dumps({"unique-location": {"cpu_s": 0.0, "risk": [0.01] * attackers.PEOPLE}})
    monkeypatch.setattr(attackers, "runs", lambda python: True)
    monkeypatch.setattr(attackers, "environment", lambda *told: tmp_path)
    monkeypatch.setattr(attackers, "run", lambda command: Cost(0, 0, 0, told))
    assert [line.ok for line in attackers.attackers(tmp_path)] == [False, False]
    header, *rows = (tmp_path / "visits.csv").read_text().splitlines()
    assert header == "user,seconds,x,y"
    assert len(rows) == attackers.PEOPLE * attackers.SAMPLES


def test_a_python_that_does_not_run_is_none(tmp_path: Path) -> None:
    broken = tmp_path / "python"
    broken.write_text("#!/bin/sh\nexit 127\n")
    broken.chmod(0o755)
    assert not attackers.runs(str(broken))
    assert not attackers.runs(str(tmp_path / "nothing"))
    assert attackers.runs(sys.executable)
