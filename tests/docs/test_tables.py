"""The tables of options in the pages on methods: what the methods declare, for every method, once."""

from __future__ import annotations

import re
import runpy
from pathlib import Path
from typing import Any

import pytest

from tripcloak.flows.methods.registry import METHODS
from tripcloak.trajectories.methods.registry import TRAJECTORY_METHODS

DOCS = Path(__file__).parents[2] / "docs"
PAGES = sorted((DOCS / "methods").glob("*.md"))


@pytest.fixture(scope="module")
def tables() -> dict[str, Any]:
    return runpy.run_path(str(DOCS / "make_tables.py"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_tables_are_what_the_methods_declare(page: Path, tables: dict[str, Any]) -> None:
    text = page.read_text(encoding="utf-8")
    assert text == tables["rendered"](text), "run `make docs`"


def test_the_table_of_presets_is_what_they_declare(tables: dict[str, Any]) -> None:
    text = (DOCS / "input.md").read_text(encoding="utf-8")
    assert text.count("<!-- presets -->") == 1
    assert text == tables["with_presets"](text), "run `make docs`"


def test_types_are_what_the_methods_declare(tables: dict[str, Any]) -> None:
    assert tables["TYPES"].read_text(encoding="utf-8") == tables["types"](), "run `make docs`"


def test_every_method_has_its_table_on_one_page() -> None:
    told = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
    marked = re.findall(r"<!-- options of (\S+) -->", told)
    registered = {f"flows/{name}" for name in METHODS} | {
        f"trajectories/{name}" for name in TRAJECTORY_METHODS
    }
    assert len(marked) == len(set(marked)) == told.count("<!-- end of options -->")
    assert set(marked) == registered


def test_a_table_tells_flag_default_and_values(tables: dict[str, Any]) -> None:
    stale = "# A page\n\n<!-- options of flows/nestedcut -->\nstale words\n<!-- end of options -->\nmore\n"
    fresh = tables["rendered"](stale)
    assert "stale words" not in fresh
    assert fresh.endswith("<!-- end of options -->\nmore\n")
    assert "| `first` | `--first` | `origins` | Which axis is cut first (origins or destinations). |" in fresh
    assert tables["rendered"](fresh) == fresh
