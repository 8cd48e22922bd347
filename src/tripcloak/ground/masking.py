"""Masking: numbers in words that tell no small one."""

from __future__ import annotations

FEW = 10
"""Smaller numbers of people, flows, zones, samples or rows are not told in words."""


def mask_small(
    number: int, noun: str = "", *, people: int | None = None, least: int = FEW, zero: bool = False
) -> str:
    """Return a number of things in words that do not tell a small one.

    Parameters
    ----------
    noun
        What is counted.
    people
        How many people the things belong to; where those are few, the number may not be told either.
    least
        The smallest number that is told.
    zero
        Whether it may be told that there is nothing.

    Examples
    --------
    >>> mask_small(3, "flows"), mask_small(1250, "flows"), mask_small(1250, "fixes", people=3)
    ('fewer than 10 flows', '1,250 flows', 'some fixes')
    """
    if (number if people is None else min(number, people)) >= least or (zero and number == 0):
        words = f"{number:,}"
    else:
        words = f"fewer than {least:,}" if people is None else "some"
    return f"{words} {noun}".rstrip()


def guarded(number: int, k: float) -> int | str:
    """Return a number that may be told beside a promise of k: itself when 0 or at least k, otherwise words.

    "Fewer than 2" would say one, so below 3 nothing but 0 is told.

    >>> guarded(0, 10), guarded(25, 10), guarded(3, 10), guarded(1, 2)
    (0, 25, 'fewer than 10', 'fewer than 3')
    """
    least = max(int(k), 3)
    return number if number == 0 or number >= least else mask_small(number, least=least)
