"""ATG-Dual and ATG-Soft: origins cut to a target volume, then all destination maps under one multiplier.

The two steps stand first; the tree knapsack takes them too.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import ClassVar, NamedTuple

import numpy as np

from tripcloak.flows.methods.losses import find_loss
from tripcloak.flows.methods.method import FlowMethod, Solution
from tripcloak.flows.methods.productcut import highest_price, partition_search
from tripcloak.flows.methods.products import DESTINATION, ORIGIN, Axis, SafeProducts, find_products
from tripcloak.flows.methods.tree_method import (
    PricedPartition,
    PriceSearch,
    best_cut,
    beyond_limit,
    certificate,
)
from tripcloak.flows.model import ODMatrix
from tripcloak.flows.release import Bound, main_volume
from tripcloak.ground.arrays import Bools, Floats, Ints
from tripcloak.ground.errors import ImpossibleRequestError, InputError
from tripcloak.ground.options import option
from tripcloak.ground.progress import Progress
from tripcloak.hierarchy import Hierarchy
from tripcloak.promises import Promise


@dataclass(frozen=True, eq=False)
class DestinationMaps:
    """The choice of all destination maps at once (section 3.4 of the ATG paper).

    Attributes
    ----------
    zones : array of int
        The zones of the origin cut that have flows, and the root of the tree behind them.
    products : SafeProducts
        Pairs of a zone of the cut and a destination zone; ``zones`` tells the first one's name.
    may_split : array (axes, n)
        The whole map into the zones of the cut, and any of those by destination; nothing else.
    search : PriceSearch
        The search for the one price of suppression over all maps.
    highest : float
        A price at which only what can never be safe is suppressed.
    """

    zones: Ints
    products: SafeProducts
    may_split: Bools
    search: PriceSearch
    highest: float

    @property
    def can_keep_limit(self) -> bool:
        """Return whether few enough trips start in zones that are not safe with any destination."""
        products = self.products
        # The map as a whole may be split alone, whatever is asked for.
        if not np.isfinite(products.loss[int(self.may_split[ORIGIN, 0]) :]).all():
            return self.search.offer(self.highest).hidden <= self.search.budget
        hopeless = products.total - products.inner[ORIGIN, 0] if self.may_split[ORIGIN, 0] else 0.0
        return bool(hopeless <= self.search.budget)

    def released(self, choice: Ints) -> Ints:
        """Return the products that these choices release."""
        from tripcloak.flows.methods._kernels.cuts import follow_choices

        home = follow_choices(choice, self.products.up)
        return np.flatnonzero(home == np.arange(len(home)))

    def mean_sizes(self, choice: Ints) -> tuple[float, float] | None:
        """Return the mean tiles of origin and destination per unit released, None if nothing is."""
        products = self.products
        released = self.released(choice)
        if len(released) == 0:
            return None
        volume = products.volume[released]
        origin, destination = (
            float((tree.zones.tiles[zone[released]] * volume).sum() / volume.sum())
            for tree, zone in zip(products.axes, products.zone, strict=True)
        )
        return origin, destination

    def solution(self, choice: Ints, bound: Bound | None = None) -> Solution:
        """Return the choices as zones of the matrix's own hierarchies."""
        home = self.products.place(choice)
        return Solution(
            origin_zone=self.zones[self.products.zone[ORIGIN][home]],
            destination_zone=self.products.zone[DESTINATION][home],
            suppressed=home < 0,
            homogeneous=False,
            bound=bound,
        )


def destination_maps(matrix: ODMatrix, promise: Promise, limit: float, zone_of_tile: Ints) -> DestinationMaps:
    """Return the destination maps of an origin cut, given as the zone of every origin tile.

    The size of a zone is its number of tiles.
    """
    zone_of_flow = zone_of_tile[matrix.flows.origin]
    zones, cut = _flat(matrix.origins, zone_of_flow)
    codes = np.empty(len(matrix.origins), dtype=np.int32)
    codes[zones] = np.arange(len(zones), dtype=np.int32)
    # A copy is of one type with the new codes, whatever made the matrix: kernels index the pair by axis.
    destination = matrix.flows.destination.astype(np.int32)
    # The origin cut is settled: the map as a whole must be split into it at any price.
    origins = Axis(cut, codes[zone_of_flow], zones=zones, must_split=len(cut) > 1)
    axes = origins, Axis(matrix.destinations, destination)
    products = find_products(matrix, promise, find_loss("tiles"), axes=axes)
    highest = highest_price(products)
    may_split = np.zeros(products.up.shape, dtype=bool)
    whole = products.zone[ORIGIN] == cut.root
    if len(cut) == 1:
        may_split[DESTINATION] = True
    else:
        may_split[ORIGIN, 0] = True
        may_split[DESTINATION] = ~whole
        products = replace(products, loss=np.where(whole, np.inf, products.loss))
    return DestinationMaps(zones, products, may_split, partition_search(products, may_split, limit), highest)


