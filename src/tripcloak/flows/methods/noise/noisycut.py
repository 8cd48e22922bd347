"""NoisyCut: noisy numbers down both trees, then zones as coarse as the noise demands."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np

from tripcloak.flows.methods.noise.bounding import Shares, all_trips, bounded, refuse_long, whole
from tripcloak.flows.methods.noise.noisy import Contributions, Domains, Drawn, Hidden, NoisyMethod
from tripcloak.flows.methods.noise.noisy_tree import Estimates, NoisyLevel, grow, reconcile
from tripcloak.flows.model import ODMatrix
from tripcloak.ground.arrays import Bools, Floats, Ints
from tripcloak.ground.errors import InputError
from tripcloak.ground.noise import NoiseSource, Purse, gaussian_scale, in_chunks, largest_rho
from tripcloak.ground.options import option
from tripcloak.ground.progress import Progress
from tripcloak.hierarchy import steps_down
from tripcloak.promises import DifferentialPrivacy

FINER, LEAST = 2.5, 0.08
"""How many times as much budget a height gets as the one above it, and its least part of the finest one's."""
SPREAD = 0.9
"""What an even spread over an unknown pair is expected to misplace, as a share of the most it can."""
MEAN_NOISE = math.sqrt(2 / math.pi)
"""The mean size of normal noise, in standard deviations."""


