"""The small table that the tests check: every measure of every method that leaves nothing to chance.

It is made by `python -m benchmarks.papers --golden tests/golden/papers_small.json`. Look at its difference
before you commit it: each changed figure is a changed release.
"""

from __future__ import annotations

import json
from typing import Any

from benchmarks.papers.datasets import SMALL
from benchmarks.papers.runs import OPEN
from benchmarks.papers.solving import figures
from tripcloak import METHODS, TripcloakError
from tripcloak.flows.model import ODMatrix

DATA = ("paris", "senegal")
"""One on hexagons with raw trip ends, one on a dendrogram."""

OPTIONS: dict[str, dict[str, Any]] = {"suppression": OPEN, "atg-soft": OPEN}
"""Where the usual limit of 10 % would leave nothing to look at."""


def golden() -> str:
    """Return the table as JSON: by data set, the input's digest and every method's figures."""
    table = {}
    for name in DATA:
        matrix = next(SMALL[name].matrices(1))
        rows = {method: golden_row(matrix, method) for method in deterministic_methods()}
        table[name] = {"digest": matrix.digest(), "methods": rows}
    return json.dumps(table, indent=1) + "\n"


def golden_row(matrix: ODMatrix, method: str) -> dict[str, Any]:
    """Return a method's figures without its time, or the reason why it refuses."""
    try:
        found = figures(matrix, method, OPTIONS.get(method, {}))
    except TripcloakError as error:
        return {"refused": str(error)}
    return {name: value for name, value in found.items() if name != "cpu_s"}


def deterministic_methods() -> list[str]:
    """Return the methods that add no noise."""
    return [name for name, method in METHODS.items() if not method.noisy]
