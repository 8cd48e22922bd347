"""The origin step of ATG and of the tree knapsack: the cut nearest to a target volume, and the target."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import NamedTuple

import numpy as np

from tripcloak.algorithms.base import Progress
from tripcloak.algorithms.destinations import DestinationMaps, destination_maps
from tripcloak.algorithms.pricing import Offer
from tripcloak.algorithms.pruning import stands_alone
from tripcloak.arrays import Floats, Ints
from tripcloak.criteria import Criterion
from tripcloak.errors import ImpossibleRequestError, InputError
from tripcloak.hierarchy import Hierarchy
from tripcloak.matrix import ODMatrix
from tripcloak.release import main_volume

PER_DECADE = 40
"""Targets tried between a number and ten times that number, at most: steps of about 6 %."""


class Attempt(NamedTuple):
    """A target volume, the destination maps of its origin cut, and what was chosen from them."""

    v_target: float
    maps: DestinationMaps
    offer: Offer
    keeps_limit: bool
    origin_size: float
    destination_size: float

    @property
    def imbalance(self) -> float:
        """Return how far apart the mean sizes of origins and destinations are."""
        return abs(self.origin_size - self.destination_size)


Answer = Callable[[DestinationMaps], Offer | None]
"""Chooses from the destination maps of an origin cut, or says None: this cut cannot keep the limit."""


@dataclass(eq=False)
class OriginStep:
    """Chooses the origin cut for a target volume, and the target volume where none is given.

    Parameters
    ----------
    answer
        Solves the destination maps of a cut.
    """

    matrix: ODMatrix
    criterion: Criterion
    limit: float
    answer: Answer
    _tried: dict[bytes, Attempt | None] = field(default_factory=dict, init=False)

    def settle(self, v_target: float | None, progress: Progress) -> Attempt:
        """Return the attempt at this target; without one, the best balanced of all that keep the limit."""
        if v_target is None:
            return self._balanced(progress)
        attempt = self._attempt(v_target)
        if attempt is None:
            raise ImpossibleRequestError(
                f"not possible: with a v_target of {v_target:g} too many origins are not safe whatever "
                f"becomes of their destinations, and the limit is {self.limit:.0%}. "
                f"A v_target of {self._smallest(v_target):g} would do, or leave it out."
            )
        return attempt

    def _balanced(self, progress: Progress) -> Attempt:
        targets = self._targets
        low, high = -1, len(targets) - 1
        rounds = high.bit_length() + 1
        tried = []
        # Invariant: at `low` origins are finer than destinations, or too fine for the limit. The last
        # target leaves the map whole, which is always safe.
        while high - low > 1:
            middle = (low + high) // 2
            attempt = self._attempt(targets[middle])
            coarser = attempt is not None and attempt.origin_size >= attempt.destination_size
            low, high = (low, middle) if coarser else (middle, high)
            tried.append(attempt)
            progress("trying target volumes", len(tried), rounds)
        tried.append(self._attempt(targets[high]))
        known = [attempt for attempt in tried if attempt is not None]
        return min(known, key=lambda one: (not one.keeps_limit, one.imbalance, one.v_target))

    def _smallest(self, above: float) -> float:
        """Return the smallest of the targets that works; a coarser cut is never less safe."""
        targets = [target for target in self._targets if target > above]
        low, high = 0, len(targets) - 1
        # Invariant: the target at `high` works, and none before `low` does.
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if self._attempt(targets[middle]) else (middle + 1, high)
        return targets[high]

    def _attempt(self, v_target: float) -> Attempt | None:
        zone_of_tile = _nearest(self.matrix.origins, self._below, v_target)
        key = zone_of_tile.tobytes()
        if key not in self._tried:
            self._tried[key] = self._solve(v_target, zone_of_tile)
        return self._tried[key]

    def _solve(self, v_target: float, zone_of_tile: Ints) -> Attempt | None:
        maps = destination_maps(self.matrix, self.criterion, self.limit, zone_of_tile)
        offer = self.answer(maps)
        if offer is None:
            return None
        sizes = maps.mean_sizes(offer.plan)
        if sizes is None:
            # Nothing is fine enough for the price: it left the destinations what origins did not take.
            origin = float(self.matrix.origins.zones.tiles[zone_of_tile[self.matrix.flows.origin]].mean())
            sizes = origin, offer.price - origin
        return Attempt(v_target, maps, offer, offer.hidden <= maps.search.budget, *sizes)

    @cached_property
    def _volume(self) -> Floats:
        volume = self.matrix.volume(main_volume(self.criterion))
        return np.bincount(self.matrix.flows.origin, volume, minlength=self.matrix.origins.n_tiles)

    @cached_property
    def _below(self) -> Floats:
        return self.matrix.origins.sum_below(self._volume)

    @cached_property
    def _targets(self) -> tuple[float, ...]:
        """Numbers of two digits, which tell little of the data, up to one that leaves the map whole."""
        total = self._volume.sum()
        targets = _ladder(int(np.ceil(np.log10(total))) + 1)
        enough = next(i for i, target in enumerate(targets) if target >= total)
        return targets[: enough + 1]


def origin_cut(tree: Hierarchy, volume: Floats, v_target: float) -> Ints:
    """Return the zone of every tile in the cut whose zones' volumes are nearest to a target.

    Nearest means the least sum of ``(volume - v_target) ** 2`` over the zones of the cut, as in
    section 3.2 of the ATG paper. A zone with a single child is the same as that child, which is taken.

    Parameters
    ----------
    volume
        What leaves every tile.

    Examples
    --------
    >>> tree = Hierarchy.from_parents(["a", "b", "c", "ab", "all"], [3, 3, 4, 4, -1])
    >>> tree.zones.ids[origin_cut(tree, np.array([3.0, 4.0, 9.0]), v_target=8)].tolist()
    ['ab', 'ab', 'c']
    """
    return _nearest(tree, tree.sum_below(volume), v_target)


def _nearest(tree: Hierarchy, below: Floats, v_target: float) -> Ints:
    """Return that cut, given what leaves every zone."""
    off = below - v_target
    zone = tree.highest(stands_alone(tree, off * off))
    offsets, members = tree.children
    only = np.diff(offsets) == 1
    if not only.any():
        return zone
    finer = np.arange(len(tree))
    finer[only] = members[offsets[:-1][only]]
    while only[zone].any():
        zone = finer[zone]
    return zone


@cache
def _ladder(decades: int) -> tuple[float, ...]:
    """Return the numbers of two digits that are tried over so many decades."""
    steps = 10 ** (np.arange(decades * PER_DECADE + 1) / PER_DECADE)
    return tuple(sorted({float(f"{step:.1e}") for step in steps}))


def check_target(v_target: float | None) -> None:
    """Raise if this is no volume an origin zone can have."""
    if v_target is not None and not 0 < v_target < float("inf"):
        raise InputError(
            f"v_target is the volume an origin zone should have, a number above 0; got {v_target:g}"
        )


def critical_offer(maps: DestinationMaps) -> Offer | None:
    """Return the best maps at the critical price, None if the limit cannot be kept with this cut."""
    return maps.search.run(maps.highest) if maps.can_keep_limit else None