@dataclass(frozen=True, kw_only=True)
class NoisyCut(NoisyMethod):
    """Noisy numbers from the study area down, and then zones as coarse as the noise demands.

    Every traveller's whole vector of flows is scaled down to a norm that a few noisy numbers choose, instead
    of some trips being drawn. Pairs of zones get discrete Gaussian noise height by height, most of it where
    zones are coarse. Numbers of all heights are made to agree; then, looking at noisy numbers alone, every
    pair is released as it is or split into its parts, whichever is expected to misplace fewer trips: by
    spreading them evenly, or by noise. All is rescaled to a noisy number of all trips.

    Parameters
    ----------
    delta
        Above 0: Gaussian noise is never private with certainty.
    contributions
        The norm, in trips, that every traveller is scaled to at every height. By default one for each
        height is found with a part of the budget.
    height
        How high the finest zones may be; 0, the tiles, by default.

    Examples
    --------
    >>> from tripcloak.hierarchy import H3Tiling
    >>> tiling = H3Tiling(8)
    >>> tree = tiling.hierarchy(tiling.encode(np.array([48.80, 48.85]), np.array([2.35, 2.35])))
    >>> zeros = np.zeros(5000, dtype=int)
    >>> matrix = ODMatrix.from_trips(tree, tree, zeros, zeros)
    >>> release = NoisyCut(epsilon=1).anonymise(matrix)
    >>> abs(int(release.trips.sum()) - 5000) < 300, int(release.trips.max()) > 4000
    (True, True)
    """

    name: ClassVar[str] = "noisycut"
    summary: ClassVar[str] = "differential privacy: zones as coarse as the noise demands"
    source: ClassVar[str] = "own; numbers that agree as in Hay et al. 2010, noise by OpenDP"
    one_height: ClassVar[bool] = False

    contributions: int | None = option(
        None,
        help="Trips that every traveller is scaled to, as a Euclidean norm at every height.",
        unset="found with a part of the budget",
        metavar="N",
        least=1,
    )
    height: int | None = option(
        0,
        help="Height of the finest zones there may be, 0 being tiles; never chosen by looking at the data.",
        metavar="HEIGHT",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        refuse_long(self)

    @property
    def scales(self) -> bool:
        """Return that travellers are scaled, always."""
        return True

    def check_request(self) -> None:
        """Raise if there is no epsilon or no delta."""
        super().check_request()
        if self.delta == 0:
            raise InputError(f"{self.name} adds Gaussian noise, which needs a delta above 0; 1e-6 is usual")

    def count(self, matrix: ODMatrix) -> Contributions:
        """Return all trips: they are scaled when it is known how far."""
        return all_trips(matrix, self.most)

    def draw(
        self,
        matrix: ODMatrix,
        counted: Contributions,
        domains: Domains,
        noise: NoiseSource,
        progress: Progress,
    ) -> Drawn:
        """Return noisy numbers of pairs of zones, each as coarse as its noise demands."""
        steps, purse = steps_down(domains, self.height or 0), Purse(noise, 2)
        shares, heights = self._budget(domains, counted)
        found = bounded(matrix, counted, domains, steps, shares, purse)
        scales = [purse.scale(norm, rho) for norm, rho in zip(found.allowed, heights, strict=True)]

        def add(number: int, exact: Ints) -> Ints:
            asked = found.allowed[number], heights[number]
            return in_chunks(lambda some: purse.add(some, *asked), exact, progress)

        levels = grow(matrix, domains, steps, found.counted, scales, add)
        pairs = cut(domains, levels, reconcile(levels), found.total, len(steps) - 1)
        stated = self.stated(matrix, domains, counted)
        facts = (("noise_scale", scales[-1] / found.parts), ("norms", found.norms))
        return Drawn(*pairs, promise=replace(stated, details=(*facts, *stated.details)))

    def stated(
        self, matrix: ODMatrix, domains: Domains, hidden: Hidden | Contributions
    ) -> DifferentialPrivacy:
        """Return what is promised of a release of such a matrix; the norms are not known before."""
        assert self.epsilon is not None
        shares, heights = self._budget(domains, hidden)
        draws = [*shares.draws(len(heights)), *heights]
        return self.promised(
            hidden,
            self.delta,
            "discrete Gaussian noise on pairs of zones of several heights, of which the noise chooses",
            rho=largest_rho(self.epsilon, self.delta),
            heights=len(heights),
            norm_heights=tuple(steps_down(domains, self.height or 0)),
            multipliers=tuple(gaussian_scale(1, rho) for rho in draws),
            study_area=domains[0].study_area,
        )

    def _budget(self, domains: Domains, hidden: Hidden | Contributions) -> tuple[Shares, list[float]]:
        """Return how the zCDP is shared, and that of every height.

        It follows from what is asked for and the zones there could be.
        """
        assert self.epsilon is not None
        steps = steps_down(domains, self.height or 0)
        shares = Shares.of(largest_rho(self.epsilon, self.delta), len(steps), hidden)
        weights = [max(FINER**-depth, LEAST) for depth in reversed(range(len(steps)))]
        return shares, [shares.rest / math.fsum(weights) * weight for weight in weights]


class Pairs(NamedTuple):
    """Released pairs of zones with whole numbers of trips, 1 or more, and the pair of every flow."""

    origin: Ints
    destination: Ints
    trips: Ints
    of_flow: Ints


def cut(
    domains: Domains,
    levels: Sequence[NoisyLevel],
    found: Sequence[Estimates],
    total: int,
    deepest: int,
) -> Pairs:
    """Return pairs of zones that cover everything once, with whole numbers that add up to a total.

    Nothing but noisy numbers and the zones there could be is looked at.

    Parameters
    ----------
    deepest
        The number of the finest level there may be; noise may have ended before.
    """
    parts = [_Parts.of(domains, levels, found, number) for number in range(1, len(levels))]
    opened = _opened(found, parts, deepest)
    mass = [np.ones(1) if found[0].value[0] <= 0 else found[0].value]
    for number, below in enumerate(parts):
        mass.append(below.shared(mass[-1], opened[number]))
    ends = [np.flatnonzero((here > 0) & ~split) for here, split in zip(mass, opened, strict=True)]
    origin = np.concatenate([level.origin[end] for level, end in zip(levels, ends, strict=True)])
    destination = np.concatenate([level.destination[end] for level, end in zip(levels, ends, strict=True)])
    masses = np.concatenate([here[end] for here, end in zip(mass, ends, strict=True)])
    trips = whole(masses, max(total, 0), np.lexsort((destination, origin)))
    kept = np.flatnonzero(trips)
    number_of = np.full(len(trips) + 1, -1, dtype=np.int32)
    number_of[kept] = np.arange(len(kept), dtype=np.int32)
    return Pairs(origin[kept], destination[kept], trips[kept], number_of[_end_of_flow(levels, ends)])


def _end_of_flow(levels: Sequence[NoisyLevel], ends: Sequence[Ints]) -> Ints:
    """Return the released pair of every flow, numbered level by level; -1 where there is none."""
    found, before = np.full(len(levels[0].of_flow), -1), 0
    for level, end in zip(levels, ends, strict=True):
        place = np.full(len(level) + 1, -1)
        place[end] = before + np.arange(len(end))
        found = np.where(place[level.of_flow] >= 0, place[level.of_flow], found)
        before += len(end)
    return found


class _Parts(NamedTuple):
    """The pairs of one level as parts of those above.

    Attributes
    ----------
    parent : array of int
        The pair above.
    value, deviation : array of float
        What the part is believed to hold, and the standard deviation of that.
    even : array of float
        Its share of the tiles of the pair above.
    kept : array of bool
        Whether it is clear enough to keep a number of its own: of so many parts that nobody is in, none
        is expected to be so far above 0.
    """

    parent: Ints
    value: Floats
    deviation: Floats
    even: Floats
    kept: Bools

    @classmethod
    def of(
        cls, domains: Domains, levels: Sequence[NoisyLevel], found: Sequence[Estimates], number: int
    ) -> _Parts:
        level, above = (
            domains[0].tiles(one.origin).astype(float) * domains[1].tiles(one.destination)
            for one in (levels[number], levels[number - 1])
        )
        parent, value = levels[number].parent, found[number].value
        deviation, parts = np.sqrt(found[number].variance), np.bincount(parent)[parent]
        kept = value > np.sqrt(2 * np.log(np.maximum(parts, 2))) * deviation
        return cls(parent, value, deviation, level / above[parent], kept)

    def sums(self, values: Floats, n: int) -> Floats:
        """Return the sum over the parts of every pair above."""
        return np.bincount(self.parent, values, minlength=n)

    def shared(self, mass: Floats, opened: Bools) -> Floats:
        """Return the mass of every part of what is opened; parts without a number share what is left."""
        here = opened[self.parent]
        own, even = np.where(self.kept & here, self.value, 0.0), np.where(~self.kept & here, self.even, 0.0)
        owns, evens = self.sums(own, len(mass)), self.sums(even, len(mass))
        left = self.left(mass)
        factor = np.where(owns > 0, (mass - left) / np.where(owns > 0, owns, 1.0), 0.0)
        each = left / np.where(evens > 0, evens, 1.0)
        parts: Floats = own * factor[self.parent] + even * each[self.parent]
        return parts

    def left(self, mass: Floats) -> Floats:
        """Return what is clearly left of every pair above for the parts that keep no number."""
        n = len(mass)
        rest = np.maximum(mass - self.sums(np.where(self.kept, self.value, 0.0), n), 0.0)
        noise = self.sums(np.where(self.kept, 0.0, self.deviation**2), n)
        return clearly(rest, noise)


def clearly(size: Floats, variance: Floats) -> Floats:
    """Return what a size is without what noise of a variance adds to it; 0 where it may be noise alone.

    >>> clearly(np.array([5.0, 1.0]), np.array([16.0, 16.0])).tolist()
    [3.0, 0.0]
    """
    found: Floats = np.sqrt(np.maximum(size**2 - variance, 0))
    return found


def _opened(found: Sequence[Estimates], parts: Sequence[_Parts], deepest: int) -> list[Bools]:
    """Return, level by level, which pairs are split: a dynamic programme from the finest level up.

    What is misplaced by releasing a pair as it is: what its parts, as far as noise lets one tell, differ
    from an even spread, and what is misplaced inside them. What is misplaced by splitting it: the noise of
    the parts that keep a number, what is misplaced inside those, and all that is left for the others. A trip
    that is misplaced counts once for every level at which it is, so that coarse levels matter, too, where
    nothing can be told of tiles.
    """
    n = len(found)
    opened = [np.zeros(len(level.value), dtype=bool) for level in found]
    value = np.maximum(found[-1].value, 0)
    inside = best = 2 * SPREAD * value * (deepest - (n - 1))
    for number in range(n - 2, -1, -1):
        below, value = parts[number], np.maximum(found[number].value, 0)
        size, lower = len(value), deepest - number
        uneven = np.abs(below.value - below.even * value[below.parent])
        clear = clearly(uneven, below.deviation**2)
        # Numbers are scaled to their sum: the noise of one that holds nearly everything does not matter.
        others = 1 - np.minimum(below.value / np.maximum(value, 1e-9)[below.parent], 1)
        noise = np.where(below.kept, lower * MEAN_NOISE * below.deviation * others + best, 0)
        split = below.sums(noise, size) + lower * 2 * SPREAD * below.left(value)
        looked = np.bincount(below.parent, minlength=size) > 0
        most = lower * 2 * SPREAD * value
        inside = np.where(looked, np.minimum(below.sums(lower * clear + inside, size), most), most)
        # Where no part is clear there is nothing to tell apart.
        some = below.sums(below.kept.astype(float), size) > 0
        opened[number] = some & (split < inside)
        best = np.where(opened[number], split, inside)
    for number, below in enumerate(parts, 1):
        opened[number] &= below.kept
    return opened
