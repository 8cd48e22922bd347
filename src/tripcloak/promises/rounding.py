"""Rounding: published numbers are multiples of a base, and never far from the true ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from tripcloak.ground.arrays import Bools
from tripcloak.ground.errors import InputError
from tripcloak.promises.promise import FlowGroups, Passages, Promise


@dataclass(frozen=True, kw_only=True)
class Rounding(Promise):
    """Every published number of trips is a multiple of a base, and less than that away from the true one.

    Which of the two multiples around a number is told, a secret decides. It asks nothing of a group.

    Parameters
    ----------
    base
        What numbers are multiples of.
    sums
        Whether the totals of every origin zone, of every destination zone and of all flows are as close.

    Examples
    --------
    >>> Rounding(base=5).sentence()
    'every number of trips is a multiple of 5; the true one of a flow, of a zone and of all flows is less than
    5 away'
    >>> Rounding(base=1)
    Traceback (most recent call last):
    tripcloak.InputError: numbers are rounded to multiples of 2 or more; got 1
    """

    kind: ClassVar[str] = "rounding"
    joins: ClassVar[bool] = True
    lacks: ClassVar[str] = "rounding counts nobody: give it together with k-anonymity"

    base: int = 5
    sums: bool = True

    def __post_init__(self) -> None:
        if self.base < 2:
            raise InputError(f"numbers are rounded to multiples of 2 or more; got {self.base}")

    @property
    def plain(self) -> bool:
        """Return that it asks for nothing: searches need not look at it."""
        return True

    @property
    def rounding(self) -> Self:
        """Return the rule itself."""
        return self

    def safe(self, groups: FlowGroups) -> Bools:
        """Return that every group may be released."""
        return np.ones(len(groups), dtype=bool)

    @classmethod
    def _read(cls, told: dict[str, Any]) -> Self:
        if type(told["base"]) is not int or type(told["sums"]) is not bool or len(told) != 2:
            raise ValueError("rounding has a whole base, and sums or none")
        return cls(**told)

    def sentence(self) -> str:
        """Return the rule in words."""
        of = "of a flow, of a zone and of all flows" if self.sums else "of a flow"
        return (
            f"every number of trips is a multiple of {self.base:,}; the true one {of} is less than "
            f"{self.base:,} away"
        )

    def in_full(self) -> Passages:
        """Return what it covers, and what not."""
        return Passages(
            f"**{self.sentence()}**\n",
            "Numbers add up: every total is the sum of the rounded numbers of its flows. ",
            ("Which multiple is told, a secret decides; a sum of many numbers is known better than one.",),
        )
