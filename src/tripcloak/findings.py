"""Findings: what became of a rule that an audit checks, in words that give nothing away."""

from __future__ import annotations

from dataclasses import dataclass

FEW = 10
"""Smaller numbers of people, flows, zones, samples or rows are not told in words."""


@dataclass(frozen=True)
class Finding:
    """What became of one rule.

    Attributes
    ----------
    rule : str
        The rule's name.
    ok : bool
        Whether it holds.
    words : str
        What holds, or what does not. Never an id, a coordinate or an unreleased number.
    """

    rule: str
    ok: bool
    words: str


def some(number: int, noun: str) -> str:
    """Return a number of things in words that do not tell a small one.

    Examples
    --------
    >>> some(3, "flows"), some(1250, "flows")
    ('fewer than 10 flows', '1,250 flows')
    """
    return f"fewer than {FEW} {noun}" if number < FEW else f"{number:,} {noun}"
