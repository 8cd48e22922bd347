"""How far a run looks: as far as on every change, or far and long, as ``make test-deep`` does."""

from __future__ import annotations

import os

PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "repeatable")
DEEP = PROFILE == "explore"
ALL_CASES = DEEP or "TRIPCLOAK_ALL_CASES" in os.environ
"""Whether all cases of a test are run, however much alike they are: in deep runs, and on mutants."""

EXAMPLES = {"repeatable": 30, "explore": 2000}
"""Examples of a property that does not ask for a number of its own."""


def deeper(usual: int) -> int:
    """Return a number of examples, in a deep run as many times more as a property has by default."""
    return usual * EXAMPLES[PROFILE] // EXAMPLES["repeatable"]


def size(usual: int, deep: int) -> int:
    """Return how large an input is to be."""
    return deep if DEEP else usual
