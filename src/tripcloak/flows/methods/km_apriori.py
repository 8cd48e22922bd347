"""k^m-anonymity by apriori: itemsets of growing size are made safe, the cheapest first."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tripcloak.flows.methods.losses import (
    ABOUT_LOSS,
    ABOUT_TIME_WEIGHT,
    Loss,
    LossName,
    SlotLoss,
    find_loss,
    losses_of,
    require_weight,
)
from tripcloak.flows.methods.method import FlowMethod, Settled, Solution, budget_of, whole_units
from tripcloak.flows.methods.products import Axis, find_products
from tripcloak.flows.model import Groups, Numbering, ODMatrix, group_flows
from tripcloak.flows.release import main_volume
from tripcloak.ground.arrays import Bools, Floats, Ints
from tripcloak.ground.errors import InputError
from tripcloak.ground.options import option
from tripcloak.ground.progress import Progress, silent
from tripcloak.ground.spelling import spelt
from tripcloak.hierarchy import Hierarchy
from tripcloak.promises import KMAnonymity, Promise

SLOTS = 3
"""Zones of an itemset; those of unknown items are -1 and come first."""


@dataclass(frozen=True, eq=False)
class Items:
    """All zones of all axes, numbered in one row, axis after axis.

    Attributes
    ----------
    matrix, promise
        The trips, and when those that share an itemset are safe.
    losses
        What a tile loses when it is released as a zone, for each axis.
    units
        The volume of every flow.
    """

    matrix: ODMatrix
    promise: Promise
    losses: Sequence[Loss]
    units: Floats

    @property
    def trees(self) -> list[Hierarchy]:
        """Return the tree of every axis."""
        return [tree for tree, _ in self.matrix.axes]

    @cached_property
    def first(self) -> list[int]:
        """Return the number of the first zone of every axis, and the number of all zones."""
        return np.append(0, np.cumsum([len(tree) for tree in self.trees])).tolist()

    @cached_property
    def parent(self) -> Ints:
        """Return the parent of every zone, -1 at the roots."""
        parts = [
            np.where(tree.parent >= 0, tree.parent.astype(np.int64) + first, -1)
            for tree, first in zip(self.trees, self.first, strict=False)
        ]
        return np.concatenate(parts)

    @cached_property
    def code(self) -> Ints:
        """Return a number for every zone; the sum over an itemset's zones tells it from all others."""
        sizes = [len(tree) + 1 for tree in self.trees]
        if math.prod(sizes) >= 2**63:
            raise InputError("more itemsets than 63 bits can number; use coarser tiles or slots")
        scales = np.append(1, np.cumprod(sizes)[:-1]).tolist()
        parts = [
            np.arange(1, size, dtype=np.int64) * scale for size, scale in zip(sizes, scales, strict=True)
        ]
        return np.concatenate(parts)

    @cached_property
    def whole(self) -> Floats:
        """Return what is lost in all if every trip of a zone is released as that zone."""
        parts = []
        for (tree, tile), loss in zip(self.matrix.axes, self.losses, strict=False):
            at = tree.lineage.ancestors
            lost = losses_of(loss, tree, at) * np.bincount(tile, self.units, minlength=tree.n_tiles)
            parts.append(np.bincount(at[at >= 0], lost[at >= 0], minlength=len(tree)))
        return np.concatenate(parts)

    def split(self, values: NDArray[Any]) -> list[NDArray[Any]]:
        """Return values of all zones axis by axis, as views."""
        return np.split(values, self.first[1:-1])

    def subsets(self, size: int) -> list[tuple[int, ...]]:
        """Return every choice of axes whose items may be known."""
        return list(combinations(range(len(self.trees)), size))

    def start(self) -> list[Ints]:
        """Return, for every axis, the finest cut whose zones cover as much as is asked for."""
        return [self._covering(axis) for axis in range(len(self.trees))]

    def safe(self, size: int) -> Ints:
        """Return the codes of all safe itemsets of a size, as a hash table."""
        numbering = Numbering()
        for axes in self.subsets(size):
            zones = self._safe_zones(axes[0]) if size == 1 else self._safe_products(axes)
            codes = sum(self.code[zone + self.first[axis]] for zone, axis in zip(zones, axes, strict=True))
            numbering.add(np.asarray(codes).view(np.uint64))
        return numbering.table[0]

    def unsafe(self, size: int, cuts: Sequence[Ints]) -> Ints:
        """Return the itemsets of a size that occur between cuts and are not safe."""
        found = []
        for axes in self.subsets(size):
            groups = self._groups(axes, cuts)
            columns = groups.origin, groups.destination, groups.time
            items = np.full((len(groups), SLOTS), -1, dtype=np.int64)
            for slot, axis in enumerate(axes, SLOTS - size):
                column = columns[axis]
                assert column is not None
                items[:, slot] = column + self.first[axis]
            found.append(items[~self.promise.safe(groups)])
        return np.concatenate(found)

    def released(
        self, size: int, cuts: Sequence[Ints], most: float = math.inf, *, at_once: bool = False
    ) -> Bools | None:
        """Return the flows that may be released, or None if more than ``most`` would have to be withheld.

        Without a flow what it shared items with may be too rare as well. ``at_once`` leaves that aside.
        """
        at_once = at_once or size == len(self.trees)
        shared = [self._groups(axes, cuts) for axes in self.subsets(size)]
        kept = np.ones(self.matrix.n_flows, dtype=bool)
        # Invariant: no flow that is out could stay.
        while True:
            still = kept
            for groups in shared:
                still = still & self._enough(groups, kept if at_once else still)
            if self.units[~still].sum() > most:
                return None
            if at_once or still[kept].all():
                return still
            kept = still

    def zones(self, cuts: Sequence[Ints]) -> list[Ints]:
        """Return the zone of every flow between cuts, axis by axis."""
        return [cut[tile] for cut, (_, tile) in zip(cuts, self.matrix.axes, strict=True)]

    def chosen(self, cuts: Sequence[Ints]) -> Ints:
        """Return the zones of cuts."""
        return np.concatenate([np.unique(cut) + first for cut, first in zip(cuts, self.first, strict=False)])

    def lost(self, cuts: Sequence[Ints]) -> Floats:
        """Return what is lost below every zone between cuts; nothing for zones below them."""
        chosen = self.chosen(cuts)
        lost = np.zeros(len(self.parent))
        lost[chosen] = self.whole[chosen]
        # Each part is a view: what is added to it is added to the whole.
        for tree, part in zip(self.trees, self.split(lost), strict=True):
            for level in tree.levels[:-1]:
                np.add.at(part, tree.parent[level], part[level])
        return lost

    def _enough(self, groups: Groups, among: Bools) -> Bools:
        """Return the flows whose group is safe with nobody in it but some flows."""
        left = groups if among.all() else replace(groups, members=np.where(among, groups.of_flow, -1))
        return np.append(self.promise.safe(left), False)[left.of_flow]

    def _groups(self, axes: Sequence[int], cuts: Sequence[Ints]) -> Groups:
        """Return the flows by the zones of some axes; on the others they are anywhere."""
        zones = [
            zone if axis in axes else np.full(len(zone), tree.root)
            for axis, (tree, zone) in enumerate(zip(self.trees, self.zones(cuts), strict=True))
        ]
        time = zones[2] if len(zones) > 2 else None
        groups = group_flows(self.matrix, zones[0], zones[1], time_zone=time)
        assert groups is not None
        return groups

    def _covering(self, axis: int) -> Ints:
        tree, tile = self.matrix.axes[axis]
        enough = np.ones(len(tree), dtype=bool)
        if axis < 2:
            for what, least in self.promise.floors.items():
                enough &= self.matrix.covers(what)[axis] >= least
        # The lowest zone above each tile that occurs; below others of them, the higher one counts.
        lowest = np.unique(tile)
        while not (short := enough[lowest]).all():
            lowest = np.where(short, lowest, tree.parent[lowest])
        chosen = np.zeros(len(tree), dtype=bool)
        chosen[lowest] = True
        return tree.highest(chosen)

    def _safe_products(self, axes: Sequence[int]) -> Ints:
        """Return the zones of all safe itemsets over two axes or more, axis by axis."""
        chosen = tuple(Axis(*self.matrix.axes[axis]) for axis in axes)
        return find_products(self.matrix, self.promise.of_people, find_loss("tiles"), axes=chosen).zone

    def _safe_zones(self, axis: int) -> list[Ints]:
        """Return the zones of one axis that are safe by themselves, as the only axis."""
        tree, tile = self.matrix.axes[axis]
        people, found = self.promise.of_people, []
        keep = np.ones(self.matrix.n_flows, dtype=bool)
        # Invariant: `keep` are the flows whose zone one step above is safe; below others none is.
        for depth in tree.lineage.ancestors:
            zone = depth[tile]
            keep &= zone >= 0
            groups = group_flows(self.matrix, zone, np.zeros_like(zone), keep=keep)
            assert groups is not None
            safe = people.safe(groups)
            found.append(groups.origin[safe])
            keep &= np.append(safe, False)[groups.of_flow]
            if not keep.any():
                break
        return [np.concatenate(found)]


