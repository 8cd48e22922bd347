"""The pages on several releases and on rounding: their examples are run, and say what happens."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize(("page", "examples"), [("attacks.md", 60), ("rounding.md", 8)])
def test_every_example_tells_what_it_shows(page: str, examples: int) -> None:
    found = doctest.testfile(str(DOCS / page), module_relative=False, encoding="utf-8")
    assert found.attempted >= examples
    assert not found.failed
