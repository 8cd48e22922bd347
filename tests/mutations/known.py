"""Mutants that no test can catch or need catch, each with the reason; ``known.toml`` lists them."""

from __future__ import annotations

import tomllib
from pathlib import Path

Known = dict[tuple[str, str, str], str]
"""The reason, by what a mutant is known by."""

LISTED = Path(__file__).with_name("known.toml")


def read_known(path: Path = LISTED) -> Known:
    """Return the reasons by module, scope, and line before and after."""
    listed = tomllib.loads(path.read_text(encoding="utf-8")).get("mutant", [])
    return {(one["module"], one["scope"], one["shown"]): one["reason"] for one in listed}
