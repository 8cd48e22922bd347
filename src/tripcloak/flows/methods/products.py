"""Safe products: every combination of one zone per axis that may be released, found from the roots down."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import numpy as np

from tripcloak.flows.methods.losses import Loss, losses_of
from tripcloak.flows.methods.method import budget_of, whole_units
from tripcloak.flows.model import Groups, Numbering, ODMatrix, Runs
from tripcloak.flows.release import main_volume
from tripcloak.ground.arrays import Bools, Floats, Ints
from tripcloak.ground.errors import InputError
from tripcloak.ground.progress import Progress, silent
from tripcloak.hierarchy import Hierarchy
from tripcloak.promises import Promise


class Axis(NamedTuple):
    """One axis of the products: a tree, the tile of every flow in it, and a loss if it has its own.

    Where the tree is not the matrix's, ``zones`` are the matrix's own numbers of its zones. Of a tree that
    ``must_split`` its root is never released: of the products with it only that of all roots is found.
    """

    tree: Hierarchy
    codes: Ints
    loss: Loss | None = None
    zones: Ints | None = None
    must_split: bool = False


class FoundProducts(NamedTuple):
    """Safe products, numbered as they are found: their zones, the product above on the last axis, volume.

    ``loss``, per unit of volume, is there where it differs between the tiles of a zone. ``free`` are those
    that may be released; where it is missing, all may.
    """

    zone: Ints
    above: Ints
    volume: Floats
    loss: Floats | None
    free: Bools | None


class _Row(NamedTuple):
    """Flows in the order of a row, their ranks on the last axis, running sums, and runs.

    ``runs`` is the table of the combinations of the first axes' zones. ``lead`` and ``volume`` of every
    flow, the loss so far and what it is weighed by, are there where the loss differs within zones.
    """

    flows: Ints
    rank: Ints
    trips: Ints
    volumes: Floats
    runs: Ints
    lead: Floats | None = None
    volume: Floats | None = None


class _Parents(NamedTuple):
    """The parents in several trees, one tree behind the other, where each starts, and its size."""

    parent: Ints
    start: Ints
    size: Ints

    @classmethod
    def of(cls, trees: Sequence[Hierarchy]) -> _Parents:
        size = np.array([len(tree) for tree in trees], dtype=np.int64)
        parent = np.concatenate([tree.parent for tree in trees]).astype(np.int32)
        return cls(parent, np.cumsum(size) - size, size)


class Descent:
    """Finds safe products from the roots downwards; below an unsafe product nothing is looked at.

    Unsafe means by what is monotone of the promise. What is decided of every product by itself only says
    which of the safe ones may be released as they are: parts of the others still may.

    Parameters
    ----------
    matrix, promise
        The flows, and when a group of them is safe.
    axes
        The trees whose zones make the products.
    volumes
        The volume of every flow, in whole units.
    loss
        The loss of every axis that has none of its own.
    """

    def __init__(
        self, matrix: ODMatrix, promise: Promise, axes: tuple[Axis, ...], volumes: Floats, loss: Loss
    ) -> None:
        from tripcloak.flows.methods._kernels.cuts import sort_flows

        self.matrix, self.promise, self.volumes = matrix, promise.monotone, volumes
        self.by_product = promise.by_product
        self.axes = axes
        self.trees = tuple(axis.tree for axis in axes)
        self.ancestors = tuple(axis.tree.lineage.ancestors for axis in axes)
        self.losses = tuple(
            losses_of(axis.loss or loss, axis.tree, at) for axis, at in zip(axes, self.ancestors, strict=True)
        )
        by_zone = [_by_zone(*some) for some in zip(self.trees, self.ancestors, self.losses, strict=True)]
        known = [losses for losses in by_zone if losses is not None]
        # One loss per zone and axis, or none where it differs between the tiles of a zone.
        self.zone_loss = np.concatenate(known) if len(known) == len(by_zone) else None
        self.parents = _Parents.of(self.trees)
        self.found = 0
        last = axes[-1].tree.lineage
        self.rank = last.rank[axes[-1].codes]
        self.by_rank, self.behind = last.by_rank, last.behind
        self.rank_loss = (
            None if self.zone_loss is not None else np.ascontiguousarray(self.losses[-1][:, last.leaves])
        )
        deepest = np.full(matrix.n_flows, len(self.by_rank), dtype=np.int32)
        every = np.arange(matrix.n_flows, dtype=np.int32)
        self.sorted = sort_flows(every, last.rank, axes[-1].codes, deepest)
        # The depth of the last axis from which on a flow is in no safe product, in rows not below others.
        self.reach = {
            depths: deepest.copy() for depths in product(*(range(len(at)) for at in self.ancestors[1:-1]))
        }

    @property
    def rows(self) -> list[tuple[int, ...]]:
        """Return the combinations of depths of all axes but the last, those above before those below."""
        return list(product(*(range(len(at)) for at in self.ancestors[:-1])))

    def row(self, depths: tuple[int, ...]) -> Iterator[FoundProducts]:
        """Yield the safe products with zones of these depths on the first axes, by depth on the last."""
        from tripcloak.flows.methods._kernels.cuts import ABOVE, ZONES, keep_runs, split_runs

        reach = self._reach(depths)
        row = self._open(depths, reach)
        runs, number = row.runs, -1
        whole = any(axis.must_split and not at for axis, at in zip(self.axes, depths, strict=False))
        # Invariant: the runs are the safe products one step above on the last axis, numbered.
        for depth, zone in enumerate(self.by_rank[:1] if whole else self.by_rank):
            split = (row.rank, zone, self.behind, row.flows, reach, depth, row.trips)
            runs = split_runs(runs, number, *split)
            if not runs.size:
                return
            safe = self.promise.safe(self._groups(row.flows, runs))
            runs, volume = keep_runs(safe, runs, row.flows, reach, depth, row.volumes)
            number = self.found
            self.found += len(volume)
            zones = runs[ZONES:].astype(np.int32)
            yield FoundProducts(
                zones,
                runs[ABOVE].astype(np.int32),
                volume,
                self._loss(row, runs, volume, depth),
                self._free(row.flows, runs),
            )

    def place(self, zones: Ints, above: Ints, numbering: Numbering) -> Ints:
        """Return, per axis, the number of the product above every product, -1 for none; all get a number."""
        from tripcloak.flows.methods._kernels.cuts import place_products

        keys, higher = place_products(zones, *self.parents)
        numbering.add(keys.view(np.uint64))
        return np.stack([*(numbering.find(axis.view(np.uint64)) for axis in higher), above])

    def zone_losses(self, zones: Ints, volume: Floats) -> Floats:
        """Return the loss per unit of volume of every product, where its zones alone decide it."""
        from tripcloak.flows.methods._kernels.cuts import sum_by_zone

        assert self.zone_loss is not None
        each = sum_by_zone(zones, self.zone_loss, self.parents.start)
        return np.where(volume > 0, each, 0.0)

    def _reach(self, depths: tuple[int, ...]) -> Ints:
        """Return how deep each flow may go on the last axis: no deeper than in any row above."""
        reach = self.reach[depths[1:]]
        for axis in range(1, len(depths)):
            if depths[axis]:
                above = (*depths[1:axis], depths[axis] - 1, *depths[axis + 1 :])
                np.minimum(reach, self.reach[above], out=reach)
        return reach

    def _open(self, depths: tuple[int, ...], reach: Ints) -> _Row:
        from tripcloak.flows.methods._kernels.cuts import open_row, sort_flows

        flows = self.sorted
        fixed = tuple(at[depth] for at, depth in zip(self.ancestors, depths, strict=False))
        codes = tuple(axis.codes for axis in self.axes[:-1])
        for zone, code in zip(fixed[::-1], codes[::-1], strict=True):
            flows = sort_flows(flows, zone, code, reach)
        runs, trips, volumes = open_row(flows, fixed, codes, self.matrix.flows.trips, self.volumes)
        row = _Row(flows, self.rank[flows], trips, volumes, runs)
        if self.zone_loss is not None:
            return row
        lead = np.zeros(len(flows))
        for at, depth, code in zip(self.losses, depths, codes, strict=False):
            lead += at[depth][code[flows]]
        return row._replace(lead=lead, volume=self.volumes[flows])

    def _free(self, flows: Ints, runs: Ints) -> Bools | None:
        """Return which safe runs of flows may be released as they are; None where all may."""
        if not self.by_product:
            return None
        groups = self._groups(flows, runs)
        return np.asarray(np.logical_and.reduce([part.safe(groups) for part in self.by_product]))

    def _groups(self, flows: Ints, runs: Ints) -> Groups:
        """Return runs of flows as groups."""
        from tripcloak.flows.methods._kernels.cuts import FIRST, LAST, TRIPS, ZONES

        own = [
            zone if axis.zones is None else axis.zones[zone]
            for axis, zone in zip(self.axes, runs[ZONES:], strict=True)
        ]
        members = Runs(flows, runs[FIRST], runs[LAST])
        time = own[TIME] if len(own) > TIME else None
        return Groups(self.matrix, members, own[ORIGIN], own[DESTINATION], {"trips": runs[TRIPS]}, time)

    def _loss(self, row: _Row, runs: Ints, volume: Floats, depth: int) -> Floats | None:
        """Return the loss per unit of volume of every run, None where the zones alone decide it."""
        from tripcloak.flows.methods._kernels.cuts import FIRST, LAST, sum_losses

        if row.volume is None or row.lead is None or self.rank_loss is None:
            return None
        ranked = (row.volume, row.lead, row.rank, self.rank_loss[depth])
        return sum_losses(runs[FIRST], runs[LAST], *ranked) / np.where(volume > 0, volume, 1.0)


def pack(trees: tuple[Hierarchy, ...], zones: Sequence[Ints] | Ints) -> Ints:
    """Return one number per product, given the zones of all products axis by axis."""
    key = np.zeros(len(zones[0]), dtype=np.int64)
    for tree, zone in zip(trees, zones, strict=True):
        key = key * len(tree) + zone
    return key.view(np.uint64)


def _by_zone(tree: Hierarchy, ancestors: Ints, losses: Floats) -> Floats | None:
    """Return the loss of every zone, or None where it differs between the tiles of a zone."""
    some = ancestors >= 0
    value = np.zeros(len(tree))
    value[ancestors[some]] = losses[some]
    return value if np.array_equal(value[ancestors[some]], losses[some]) else None


ORIGIN, DESTINATION, TIME = 0, 1, 2

__all__ = ["DESTINATION", "ORIGIN", "TIME", "Axis", "SafeProducts", "find_products"]


@dataclass(frozen=True, eq=False)
class SafeProducts:
    """All safe products of zones, the root first and every product behind those it is a part of.

    Attributes
    ----------
    axes, codes : tuple
        One tree per axis, and the tile of every flow in it.
    flow_volume : array
        The volume of every flow, in whole units.
    zone : array (axes, n)
        The zone of every product on every axis.
    volume, loss : array (n,)
        The volume inside, and the loss per unit of volume if the product is released as it is; infinite
        where only parts of it may be released.
    up : array (axes, n)
        The product with this axis' zone replaced by its parent; -1 at the root of the axis.
    inner : array (axes, n)
        The volume in safe children when this axis is split; the rest would be suppressed.
    complete : bool
        False if the time was up before all were found; those that were found are safe all the same.
    """

    axes: tuple[Hierarchy, ...]
    codes: tuple[Ints, ...]
    flow_volume: Floats
    ancestors: tuple[Ints, ...]
    zone: Ints
    volume: Floats
    loss: Floats
    up: Ints
    inner: Floats
    numbering: Numbering
    complete: bool

    def __len__(self) -> int:
        return len(self.volume)

    @property
    def total(self) -> float:
        """Return the volume of all flows."""
        return float(self.volume[0])

    def budget(self, limit: float) -> float:
        """Return the volume that may be suppressed."""
        return budget_of(self.flow_volume, limit)

    def find(self, zones: Sequence[Ints]) -> Ints:
        """Return the product made of these zones, -1 where that one is not safe."""
        return self.numbering.find(pack(self.axes, zones))

    def place(self, choice: Ints) -> Ints:
        """Return the released product of every flow under these choices, -1 where it is suppressed."""
        from tripcloak.flows.methods._kernels.cuts import place_flows

        return place_flows(self.codes, self.ancestors, _sizes(self.axes), choice, self.numbering.table)


def find_products(
    matrix: ODMatrix,
    promise: Promise,
    loss: Loss,
    progress: Progress = silent,
    stop: Callable[[], bool] = lambda: False,
    axes: tuple[Axis, ...] | None = None,
) -> SafeProducts:
    """Return all safe products of a matrix under a promise, with their losses.

    Parameters
    ----------
    stop
        Asked after every combination of depths; True ends the search there.
    axes
        The trees whose zones make the products: the matrix's own by default.
    """
    own = tuple(Axis(tree, codes) for tree, codes in matrix.axes)
    return _Search(matrix, promise, loss, axes or own).run(progress, stop)


class _Search:
    """Gathers what the descent finds, row by row."""

    def __init__(self, matrix: ODMatrix, promise: Promise, loss: Loss, axes: tuple[Axis, ...]) -> None:
        if math.prod(len(axis.tree) for axis in axes) >= 2**63:
            raise InputError("more products of zones than 63 bits can number; use coarser tiles or slots")
        self.volumes = whole_units(matrix.volume(main_volume(promise)))
        self.descent = Descent(matrix, promise, axes, self.volumes, loss)
        self.found: list[FoundProducts] = []

    def run(self, progress: Progress, stop: Callable[[], bool]) -> SafeProducts:
        """Return all safe products, or those found before the time was up."""
        rows = self.descent.rows
        for number, depths in enumerate(rows):
            for found in self.descent.row(depths):
                self.found.append(found)
                if stop():
                    return self._products(complete=False)
            progress("finding safe products", number + 1, len(rows))
        return self._products(complete=True)

    def _products(self, complete: bool) -> SafeProducts:
        zone = np.concatenate([found.zone for found in self.found], axis=1)
        above, volume = (
            np.concatenate(parts) for parts in zip(*((f.above, f.volume) for f in self.found), strict=True)
        )
        losses = [found.loss for found in self.found if found.loss is not None]
        loss = np.concatenate(losses) if losses else self.descent.zone_losses(zone, volume)
        free = [found.free for found in self.found if found.free is not None]
        if free:
            loss = np.where(np.concatenate(free), loss, np.inf)
        numbering = Numbering()
        up = self.descent.place(zone, above, numbering)
        inner = np.zeros(zone.shape)
        for axis in range(len(zone)):
            below = up[axis] >= 0
            inner[axis] = np.bincount(up[axis][below], volume[below], minlength=len(volume))
        return SafeProducts(
            axes=self.descent.trees,
            codes=tuple(axis.codes for axis in self.descent.axes),
            flow_volume=self.volumes,
            ancestors=self.descent.ancestors,
            zone=zone,
            volume=volume,
            loss=loss,
            up=up,
            inner=inner,
            numbering=numbering,
            complete=complete,
        )


def _sizes(axes: tuple[Hierarchy, ...]) -> Ints:
    return np.array([len(tree) for tree in axes], dtype=np.int64)


EVEN = 1 + 1e-9
"""A group is worse than the mean when it is so by more than sums are rounded."""


def worst_that_fit(products: SafeProducts, released: Ints, budget: float) -> Ints:
    """Return the released products to suppress as well: the worst first, while they fit and the mean falls.

    Parameters
    ----------
    released
        All products that are released; what they do not hold is suppressed already.
    budget
        The volume that may be suppressed in all.
    """
    loss, volume = products.loss[released], products.volume[released]
    kept = float(volume.sum())
    lost, left = float(loss @ volume), budget - (products.total - kept)
    gone = []
    # Invariant: `kept` and `lost` are the volume and the loss of what is still released.
    for p in np.argsort(-loss, kind="stable").tolist():
        if left <= 0 or loss[p] * kept <= lost * EVEN:
            break
        if volume[p] <= left:
            gone.append(released[p])
            left, kept, lost = left - volume[p], kept - volume[p], lost - loss[p] * volume[p]
    return np.array(gone, dtype=np.int64)
