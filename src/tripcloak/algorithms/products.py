"""Safe products: every combination of one zone per axis that may be released, in plain arrays.

A group of flows that contains a safe group is safe, so the safe products form the top of the lattice
of all products: they are found from the root downwards, and below an unsafe product nothing is looked
at. Whatever lies outside the safe children of a product can only be suppressed, so the cost of a
split is known from the safe children alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from tripcloak.algorithms.base import Progress, silent
from tripcloak.algorithms.losses import Loss
from tripcloak.arrays import Bools, Floats, Ints
from tripcloak.criteria import Criterion
from tripcloak.hierarchy import Hierarchy
from tripcloak.matrix import Groups, Numbering, ODMatrix, Unit
from tripcloak.release import main_volume

ORIGIN, DESTINATION = 0, 1


@dataclass(frozen=True, eq=False)
class SafeProducts:
    """All safe products of zones, the root first and every product behind those it is a part of.

    Attributes
    ----------
    axes : tuple of Hierarchy
        One tree per axis.
    zone : array (axes, n)
        The zone of every product on every axis.
    volume, loss : array (n,)
        The volume inside, and the loss per unit of volume if the product is released as it is.
    up : array (axes, n)
        The product with this axis' zone replaced by its parent; -1 at the root of the axis.
    inner : array (axes, n)
        The volume in safe children when this axis is split; the rest would be suppressed.
    """

    axes: tuple[Hierarchy, ...]
    codes: tuple[Ints, ...]
    ancestors: tuple[Ints, ...]
    zone: Ints
    volume: Floats
    loss: Floats
    up: Ints
    inner: Floats
    numbering: Numbering

    def __len__(self) -> int:
        return len(self.volume)

    def find(self, zones: Sequence[Ints]) -> Ints:
        """Return the product made of these zones, -1 where that one is not safe."""
        return self.numbering.find(_pack(self.axes, zones))

    def place(self, choice: Ints) -> Ints:
        """Return the released product of every flow under these choices, -1 where it is suppressed."""
        from tripcloak.algorithms._kernels import place_flows

        return place_flows(self.codes, self.ancestors, _sizes(self.axes), choice, self.numbering.table)


def find_products(
    matrix: ODMatrix, criterion: Criterion, loss: Loss, progress: Progress = silent
) -> SafeProducts:
    """Return all safe products of a matrix under a criterion, with their losses."""
    search = _Search(matrix, criterion, loss)
    stages = list(product(*(range(len(at) - 1, -1, -1) for at in search.ancestors)))
    for number, heights in enumerate(stages):
        search.look_at(heights)
        progress("finding safe products", number + 1, len(stages))
    return search.finish()


class _Search:
    """Goes from the roots downwards, one combination of heights at a time."""

    def __init__(self, matrix: ODMatrix, criterion: Criterion, loss: Loss) -> None:
        self.matrix, self.criterion = matrix, criterion
        self.axes = (matrix.origins, matrix.destinations)
        self.codes = (matrix.flows.origin, matrix.flows.destination)
        self.volume = main_volume(criterion)
        self.volumes = matrix.volume(self.volume).astype(np.float64)
        self.sizes = _sizes(self.axes)
        self.ancestors = tuple(_ancestors_by_height(tree) for tree in self.axes)
        self.losses = tuple(map(loss.of_ancestors, self.axes, self.ancestors))
        self.numbering = Numbering()
        everything = np.arange(matrix.n_flows, dtype=np.int32)
        # Flows still inside a safe product, for each combination of the later axes' heights.
        self.live = dict.fromkeys(product(*(range(len(at)) for at in self.ancestors[1:])), everything)
        self.row = np.ones(matrix.n_flows, dtype=bool)
        self.of_flow = np.full(matrix.n_flows, -1, dtype=np.int32)
        self.found: list[tuple[Ints, Floats, Floats, Ints]] = []

    def look_at(self, heights: tuple[int, ...]) -> None:
        """Find the safe products with zones of exactly these heights."""
        from tripcloak.algorithms._kernels import group_stage, keep_alive

        if heights[-1] == len(self.ancestors[-1]) - 1:
            self.row[:] = True
        # Invariant: a flow in `live` and `row` lies in a safe product one step above, on those two axes.
        live = self.live[heights[1:]]
        trips, volume, loss, keys = group_stage(
            live,
            self.row,
            self.codes,
            tuple(at[h] for at, h in zip(self.ancestors, heights, strict=True)),
            self.sizes,
            tuple(at[h] for at, h in zip(self.losses, heights, strict=True)),
            self.matrix.flows.trips,
            self.volumes,
            self.of_flow,
        )
        if len(keys):
            safe = self._keep_safe(keys, trips, volume, loss)
            self.live[heights[1:]] = keep_alive(live, self.row, self.of_flow, safe)

    def _keep_safe(self, keys: Ints, trips: Ints, volume: Floats, loss: Floats) -> Bools:
        """Record the safe products among these; return which they are."""
        zone = _unpack(self.axes, keys)
        up = np.full(zone.shape, -1, dtype=np.int32)
        hopeful = np.ones(len(keys), dtype=bool)
        for axis, tree in enumerate(self.axes):
            parent = tree.parent[zone[axis]]
            lifted = [parent if a == axis else zone[a] for a in range(len(self.axes))]
            inside = parent >= 0
            up[axis, inside] = self.numbering.find(_pack(self.axes, [z[inside] for z in lifted]))
            hopeful &= ~inside | (up[axis] >= 0)
        known: dict[Unit, Ints] = {"trips": trips, self.volume: trips if self.volume == "trips" else volume}
        groups = Groups(self.matrix, self.of_flow, zone[ORIGIN], zone[DESTINATION], known)
        safe = hopeful & self.criterion.safe(groups)
        order = np.flatnonzero(safe)[np.argsort(keys[safe])]
        self.numbering.add(keys[order].view(np.uint64))
        each = loss[order] / np.where(volume[order] > 0, volume[order], 1.0)
        self.found.append((zone[:, order], volume[order], each, up[:, order]))
        return safe

    def finish(self) -> SafeProducts:
        zone = np.concatenate([part[0] for part in self.found], axis=1)
        volume = np.concatenate([part[1] for part in self.found])
        loss = np.concatenate([part[2] for part in self.found])
        up = np.concatenate([part[3] for part in self.found], axis=1)
        inner = np.zeros(zone.shape)
        for axis in range(len(self.axes)):
            below = up[axis] >= 0
            inner[axis] = np.bincount(up[axis][below], volume[below], minlength=len(volume))
        return SafeProducts(
            axes=self.axes,
            codes=self.codes,
            ancestors=self.ancestors,
            zone=zone,
            volume=volume,
            loss=loss,
            up=up,
            inner=inner,
            numbering=self.numbering,
        )


def _ancestors_by_height(tree: Hierarchy) -> Ints:
    """Return, for every height and tile, the tile's ancestor of exactly that height, -1 for none."""
    at = np.full((int(tree.zones.height[-1]) + 1, tree.n_tiles), -1, dtype=np.int32)
    tile = np.arange(tree.n_tiles, dtype=np.int32)
    zone = tile
    while len(tile):
        at[tree.zones.height[zone], tile] = zone
        up = tree.parent[zone]
        tile, zone = tile[up >= 0], up[up >= 0]
    return at[(at >= 0).any(axis=1)]


def _sizes(axes: tuple[Hierarchy, ...]) -> Ints:
    return np.array([len(tree) for tree in axes], dtype=np.int64)


def _pack(axes: tuple[Hierarchy, ...], zones: Sequence[Ints]) -> Ints:
    key = np.zeros(len(zones[0]), dtype=np.int64)
    for tree, zone in zip(axes, zones, strict=True):
        key = key * len(tree) + zone
    return key.view(np.uint64)


def _unpack(axes: tuple[Hierarchy, ...], keys: Ints) -> Ints:
    zone = np.empty((len(axes), len(keys)), dtype=np.int32)
    rest = keys
    for axis in range(len(axes) - 1, -1, -1):
        rest, zone[axis] = np.divmod(rest, len(axes[axis]))
    return zone
