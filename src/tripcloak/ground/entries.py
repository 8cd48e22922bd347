"""Entries of a manifest, read with distrust."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any, TypeGuard

from tripcloak.ground.rulebook import BrokenPart

HUGE = 1e300
LONGEST = 2**63 - 1


def whole(facts: Mapping[str, Any], name: str) -> int:
    """Return a whole number of the manifest, or raise :class:`BrokenPart`.

    >>> whole({"released": 2**63 - 1}, "released") == 2**63 - 1
    True
    >>> whole({"released": 2**63}, "released")
    Traceback (most recent call last):
    ...
    tripcloak.ground.rulebook.BrokenPart: release/manifest.json: 'released' must be a whole number
    """
    value = facts.get(name)
    # No table holds longer ones, and no float either.
    if type(value) is not int or not 0 <= value <= LONGEST:
        raise unreadable(name, "a whole number")
    return value


def unreadable(name: str, expected: str) -> BrokenPart:
    """Return the error for an entry of the manifest that is not what it must be."""
    return BrokenPart(f"release/manifest.json: {name!r} must be {expected}")


def is_number(value: Any) -> TypeGuard[int | float]:
    """Return whether an entry is a finite number.

    >>> is_number(3), is_number(True), is_number("3"), is_number(float("nan"))
    (True, False, False, False)
    """
    # Whole numbers in JSON may be too long for a float.
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < HUGE


def close(told: Any, right: float | None, slack: float = 1e-9) -> bool:
    """Return whether an entry is a number, and the right one up to rounding."""
    return is_number(told) and right is not None and math.isclose(told, right, rel_tol=slack, abs_tol=1e-12)


def figures(words: str) -> list[str]:
    """Return the numbers in a text, as they stand there.

    >>> figures("at most 1,250 of 3.5 %")
    ['1,250', '3.5']
    """
    return re.findall(r"\d[\d,.]*", words)
