"""Hidden choices: which flows are released depends on a secret, so that nobody reasons backwards from it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import Any, ClassVar, Self

import numpy as np

from tripcloak.ground.arrays import Bools, Ints
from tripcloak.ground.errors import InputError
from tripcloak.promises.promise import UNITS, FlowGroups, Input, OfProducts, Passages, Unit, whole_number

MOST_TIMES = 10
"""More would make flows coarser than anybody could want."""


@dataclass(frozen=True, kw_only=True)
class HiddenChoices(OfProducts):
    """A flow is released only if it reaches a threshold of its own, drawn from k to twice k by a secret.

    The methods are known, and refine wherever k allows it: a flow that was not split further would tell
    that some part of it holds fewer than k. With thresholds that nobody knows it tells no more than that
    some part holds fewer than twice k, which may well be k and more. The threshold of a pair of zones
    is a keyed hash (BLAKE2) of their names, so the same secret gives the same release. It is not monotone.

    Parameters
    ----------
    k, unit
        The threshold that is promised, and what it counts.
    times
        Thresholds are drawn up to so many times k.
    secret
        What thresholds are drawn by; it never leaves the building. Without it, as read from a manifest,
        no more can be told of a group than that it reaches k.

    Examples
    --------
    >>> HiddenChoices(k=10, unit="travellers", secret="not so secret").sentence()
    'which flows are released depends on a secret: one needs a support of 10 to 20 drawn for its zones'
    """

    kind: ClassVar[str] = "hidden choices"
    needs_products: ClassVar[bool] = True
    lacks: ClassVar[str] = "hidden choices draw thresholds above k: give them together with k-anonymity"

    k: float = 10
    unit: Unit | None = None
    times: int = 2
    secret: str | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if not self.k >= 2 or self.k != int(self.k):
            raise InputError(f"k is a whole number of at least 2; got {self.k:g}")
        if self.unit is not None and self.unit not in UNITS:
            raise InputError(f"unit must be one of {', '.join(UNITS)}; got {self.unit!r}")
        if not 2 <= self.times <= MOST_TIMES:
            raise InputError(f"thresholds are drawn up to 2 to {MOST_TIMES} times k; got {self.times}")

    @property
    def highest(self) -> int:
        """Return the largest threshold that may be drawn."""
        return self.times * int(self.k)

    @property
    def private_facts(self) -> dict[str, Any]:
        """Return the secret, for the private record alone: with it the run can be repeated."""
        return {"secret": self.secret}

    def resolve(self, matrix: Input) -> Self:
        """Return the rule with its unit settled, as k-anonymity settles its own."""
        return replace(self, unit=self.unit or ("travellers" if "travellers" in matrix.units else "trips"))

    def safe(self, groups: FlowGroups) -> Bools:
        """Return, for every group, whether it reaches the threshold of its zones."""
        if self.unit is None:
            raise InputError("the unit of k is still open; resolve the promise with a matrix first")
        support = groups.support(self.unit, cap=self.highest)
        if self.secret is None:
            return np.asarray(support >= self.k)
        safe: Bools = support >= self.highest
        unsettled = np.flatnonzero((support >= self.k) & ~safe)
        safe[unsettled] = support[unsettled] >= self._thresholds(groups, unsettled)
        return safe

    def _thresholds(self, groups: FlowGroups, rows: Ints) -> Ints:
        """Return the thresholds of some groups, drawn by the names of their zones."""
        columns = (groups.origin, groups.destination, groups.time)
        trees = [tree for tree, _ in groups.matrix.axes]
        names = [
            [str(name) for name in tree.zones.ids[column[rows]]]
            for tree, column in zip(trees, columns, strict=False)
            if column is not None
        ]
        assert self.secret is not None
        draws = [drawn(self.secret, zones, int(self.k), self.highest) for zones in zip(*names, strict=True)]
        return np.array(draws, dtype=np.int64)

    def to_manifest(self) -> dict[str, Any]:
        """Return plain values for JSON: never the secret."""
        return {"kind": self.kind, "k": whole_number(self.k), "unit": self.unit, "up_to": self.highest}

    @classmethod
    def _read(cls, told: dict[str, Any]) -> Self:
        k, unit, up_to = (told[name] for name in ("k", "unit", "up_to"))
        if len(told) != 3 or type(k) is not int or type(up_to) is not int or up_to % k:
            raise ValueError("thresholds are drawn up to some times k")
        return cls(k=k, unit=unit, times=up_to // k)

    def sentence(self) -> str:
        """Return the rule in words."""
        return (
            f"which flows are released depends on a secret: one needs a support of {int(self.k):,} to "
            f"{self.highest:,} drawn for its zones"
        )

    def in_full(self) -> Passages:
        """Return what it covers, and what not."""
        return Passages(
            f"**{self.sentence()}**\n",
            "Whoever knows how the zones were chosen cannot conclude that a part of a flow is small. ",
            ("It adds nobody to a flow; k-anonymity says how many there are.",),
        )


def drawn(secret: str, zones: tuple[str, ...], k: int, highest: int) -> int:
    """Return the threshold of some zones, from k to the highest, each as likely as the others.

    >>> drawn("not so secret", ("a", "b"), 10, 20) == drawn("not so secret", ("a", "b"), 10, 20)
    True
    """
    key = blake2b(secret.encode(), digest_size=32).digest()
    mark = blake2b("\0".join(zones).encode(), key=key, digest_size=8).digest()
    return k + int.from_bytes(mark, "big") % (highest - k + 1)
