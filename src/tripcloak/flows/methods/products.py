"""Safe products: every combination of one zone per axis that may be released, found from the roots down."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import numpy as np

from tripcloak.flows.methods.losses import Loss, depths, losses_of
from tripcloak.flows.methods.method import budget_of, whole_units
from tripcloak.flows.model import Groups, Numbering, ODMatrix, Runs
from tripcloak.flows.release import main_volume
from tripcloak.ground.arrays import Bools, Floats, Ints
from tripcloak.ground.errors import InputError
from tripcloak.ground.progress import Progress, silent
from tripcloak.hierarchy import Hierarchy, Lineage
from tripcloak.promises import Promise


class Axis(NamedTuple):
    """One axis of the products: a tree, the tile of every flow in it, and a loss if it has its own.

    Where the tree is not the matrix's, ``zones`` are the matrix's own numbers of its zones. Of a tree that
    ``must_split`` its root is never released: of the products with it only that of all roots is found.
    With a ``lineage`` of its own only the zones in it are looked at.
    """

    tree: Hierarchy
    codes: Ints
    loss: Loss | None = None
    zones: Ints | None = None
    must_split: bool = False
    lineage: Lineage | None = None

    @property
    def looked_at(self) -> Lineage:
        """Return the zones above every tile that are looked at."""
        return self.lineage or self.tree.lineage

    @property
    def ends(self) -> Bools:
        """Return the zones that are not divided: tiles, and those below which nothing is looked at."""
        ends = np.arange(len(self.tree)) < self.tree.n_tiles
        if self.lineage is not None:
            ends[self.lineage.lowest] = True
        return ends


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
    def of(cls, axes: Sequence[Axis]) -> _Parents:
        size = np.array([len(axis.tree) for axis in axes], dtype=np.int64)
        parents = [
            axis.tree.parent if axis.lineage is None else axis.lineage.parents(len(axis.tree))
            for axis in axes
        ]
        return cls(np.concatenate(parents).astype(np.int32), np.cumsum(size) - size, size)


class ProductSpace:
    """The trees whose zones make products, what their zones lose, and where products lie in them.

    Parameters
    ----------
    axes
        The trees.
    loss
        The loss of every axis that has none of its own.
    turned
        Destinations are the first axis and origins the second.
    """

    def __init__(self, axes: tuple[Axis, ...], loss: Loss, *, turned: bool = False) -> None:
        if math.prod(len(axis.tree) for axis in axes) >= 2**63:
            raise InputError("more products of zones than 63 bits can number; use coarser tiles or slots")
        self.axes, self.loss, self.turned = axes, loss, turned
        self.trees = tuple(axis.tree for axis in axes)
        self.ancestors = tuple(axis.looked_at.ancestors for axis in axes)
        self.losses = tuple(
            losses_of(axis.loss or loss, axis.tree, at) for axis, at in zip(axes, self.ancestors, strict=True)
        )
        by_zone = [_by_zone(*some) for some in zip(self.trees, self.ancestors, self.losses, strict=True)]
        known = [losses for losses in by_zone if losses is not None]
        # One loss per zone and axis, or none where it differs between the tiles of a zone.
        self.zone_loss = np.concatenate(known) if len(known) == len(by_zone) else None
        self.parents = _Parents.of(axes)

    def of(self, codes: tuple[Ints, ...]) -> ProductSpace:
        """Return the same space with the tiles of other flows."""
        other = copy(self)
        other.axes = tuple(axis._replace(codes=code) for axis, code in zip(self.axes, codes, strict=True))
        return other

    def place(self, zones: Ints, above: Ints | None, numbering: Numbering) -> Ints:
        """Return, per axis, the number of the product above every product, -1 for none; all get a number.

        Those above on the last axis are looked for where they are not known.
        """
        from tripcloak.flows.methods._kernels.cuts import place_products

        keys, higher = place_products(zones, *self.parents)
        numbering.add(keys.view(np.uint64))
        if above is None:
            lifted = self.parents.parent[self.parents.start[-1] + zones[-1]]
            keys += lifted - zones[-1]
            keys[lifted < 0] = -1
            above = numbering.find(keys.view(np.uint64))
        return np.stack([*(numbering.find(axis.view(np.uint64)) for axis in higher), above])

    def zone_losses(self, zones: Ints, volume: Floats) -> Floats:
        """Return the loss per unit of volume of every product, where its zones alone decide it."""
        from tripcloak.flows.methods._kernels.cuts import sum_by_zone

        assert self.zone_loss is not None
        each = sum_by_zone(zones, self.zone_loss, self.parents.start)
        return np.where(volume > 0, each, 0.0)

    def hopes(self, zones: Ints, loss: Floats) -> Floats:
        """Return the loss per unit of volume that nothing inside each product goes below, looked at or not.

        That is its own, less what its zones could lose less if all of their tiles were released instead.
        """
        if all(axis.lineage is None for axis in self.axes):
            return loss
        hope = loss.copy()
        for axis, zone, own in zip(self.axes, zones, self.losses, strict=True):
            hope -= _to_be_gained(axis, own, self.loss)[zone]
        return np.maximum(hope, 0.0)


class Descent:
    """Finds safe products from the roots downwards; below an unsafe product nothing is looked at.

    Unsafe means by what is monotone of the promise. What is decided of every product by itself only says
    which of the safe ones may be released as they are: parts of the others still may.

    Parameters
    ----------
    matrix, promise
        The flows, and when a group of them is safe.
    space
        The trees whose zones make the products, with the tiles of these flows.
    volumes
        The volume of every flow, in whole units.
    """

    def __init__(self, matrix: ODMatrix, promise: Promise, space: ProductSpace, volumes: Floats) -> None:
        from tripcloak.flows.methods._kernels.cuts import sort_flows

        self.matrix, self.promise, self.volumes = matrix, promise.monotone, volumes
        self.by_product = promise.by_product
        asked = self.promise.thresholds
        # Nobody travels without a trip: most runs are told to be unsafe by these, and nobody is counted.
        self.least = max(asked.get("trips", 0.0), asked.get("travellers", 0.0))
        # Flows lie all over the columns of a row: what is known of the one is not fetched from the other.
        self.by_trips = np.array_equal(volumes, matrix.flows.trips)
        self.space, self.axes = space, space.axes
        self.found = 0
        self._last: tuple[int, list[FoundProducts]] = (-1, [])
        last = self.axes[-1].looked_at
        self.rank = last.rank[self.axes[-1].codes]
        self.by_rank, self.behind = last.by_rank, last.behind
        self.rank_loss = (
            None if space.zone_loss is not None else np.ascontiguousarray(space.losses[-1][:, last.leaves])
        )
        self.tiles = np.flatnonzero(np.bincount(self.axes[0].codes))
        deepest = np.full(matrix.n_flows, len(self.by_rank), dtype=np.int32)
        every = np.arange(matrix.n_flows, dtype=np.int32)
        self.sorted = sort_flows(every, last.rank, self.axes[-1].codes, deepest)
        # The depth of the last axis from which on a flow is in no safe product, in rows not below others.
        self.reach = {
            depths: deepest.copy() for depths in product(*(range(len(at)) for at in space.ancestors[1:-1]))
        }

    @property
    def rows(self) -> list[tuple[int, ...]]:
        """Return the combinations of depths of all axes but the last, those above before those below."""
        return list(product(*(range(len(at)) for at in self.space.ancestors[:-1])))

    def row(self, depths: tuple[int, ...]) -> Iterator[FoundProducts]:
        """Yield the safe products with zones of these depths on the first axes, by depth on the last."""
        (at, found), first = self._last, depths[0]
        again = at == first - 1 and self._as_above(depths)
        self._last = first, []
        for one in self._relabelled(found, first) if again else self._searched(depths):
            if self._as_above((first + 1, *depths[1:])):
                self._last[1].append(one)
            yield one

    def _as_above(self, depths: tuple[int, ...]) -> bool:
        """Return whether the first of two axes has one zone for all flows here, and one in the row above.

        Then what is safe is so again, where nothing but the flows decides it.
        """
        if len(depths) > 1 or not 0 < depths[0] < len(self.space.ancestors[0]) or self.axes[0].must_split:
            return False
        if not self.promise.plain or self.by_product or self.space.zone_loss is None:
            return False
        here, above = self.space.ancestors[0][depths[0]], self.space.ancestors[0][depths[0] - 1]
        there = self.tiles[above[self.tiles] >= 0]
        return bool(len(there) and here[there[0]] >= 0) and all(
            (zone[there] == zone[there[0]]).all() for zone in (here, above)
        )

    def _relabelled(self, found: list[FoundProducts], depth: int) -> Iterator[FoundProducts]:
        """Yield what was found in the row above once more, with the zone of this row on the first axis."""
        zones = self.space.ancestors[0][depth][self.tiles]
        n = sum(len(part.volume) for part in found)
        for part in found:
            zone, above = part.zone.copy(), part.above.copy()
            zone[0] = zones.max()
            above[above >= 0] += n
            yield part._replace(zone=zone, above=above)
        self.found += n

    def _searched(self, depths: tuple[int, ...]) -> Iterator[FoundProducts]:
        from tripcloak.flows.methods._kernels.cuts import ABOVE, ZONES, keep_runs, split_runs

        reach = self._reach(depths)
        row = self._open(depths, reach)
        runs, number = row.runs, -1
        whole = any(axis.must_split and not at for axis, at in zip(self.axes, depths, strict=False))
        # Invariant: the runs are the safe products one step above on the last axis, numbered.
        for depth, zone in enumerate(self.by_rank[:1] if whole else self.by_rank):
            split = (row.rank, zone, self.behind, row.flows, reach, depth, row.trips, self.least)
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

    def _reach(self, depths: tuple[int, ...]) -> Ints:
        """Return how deep each flow may go on the last axis: no deeper than in any row above."""
        reach = self.reach[depths[1:]]
        for axis in range(1, len(depths)):
            if depths[axis]:
                above = (*depths[1:axis], depths[axis] - 1, *depths[axis + 1 :])
                np.minimum(reach, self.reach[above], out=reach)
        return reach

    def _open(self, depths: tuple[int, ...], reach: Ints) -> _Row:
        from tripcloak.flows.methods._kernels.cuts import open_row, sort_flows, sums_upto

        flows = self.sorted
        fixed = tuple(at[depth] for at, depth in zip(self.space.ancestors, depths, strict=False))
        codes = tuple(axis.codes for axis in self.axes[:-1])
        for zone, code in zip(fixed[::-1], codes[::-1], strict=True):
            flows = sort_flows(flows, zone, code, reach)
        if len(codes) == 1:
            # The next row divides these further: fewer, and those of a zone lie near one another already.
            self.sorted = flows
        trips = sums_upto(flows, self.matrix.flows.trips)
        volumes = trips.astype(np.float64) if self.by_trips else sums_upto(flows, self.volumes)
        row = _Row(flows, self.rank[flows], trips, volumes, open_row(flows, fixed, codes))
        if self.space.zone_loss is not None:
            return row
        lead = np.zeros(len(flows))
        for at, depth, code in zip(self.space.losses, depths, codes, strict=False):
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
        own = own[::-1] if self.space.turned else own
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
        key *= len(tree)
        key += zone
    return key.view(np.uint64)


def _by_zone(tree: Hierarchy, ancestors: Ints, losses: Floats) -> Floats | None:
    """Return the loss of every zone, or None where it differs between the tiles of a zone."""
    some = ancestors >= 0
    value = np.zeros(len(tree))
    value[ancestors[some]] = losses[some]
    return value if np.array_equal(value[ancestors[some]], losses[some]) else None


def _to_be_gained(axis: Axis, losses: Floats, loss: Loss) -> Floats:
    """Return, for every zone below which nothing is looked at, how much less a tile loses there at most."""
    tree, seen = axis.tree, axis.looked_at
    tile, full = np.arange(tree.n_tiles), tree.lineage.ancestors
    inside = (full >= 0) & (np.arange(len(full))[:, None] >= depths(tree)[seen.lowest])
    least = np.min(losses_of(axis.loss or loss, tree, full), axis=0, initial=np.inf, where=inside)
    gain = np.zeros(len(tree))
    np.maximum.at(gain, seen.lowest, losses[(seen.ancestors >= 0).sum(axis=0) - 1, tile] - least)
    return gain


ORIGIN, DESTINATION, TIME = 0, 1, 2

__all__ = [
    "DESTINATION",
    "ORIGIN",
    "TIME",
    "Axis",
    "Descent",
    "ProductSpace",
    "SafeProducts",
    "find_products",
    "numbered_products",
]


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
    ends : tuple of arrays
        For every zone of an axis, whether products are not divided there: tiles, and zones below which
        nothing was looked at.
    hope : array (n,)
        The loss per unit of volume that neither a product goes below nor what was not looked at inside it.
    highest : float
        The price up to which nothing would be released that was not looked at for being too coarse.
    """

    axes: tuple[Hierarchy, ...]
    codes: tuple[Ints, ...]
    flow_volume: Ints | Floats
    ancestors: tuple[Ints, ...]
    zone: Ints
    volume: Floats
    loss: Floats
    up: Ints
    inner: Floats
    numbering: Numbering
    complete: bool
    ends: tuple[Bools, ...]
    hope: Floats
    highest: float = math.inf

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
    *,
    turned: bool = False,
) -> SafeProducts:
    """Return all safe products of a matrix under a promise, with their losses.

    Parameters
    ----------
    stop
        Asked after every combination of depths; True ends the search there.
    axes
        The trees whose zones make the products: the matrix's own by default.
    turned
        The first of the axes are destinations, the second origins.
    """
    own = tuple(Axis(tree, codes) for tree, codes in matrix.axes)
    return _Search(matrix, promise, ProductSpace(axes or own, loss, turned=turned)).run(progress, stop)


