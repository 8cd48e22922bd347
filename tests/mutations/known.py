"""Mutants that no test can catch or need catch, each with the reason; ``known.toml`` lists them."""

from __future__ import annotations

import tomllib
from pathlib import Path

from mutations.mutants import Mutant

Known = dict[tuple[str, str, str], str]
"""The reason, by what a mutant is known by: its own name, or that of its line."""

LISTED = Path(__file__).with_name("known.toml")


def read_known(path: Path = LISTED) -> Known:
    """Return the reasons by module, scope, and line before and after, or line alone for all its mutants."""
    listed = tomllib.loads(path.read_text(encoding="utf-8")).get("mutant", [])
    return {(one["module"], one["scope"], one.get("shown", one.get("line"))): one["reason"] for one in listed}


def reason_for(mutant: Mutant, known: Known) -> str | None:
    """Return why nobody need catch a mutant, None where somebody must."""
    return known.get(mutant.name) or known.get(mutant.name_of_line)
