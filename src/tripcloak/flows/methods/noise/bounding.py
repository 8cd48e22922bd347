"""Bounding: how much one traveller may change the numbers that get noise, by a sample or by scaling.

A sample counts some trips of each traveller and leaves the others out. Scaling counts all of them, each
with a part of a trip, so that nobody is longer than a norm; a few noisy numbers choose it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from tripcloak.flows.methods.noise.noisy import (
    SAMPLE,
    Contributions,
    Domains,
    Hidden,
    NoisyMethod,
    hidden_of,
)
from tripcloak.flows.methods.noise.scaling import (
    LONGEST,
    PARTS,
    Presence,
    bounded_total,
    class_at,
    class_norm,
    class_sizes,
    norm_classes,
    norms,
    presence_of,
    scaled,
    seen_classes,
)
from tripcloak.flows.model import ODMatrix
from tripcloak.ground.arrays import Floats, Ints
from tripcloak.ground.errors import InputError
from tripcloak.ground.noise import Purse
from tripcloak.ground.options import option

OF_NORMS, OF_TOTAL = 0.08, 0.04
"""Shares of the budget that go to the norms that travellers are scaled to, and to the number of all trips."""
UNSCALED = 1 / 3
"""The share of the travellers who need not be scaled."""


class Shares(NamedTuple):
    """What each draw of noise may cost: of each height's classes of norms, of the total, and all the rest."""

    norms: float
    total: float
    rest: float

    @classmethod
    def of(cls, budget: float, heights: int, hidden: Hidden | Contributions) -> Shares:
        """Return how a budget is shared; norms that are given cost nothing."""
        of_norms = OF_NORMS if hidden.most is None else 0.0
        return cls(of_norms * budget / heights, OF_TOTAL * budget, budget * (1 - of_norms - OF_TOTAL))

    def draws(self, heights: int) -> list[float]:
        """Return what the draws cost that come before those of the numbers themselves."""
        return [*([self.norms] * heights if self.norms else []), self.total]


class Bounded(NamedTuple):
    """What is counted.

    Attributes
    ----------
    counted : array of int
        Of every flow, in parts of a trip.
    allowed : list of int
        The norm of one traveller at every height, in the same parts.
    parts : int
        How many there are of a trip.
    total : int
        A noisy number of all trips.
    """

    counted: Ints
    allowed: list[int]
    parts: int
    total: int

    @property
    def norms(self) -> tuple[float, ...]:
        """Return the norm of one traveller at every height, in trips."""
        return tuple(norm / self.parts for norm in self.allowed)


def bounded(
    matrix: ODMatrix,
    hidden: Hidden | Contributions,
    domains: Domains,
    heights: Sequence[int],
    shares: Shares,
    purse: Purse,
) -> Bounded:
    """Return what is counted, no traveller longer than a norm: the one that is given, or noise chooses it."""

    def total(exact: int, most: int) -> int:
        return int(purse.add(np.array([exact], dtype=np.int64), most, shares.total)[0])

    if matrix.flows.travellers is None:
        trips = matrix.flows.trips
        return Bounded(trips, [1] * len(heights), 1, total(int(trips.sum()), 1))
    present = presence_of(matrix)
    if hidden.most is not None:
        allowed, most = [hidden.most * PARTS] * len(heights), hidden.most
    else:
        lengths = norms(present, matrix, domains, heights, purse.order)
        allowed, most = _chosen(present, lengths, shares, purse)
    counted = scaled(present, matrix, domains, heights, allowed, purse.order)
    return Bounded(counted, allowed, PARTS, total(bounded_total(present, most), most))


def _chosen(present: Presence, lengths: Floats, shares: Shares, purse: Purse) -> tuple[list[int], int]:
    """Return the norms that noisy numbers of travellers choose, and trips of one that the total counts."""
    scale = purse.scale(1, shares.norms)
    sizes = [purse.add(class_sizes(norm_classes(column)), 1, shares.norms) for column in lengths.T]
    allowed = [class_norm(class_at(noisy, scale, UNSCALED)) for noisy in sizes]
    # The norm at the study area is the number of trips: the total counts all of whoever is seen.
    return allowed, class_norm(seen_classes(sizes[0], scale)[1], 1)


@dataclass(frozen=True, kw_only=True)
class BoundedMethod(NoisyMethod):
    """A method that counts a sample of every traveller's trips, or scales all of them.

    Parameters
    ----------
    bounding
        What becomes of travellers with many trips.
    contributions
        10 by default where a sample is counted; where travellers are scaled, the norm is found with a part of
        the budget by default.
    """

    bounding: Literal["sample", "scale"] = option(
        "sample",
        help="Count a sample of a traveller's trips, or scale all of them down to a norm.",
        metavar="WAY",
        values=("sample", "scale"),
    )
    contributions: int | None = option(
        None,
        help="Trips of one traveller that are counted at most, or that all of them are scaled to.",
        unset="10, or found with a part of the budget where trips are scaled",
        metavar="N",
        least=1,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        refuse_long(self)

    @property
    def scales(self) -> bool:
        """Return whether travellers are scaled to a norm."""
        return self.bounding == "scale"

    @property
    def most(self) -> int | None:
        """Return how many trips of one traveller count; None where noise chooses."""
        return self.contributions if self.scales else self.contributions or SAMPLE

    def scales_in(self, matrix: ODMatrix) -> bool:
        """Return whether there are travellers to scale: without ids every trip counts, by itself."""
        return self.scales and matrix.flows.travellers is not None

    def parameters(self, matrix: ODMatrix | None = None) -> dict[str, Any]:
        """Return the method's own parameters, with the contributions that were used."""
        return {**super().parameters(matrix), "contributions": self.most}

    def count(self, matrix: ODMatrix) -> Contributions:
        """Return the trips that are counted; all of them where they are scaled once it is known how far."""
        return all_trips(matrix, self.most) if self.scales else super().count(matrix)


def all_trips(matrix: ODMatrix, most: int | None) -> Contributions:
    """Return all trips, to be scaled later."""
    return Contributions(matrix.flows.trips, *hidden_of(matrix, most))


def refuse_long(method: NoisyMethod) -> None:
    """Raise if travellers are to be scaled to a norm whose square is too large to be exact."""
    if method.scales and method.contributions is not None and method.contributions > LONGEST:
        raise InputError(f"contributions must be {LONGEST:,} at most; got {method.contributions:,}")


def whole(mass: Floats, total: int, order: Ints) -> Ints:
    """Return whole numbers in proportion to masses that add up to a total, rounded along an order.

    >>> whole(np.array([0.1, 0.4, 0.5]), 5, np.array([0, 1, 2])).tolist()
    [1, 2, 2]
    """
    sums = np.cumsum(mass[order])
    ends = np.floor(sums / sums[-1] * total + 0.5).astype(np.int64)
    trips = np.zeros(len(mass), dtype=np.int64)
    trips[order] = np.diff(ends, prepend=0)
    return trips