@dataclass(frozen=True, kw_only=True)
class KMApriori(FlowMethod):
    """k^m-anonymity of origin, destination and time, after section 2.5.2 of the ODkAnon thesis.

    Somebody may know up to m items of a trip. For i = 1 to m all itemsets of i items are looked at: what
    is shared by too few is generalised, for good and for all trips, by the cheapest of its lowest safe
    generalisations, the cheapest itemset first, until what is still unsafe fits into the limit. That
    rest is withheld at the end. With a limit of 0 everything is generalised, as in the source.

    Parameters
    ----------
    m
        Items of a trip that somebody may know; all of them by default, which is k-anonymity of flows.
        With fewer a released flow may hold fewer than k, and the release says so.
    loss
        What a generalisation costs: ``tiles`` (the papers' G), ``area`` in km2, or ``metres``.
    time_weight
        Loss of one slot of released time, in the unit of ``loss``.

    Examples
    --------
    >>> from tripcloak.promises import KAnonymity
    >>> from tripcloak.hierarchy import Hierarchy
    >>> tree = Hierarchy.from_parents(["a", "b", "c", "d", "ab", "cd", "all"], [4, 4, 5, 5, 6, 6, -1])
    >>> matrix = ODMatrix.from_trips(tree, tree, np.array([0, 1, 2, 2]), np.array([2, 2, 0, 1]))
    >>> asked = {"promise": KAnonymity(k=2), "suppression_limit": 0}
    >>> release = KMApriori(**asked).anonymise(matrix)
    >>> tree.zones.ids[release.group_origin].tolist(), tree.zones.ids[release.group_destination].tolist()
    (['c', 'ab'], ['ab', 'c'])
    >>> print(*KMApriori(m=1, **asked).anonymise(matrix).promise.sentence().split("; "), sep="\\n")
    at least 2 trips, which may be one person's, for whoever knows any one item of a trip
    a single flow may hold fewer
    """

    name: ClassVar[str] = "km-apriori"
    summary: ClassVar[str] = (
        "k^m-anonymity: generalises rare origins, destinations and times, then rare combinations of them"
    )
    source: ClassVar[str] = "Armenante 2025, section 2.5.2"
    handles_time: ClassVar[bool] = True

    m: int | None = option(
        None,
        help="Items of a trip (origin, destination, time) that somebody may know; with fewer than all, a "
        "flow may hold fewer than k.",
        unset="all",
        metavar="M",
    )
    loss: LossName = option("tiles", **ABOUT_LOSS)
    time_weight: float = option(1.0, **ABOUT_TIME_WEIGHT)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.m is not None:
            KMAnonymity(promise=self.promise, m=self.m)
        require_weight(self.time_weight)

    def settled(self, matrix: ODMatrix, progress: Progress = silent) -> Settled:
        """Return where every flow goes; the promise is k^m-anonymity where m is less than all items."""
        self.refuse(matrix)
        if self.m is None:
            return super().settled(matrix, progress)
        held_to = replace(self, promise=KMAnonymity(promise=self.promise, m=self.m))
        return super(KMApriori, held_to).settled(matrix, progress)

    def refuse(self, matrix: ODMatrix) -> None:
        """Raise if there are fewer than m items, or something is asked for that fewer items cannot keep."""
        super().refuse(matrix)
        items = len(matrix.axes)
        if self.m is not None and self.m > items:
            raise InputError(
                f"m is {self.m}, but a trip has {items} items here, its origin and its destination; "
                f"time is a third one with {spelt('time_slot')}"
            )
        weaker = self.m is not None and self.m < items
        if weaker and (self.promise.by_release or self.promise.by_product or self.promise.segments):
            raise InputError(
                "with m below the number of items a flow may hold few people, so neither t-closeness "
                f"nor segments in one release can be had; leave out {spelt('m')}, or {spelt('t')} and the "
                "segments"
            )

    def solve(self, matrix: ODMatrix, promise: Promise, progress: Progress) -> Solution:
        """Return one cut per axis, and what is still unsafe withheld."""
        held, m = promise.of_items(len(matrix.axes))
        if self.m not in (None, m):
            raise InputError(
                f"k^m-anonymity cannot be had slot by slot; leave out {spelt('m')}, or use "
                f"{spelt('time_slot')}"
            )
        units = whole_units(matrix.volume(main_volume(held)))
        budget = budget_of(units, self.suppression_limit)
        losses: list[Loss] = [find_loss(self.loss), find_loss(self.loss), SlotLoss(self.time_weight)]
        items = Items(matrix, held, losses, units)
        cuts = items.start()
        for size in range(1, m + 1):
            progress("making itemsets safe", size - 1, m)
            cuts = _Pass(items, size, budget, last=size == m).run(cuts)
        progress("making itemsets safe", m, m)
        zones, released = items.zones(cuts), items.released(m, cuts)
        assert released is not None
        return Solution(
            origin_zone=zones[0],
            destination_zone=zones[1],
            suppressed=~released,
            homogeneous=True,
            time_zone=zones[2] if len(zones) > 2 else None,
        )


