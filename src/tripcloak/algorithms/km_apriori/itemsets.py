"""Itemsets: some of a trip's zones, one per axis at most, and which of them are safe at any height."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tripcloak.algorithms.descent import Axis
from tripcloak.algorithms.losses import Loss, find_loss, losses_of
from tripcloak.algorithms.products import find_products
from tripcloak.arrays import Bools, Floats, Ints
from tripcloak.criteria import Criterion
from tripcloak.errors import InputError
from tripcloak.hierarchy import Hierarchy
from tripcloak.matrix import Covered, Groups, Numbering, ODMatrix, Unit, group_flows

SLOTS = 3
"""Zones of an itemset; those of unknown items are -1 and come first."""


@dataclass(frozen=True, eq=False)
class Items:
    """All zones of all axes, numbered in one row, axis after axis.

    Attributes
    ----------
    matrix, criterion
        The trips, and when those that share an itemset are safe.
    losses
        What a tile loses when it is released as a zone, for each axis.
    units
        The volume of every flow.
    """

    matrix: ODMatrix
    criterion: Criterion
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
            found.append(items[~self.criterion.safe(groups)])
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
        return np.append(self.criterion.safe(left), False)[left.of_flow]

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
            for what, least in self.criterion.floors.items():
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
        return find_products(self.matrix, People(self.criterion), find_loss("tiles"), axes=chosen).zone

    def _safe_zones(self, axis: int) -> list[Ints]:
        """Return the zones of one axis that are safe by themselves, as the only axis."""
        tree, tile = self.matrix.axes[axis]
        people, found = People(self.criterion), []
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


@dataclass(frozen=True)
class People:
    """A criterion that looks at people only: any zone is taken for the whole map, which covers everything."""

    criterion: Criterion

    @property
    def thresholds(self) -> dict[Unit, float]:
        """Return those of the criterion."""
        return self.criterion.thresholds

    @property
    def floors(self) -> dict[Covered, int]:
        """Return nothing."""
        return {}

    def resolve(self, matrix: ODMatrix) -> People:
        """Return the same with the criterion's open choices settled."""
        return People(self.criterion.resolve(matrix))

    def safe(self, groups: Groups) -> Bools:
        """Return, for every group, whether there are enough people in it."""
        matrix = groups.matrix
        roots = (np.full(len(groups), tree.root) for tree in (matrix.origins, matrix.destinations))
        origin, destination = roots
        return self.criterion.safe(replace(groups, origin=origin, destination=destination))

    def words(self) -> str:
        """Return the criterion in words."""
        return self.criterion.words()