class _Search:
    """Gathers what the descent finds, row by row."""

    def __init__(self, matrix: ODMatrix, promise: Promise, space: ProductSpace) -> None:
        self.space = space
        self.volumes = whole_units(matrix.volume(main_volume(promise)))
        self.descent = Descent(matrix, promise, self.space, self.volumes)
        self.found: list[FoundProducts] = []

    def run(self, progress: Progress, stop: Callable[[], bool]) -> SafeProducts:
        """Return all safe products, or those found before the time was up."""
        rows = self.descent.rows
        for number, at in enumerate(rows):
            for found in self.descent.row(at):
                self.found.append(found)
                if stop():
                    return self._products(complete=False)
            progress("finding safe products", number + 1, len(rows))
        return self._products(complete=True)

    def _products(self, complete: bool) -> SafeProducts:
        losses = [found.loss for found in self.found if found.loss is not None]
        free = [found.free for found in self.found if found.free is not None]
        return numbered_products(
            self.space,
            self.volumes,
            zone=np.concatenate([found.zone for found in self.found], axis=1),
            above=np.concatenate([found.above for found in self.found]),
            volume=np.concatenate([found.volume for found in self.found]),
            loss=np.concatenate(losses) if losses else None,
            free=np.concatenate(free) if free else None,
            complete=complete,
        )