def _flat(tree: Hierarchy, zone_of_flow: Ints) -> tuple[Ints, Hierarchy]:
    """Return a tree of just the zones that have flows and a root above them, and its zones' old numbers."""
    used = np.flatnonzero(np.bincount(zone_of_flow, minlength=len(tree)))
    used = used[np.argsort(tree.zones.ids[used], kind="stable")]
    zones = used if len(used) == 1 else np.append(used, tree.root)
    parent, height = np.full(len(zones), len(zones) - 1), np.zeros(len(zones), dtype=np.int32)
    parent[-1], height[-1] = -1, len(zones) > 1
    return zones, Hierarchy.from_parents(
        tree.zones.ids[zones], parent, height=height, tiles=tree.zones.tiles[zones]
    )


PER_DECADE = 40
"""Targets tried between a number and ten times that number, at most: steps of about 6 %."""


class Attempt(NamedTuple):
    """A target volume, the destination maps of its origin cut, and what was chosen from them."""

    v_target: float
    maps: DestinationMaps
    offer: PricedPartition
    keeps_limit: bool
    origin_size: float
    destination_size: float

    @property
    def imbalance(self) -> float:
        """Return how far apart the mean sizes of origins and destinations are."""
        return abs(self.origin_size - self.destination_size)


Answer = Callable[[DestinationMaps], PricedPartition | None]
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
    promise: Promise
    limit: float
    answer: Answer
    _tried: dict[bytes, Attempt | None] = field(default_factory=dict, init=False)

    def settle(self, v_target: float | None, progress: Progress) -> Attempt:
        """Return the attempt at this target; without one, the best balanced of all that keep the limit."""
        if v_target is None:
            return self._balanced(progress)
        attempt = self._attempt(v_target)
        if attempt is None and self.promise.by_product:
            raise beyond_limit(1.0)
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
        if not known:
            raise beyond_limit(1.0)
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
        maps = destination_maps(self.matrix, self.promise, self.limit, zone_of_tile)
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
        volume = self.matrix.volume(main_volume(self.promise))
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
    zone = tree.highest(best_cut(tree, off * off))
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


def critical_offer(maps: DestinationMaps) -> PricedPartition | None:
    """Return the best maps at the critical price, None if the limit cannot be kept with this cut."""
    return maps.search.run(maps.highest) if maps.can_keep_limit else None


MAP_SHARE = 0.1
"""ATG-Soft's multiplier as a share of the map (section 3.6 of the paper)."""


