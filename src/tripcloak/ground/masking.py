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