def numbered_products(
    space: ProductSpace,
    flow_volume: Ints | Floats,
    *,
    zone: Ints,
    above: Ints | None,
    volume: Floats,
    loss: Floats | None = None,
    free: Bools | None = None,
    complete: bool = True,
) -> SafeProducts:
    """Return products that were found, numbered in their order.

    Parameters
    ----------
    flow_volume
        The volume of every flow, in whole units.
    zone, above, volume, loss, free
        As in :class:`FoundProducts`, of all products together; those above are looked for where not given.
    """
    loss = space.zone_losses(zone, volume) if loss is None else loss
    if free is not None:
        loss = np.where(free, loss, np.inf)
    numbering = Numbering()
    up = space.place(zone, above, numbering)
    inner = np.zeros(zone.shape)
    for axis in range(len(zone)):
        below = up[axis] >= 0
        inner[axis] = np.bincount(up[axis][below], volume[below], minlength=len(volume))
    return SafeProducts(
        axes=space.trees,
        codes=tuple(axis.codes for axis in space.axes),
        flow_volume=flow_volume,
        ancestors=space.ancestors,
        zone=zone,
        volume=volume,
        loss=loss,
        up=up,
        inner=inner,
        numbering=numbering,
        complete=complete,
        ends=tuple(axis.ends for axis in space.axes),
        hope=space.hopes(zone, loss),
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
