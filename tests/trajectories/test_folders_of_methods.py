"""Folders of methods that promise something else than containment: written, audited, and read back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import tripcloak as tc

ASKED: dict[str, dict[str, Any]] = {
    "grid": {"k": 3, "cell": 2000, "interval": 86400, "withheld": 0.9},
    "grid on hexagons": {"k": 3, "cells": "h3", "resolution": 7, "interval": 86400, "withheld": 0.9},
    "k-m": {"k": 3, "m": 1, "cell": 2000, "interval": 86400, "withheld": 0.9},
    "mix-zones": {"k": 2, "width": 10_000, "longest": 86400},
    "dummies": {"sd": 0.6, "ld": 0.3, "cell": 2000, "dst": 1.0},
    "safepath": {"epsilon": 50.0, "cell": 20_000, "interval": 86400, "length": 1},
    "adatrace": {"epsilon": 50.0, "cell": 20_000, "interval": 21600},
    "locations": {"epsilon": 50.0, "cell": 20_000, "stay": 0, "crowd": 1},
}


@pytest.mark.parametrize("case", ASKED)
def test_a_folder_passes_its_audit_and_says_what_it_is(case: str, tmp_path: Path) -> None:
    method = case.partition(" on ")[0]
    calls = tc.Cdr(users=120, days=2).table()
    out = tmp_path / "out"
    release = tc.trajectories.anonymise(calls, method=method, out=str(out), **ASKED[case])
    audit = release.audit()
    assert audit.safe, audit.broken
    promise = release.facts["promise"]
    text = (out / "release" / "README.md").read_text(encoding="utf-8")
    assert promise["sentence"]
    assert f"`{method}`" in text
    assert ("or a dummy was put there" in text) == (method == "dummies")
    again = tc.open(str(out))
    assert again.facts["promise"] == promise
    assert tc.audit(str(out), against=calls).safe
