"""The reference: made from the docstrings, with every public name in it once."""

from __future__ import annotations

import re
import runpy
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import tripcloak as tc

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def maker() -> dict[str, Any]:
    return runpy.run_path(str(DOCS / "make_reference.py"))


@pytest.fixture(scope="module")
def page() -> str:
    return (DOCS / "api.md").read_text(encoding="utf-8")


def test_the_reference_is_what_the_docstrings_say(maker: dict[str, Any], page: str) -> None:
    assert page == maker["rendered"](), "run `make docs`"


def test_every_public_name_is_in_it_once(page: str) -> None:
    told = Counter(re.findall(r"^### tc\.(\S+)(?: \(module\))?$", page, flags=re.M))
    assert set(told.values()) == {1}
    wing = {f"trajectories.{name}" for name in tc.trajectories.__all__ if name not in tc.__all__}
    shared = {
        f"trajectories.{name}" for name in ("anonymise", "describe", "compare", "open", "audit", "measures")
    }
    assert set(told) == {*tc.__all__} - {"__version__"} | wing | shared
    for name in told:
        # Something is said below every heading.
        assert re.search(
            rf"^### tc\.{re.escape(name)}(?: \(module\))?\n\n(```python\n[^`]*```\n\n)?\S", page, flags=re.M
        ), name


def test_links_within_the_page_lead_to_headings(maker: dict[str, Any], page: str) -> None:
    headings = {maker["anchor"](title) for title in re.findall(r"^#+ (.+)$", page, flags=re.M)}
    assert set(re.findall(r"\]\(#([^)]+)\)", page)) <= headings


def test_parameters_are_lists_and_examples_are_code(maker: dict[str, Any]) -> None:
    words = (
        "Return it.\n\nParameters\n----------\nk\n    How many.\n    Or more.\n"
        "unit\n    Of :class:`what`.\n\nExamples\n--------\n>>> 1 + 1\n2\n"
    )
    assert maker["said"](words, {"k": ": int = 10"}) == (
        "Return it.\n\n**Parameters**\n\n- `k: int = 10`: How many. Or more.\n- `unit`: Of `what`.\n\n"
        "```pycon\n>>> 1 + 1\n2\n```\n"
    )
