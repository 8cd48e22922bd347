"""The small table of every deterministic method, against the one that was looked at and committed."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from benchmarks.papers.datasets import SMALL
from benchmarks.papers.golden import DATA, deterministic_methods, golden_row
from tripcloak.flows.model import ODMatrix

FILE = Path(__file__).parents[1] / "golden" / "papers_small.json"
GOLDEN: dict[str, dict[str, Any]] = json.loads(FILE.read_text(encoding="utf-8"))
AGAIN = "python -m benchmarks.papers --golden tests/golden/papers_small.json writes it anew, for review"


@cache
def matrix(name: str) -> ODMatrix:
    return next(SMALL[name].matrices(1))


@pytest.mark.parametrize("name", DATA)
def test_the_input_is_the_one_the_table_was_made_on(name: str) -> None:
    assert matrix(name).digest() == GOLDEN[name]["digest"], AGAIN


@pytest.mark.parametrize("name", DATA)
def test_the_table_has_every_method_without_chance(name: str) -> None:
    assert list(GOLDEN[name]["methods"]) == deterministic_methods(), AGAIN


@pytest.mark.parametrize("method", deterministic_methods())
@pytest.mark.parametrize("name", DATA)
def test_no_figure_has_changed(name: str, method: str) -> None:
    expected, found = GOLDEN[name]["methods"].get(method), golden_row(matrix(name), method)
    assert expected is not None, AGAIN
    assert list(found) == list(expected), AGAIN
    changed = {name: (was, found[name]) for name, was in expected.items() if not same(was, found[name])}
    assert not changed, AGAIN


def same(was: Any, found: Any) -> bool:
    """Return whether nothing but the noise of floats is between two values."""
    return found == (pytest.approx(was, rel=1e-9, abs=1e-12) if isinstance(was, float) else was)


def test_the_table_is_not_empty_words() -> None:
    """Most rows are figures, and no two methods of different kinds have all figures in common."""
    for name in DATA:
        rows = GOLDEN[name]["methods"]
        released = {method: row for method, row in rows.items() if "G" in row}
        assert len(released) >= len(rows) - 2
        assert len({json.dumps(row, sort_keys=True) for row in released.values()}) >= len(released) - 1