class _Pass(NamedTuple):
    """All itemsets of one size."""

    items: Items
    size: int
    budget: float
    last: bool

    def run(self, cuts: Sequence[Ints]) -> list[Ints]:
        """Return cuts at which what is unsafe fits into the budget, as little above these as it takes."""
        from tripcloak.flows.methods._kernels.km_apriori import NEVER, cheapest_fixes, generalise_in_order

        items = self.items
        if self._fits(cuts):
            return list(cuts)
        unsafe = items.unsafe(self.size, cuts)
        when, lost = np.full(len(items.parent), NEVER), items.lost(cuts)
        when[items.chosen(cuts)] = 0
        facts = items.parent, items.code, items.safe(self.size), items.whole
        cost = cheapest_fixes(unsafe, *facts, lost)
        order = np.lexsort((*unsafe.T[::-1], cost))
        steps = generalise_in_order(unsafe[order], *facts, lost, when)
        low, high = 1, steps
        # Invariant: what is unsafe after `high` steps fits; before `low` it does not.
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if self._fits(self._after(when, middle)) else (middle + 1, high)
        return self._after(when, high)

    def _after(self, when: Ints, step: int) -> list[Ints]:
        """Return the cuts after this many generalisations."""
        return [
            tree.highest(reached)
            for tree, reached in zip(self.items.trees, self.items.split(when <= step), strict=True)
        ]

    def _fits(self, cuts: Sequence[Ints]) -> bool:
        """Return whether what is unsafe may be withheld; only the last pass asks what that leaves unsafe."""
        return self.items.released(self.size, cuts, self.budget, at_once=not self.last) is not None
