"""The auditor's own reading of rounding: what numbers are multiples of, and how far they may be away."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from tripcloak.ground.entries import unreadable

ENTRY = "promise"
ROUNDED = "every released number is a multiple around the auditor's recount of its group"
EXACT = "not promised: numbers are exact, and not rounded to multiples"


class StatedRounding(NamedTuple):
    """What numbers are multiples of, and whether sums are as close to the true ones as single numbers."""

    base: int
    sums: bool

    @property
    def figures(self) -> str:
        """Return the numbers that a sentence on it gives."""
        return f"{self.base:,} {self.base:,}"

    def fits(self, thresholds: Mapping[str, float]) -> bool:
        """Return whether no safe flow is told below its threshold: trips are no fewer than travellers.

        >>> StatedRounding(5, True).fits({"travellers": 10.0}), StatedRounding(4, True).fits({"trips": 10.0})
        (True, False)
        """
        least = max((k for unit, k in thresholds.items() if unit != "population"), default=None)
        return least is not None and least % self.base == 0

    def broken(self, told: str, recount: str) -> str:
        """Return SQL that is true where a published number is no multiple, or not close to the recount.

        >>> StatedRounding(5, True).broken("a", "b")
        'not coalesce(a % 5 = 0 and abs(a - b) < 5, false)'
        """
        return f"not coalesce({told} % {self.base} = 0 and abs({told} - {recount}) < {self.base}, false)"


def read_rounding(told: Mapping[str, Any]) -> StatedRounding:
    """Return the rounding that a part of a promise states, or raise :class:`BrokenPart`.

    >>> read_rounding({"kind": "rounding", "base": 5, "sums": True}).base
    5
    """
    if set(told) != {"kind", "base", "sums"}:
        raise unreadable(ENTRY, "of a known kind, with base, sums and no more")
    base, sums = told["base"], told["sums"]
    if type(base) is not int or base < 2 or type(sums) is not bool:
        raise unreadable(ENTRY, "multiples of a whole number of 2 or more, with close sums or without")
    return StatedRounding(base, sums)
