"""The bench of several releases asks for what it says, and misses its limits where they are."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks import several
from benchmarks.measuring import Cost


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    """What is asked of the command, which answers at once: dearer with a ledger, dearest of all to attack."""
    told: list[tuple[str, ...]] = []

    def answered(*arguments: str, answers: tuple[int, ...] = (0,)) -> Cost:
        told.append(arguments)
        cpu_s, peak_mb = {"difference": (61.0, 4001.0)}.get(arguments[0], (10.0, 100.0))
        if "--ledger" in arguments:
            cpu_s = 16.0
        assert (1 in answers) == (arguments[0] == "difference")
        return Cost(cpu_s, 0, peak_mb, json.dumps({"groups": 7 + len(told), "complete": True}))

    monkeypatch.setattr(several, "tripcloak", answered)
    monkeypatch.setattr(several, "city", lambda folder, trips: folder / f"{trips}.parquet")
    return told


def test_ten_releases_are_attacked_together(asked: list[tuple[str, ...]], tmp_path: Path) -> None:
    lines = list(several.attacked(tmp_path, 500))
    assert [line.ok for line in lines] == [False, False]
    assert "difference of 10 releases of 8 flows and more" in str(lines[0])
    assert "| 60 CPU s |" in str(lines[0])
    assert "| 4 GB |" in str(lines[1])
    *made, last = asked
    assert len({arguments[1:] for arguments in made}) == 10
    assert last[0] == "difference"
    assert len({path for path in last if str(tmp_path) in path}) == 10


def test_five_releases_are_in_the_ledger_before_the_clock_runs(
    asked: list[tuple[str, ...]], tmp_path: Path
) -> None:
    line = several.beside_earlier(tmp_path, 500)
    assert line.measured == 1.6
    assert line.ok
    assert [arguments[0] for arguments in asked] == ["ledger"] + ["anonymise"] * 7
    assert ["--ledger" in arguments for arguments in asked[1:]] == [True] * 5 + [False, True]
    assert asked[-1][-4:-2] == asked[-2][-2:]