@dataclass(frozen=True, kw_only=True)
class ATGDual(FlowMethod):
    """Adaptative tree generalisation under a hard limit (the ATG paper, sections 3.2 to 3.4).

    First the origins: the cut whose zones each emit a volume near ``v_target``. Then, for all its zones
    at once, a destination cut each: the price of suppression (the multiplier of the dual problem) is
    moved from breakpoint to breakpoint until the maps together just keep the limit.

    The origin cut is a guess by design, so the bound holds for this origin cut, not for all others.

    Parameters
    ----------
    v_target
        The volume an origin zone should emit. Without one it is searched for until origins and
        destinations have the same mean size, which the paper found to be best.

    Examples
    --------
    >>> import numpy as np
    >>> from tripcloak.promises import KAnonymity
    >>> from tripcloak.hierarchy import Hierarchy
    >>> tree = Hierarchy.from_parents(["a", "b", "c", "d", "ab", "cd", "all"], [4, 4, 5, 5, 6, 6, -1])
    >>> ends = np.array([[0, 2], [0, 3], [0, 3], [1, 2], [2, 0], [3, 0], [3, 1], [3, 1]]).T
    >>> matrix = ODMatrix.from_trips(tree, tree, *ends)
    >>> release = ATGDual(promise=KAnonymity(k=2), suppression_limit=0, v_target=4).anonymise(matrix)
    >>> [str(tree.zones.ids[zone]) for zone in release.group_origin]
    ['ab', 'ab', 'cd', 'cd']
    """

    name: ClassVar[str] = "atg-dual"
    judges_products: ClassVar[bool] = True
    summary: ClassVar[str] = "origins near a target volume, then the best destination cut for each of them"
    source: ClassVar[str] = "Matet et al. 2023, sections 3.2 to 3.5 and appendix J"
    relaxation: ClassVar[str | None] = "Lagrangian bound for this origin cut"

    v_target: float | None = option(
        None,
        help="Volume that an origin zone should emit.",
        unset="found, so that origins and destinations are of one mean size",
        metavar="VOLUME",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        check_target(self.v_target)

    def solve(self, matrix: ODMatrix, promise: Promise, progress: Progress) -> Solution:
        """Return the origin cut and the destination maps at the critical price."""
        step = OriginStep(matrix, promise, self.suppression_limit, critical_offer)
        attempt = step.settle(self.v_target, progress)
        maps, offer = attempt.maps, attempt.offer
        mean = offer.loss / (maps.products.total - offer.hidden)
        bound = certificate(maps.products, mean, maps.search.bound, self.relaxation)
        return maps.solution(offer.plan, bound)


@dataclass(frozen=True, kw_only=True)
class ATGSoft(ATGDual):
    """Adaptative tree generalisation at a fixed multiplier (the ATG paper, section 3.3, problem H').

    A suppressed trip costs as much as one generalised to ``multiplier`` tiles, so no released flow has
    more tiles at its two ends together (appendix E; here it holds for tiles too, which the paper
    exempts). How much is suppressed follows from that; where it is more than the limit, the request is
    refused with what would do.

    Parameters
    ----------
    multiplier
        In tiles. By default 10 % of the map: of the tiles of the larger hierarchy. A grid has only
        those tiles that occur.

    Examples
    --------
    >>> import numpy as np
    >>> from tripcloak.promises import KAnonymity
    >>> from tripcloak.hierarchy import Hierarchy
    >>> tree = Hierarchy.from_parents(["a", "b", "all"], [2, 2, -1])
    >>> matrix = ODMatrix.from_trips(tree, tree, np.array([0, 0, 0, 1]), np.array([1, 1, 1, 0]))
    >>> soft = ATGSoft(promise=KAnonymity(k=2), suppression_limit=0.3, v_target=2, multiplier=3)
    >>> soft.anonymise(matrix).suppressed.tolist()
    [False, True]
    """

    name: ClassVar[str] = "atg-soft"
    summary: ClassVar[str] = (
        "as atg-dual at a fixed price of suppression; no released flow is coarser than that"
    )
    source: ClassVar[str] = "Matet et al. 2023, sections 3.3 and 3.6, appendix E"

    multiplier: float | None = option(
        None, help="Tiles that a suppressed trip counts as.", unset="a tenth of the map", metavar="TILES"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.multiplier is not None and not 0 < self.multiplier < math.inf:
            raise InputError(f"the multiplier is a number of tiles above 0; got {self.multiplier:g}")

    def solve(self, matrix: ODMatrix, promise: Promise, progress: Progress) -> Solution:
        """Return the origin cut and the destination maps at the multiplier."""
        price = self.multiplier or MAP_SHARE * max(matrix.origins.n_tiles, matrix.destinations.n_tiles)

        def answer(maps: DestinationMaps) -> PricedPartition | None:
            return maps.search.offer(price) if maps.can_keep_limit else None

        step = OriginStep(matrix, promise, self.suppression_limit, answer)
        attempt = step.settle(self.v_target, progress)
        if not attempt.keeps_limit:
            raise ImpossibleRequestError(self._refusal(attempt))
        return attempt.maps.solution(attempt.offer.plan)

    def _refusal(self, attempt: Attempt) -> str:
        """Say which limit or multiplier would do, in numbers rounded so that they tell little."""
        maps, offer = attempt.maps, attempt.offer
        percent = math.ceil(100 * offer.hidden / maps.products.total)
        ways = [f"a limit of {percent} %"] if percent < 100 else []
        ways.append(f"a multiplier of {_enough(maps):g}")
        return (
            f"not possible: a multiplier of {offer.price:g} tiles withholds more than the limit of "
            f"{self.suppression_limit:.0%}. With a v_target of {attempt.v_target:g}, {' or '.join(ways)} "
            "would do; atg-dual finds its own multiplier."
        )


def _enough(maps: DestinationMaps) -> float:
    """Return a multiplier of two digits that keeps the limit, little above the smallest one."""
    maps.search.run(maps.highest)
    price = maps.search.price
    while True:
        digit = 10.0 ** (math.floor(math.log10(price)) - 1)
        price = (math.floor(price / digit) + 1) * digit
        if maps.search.offer(price).hidden <= maps.search.budget:
            return price
