"""Safe products: every combination of one zone per axis that may be released, in plain arrays.

A group of flows that contains a safe group is safe, so the safe products form the top of the lattice
of all products: they are found from the root downwards, and below an unsafe product nothing is looked
at. Whatever lies outside the safe children of a product can only be suppressed, so the cost of a
split is known from the safe children alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import numpy as np

from tripcloak.algorithms.base import Progress, silent
from tripcloak.algorithms.losses import Loss
from tripcloak.arrays import Bools, Floats, Ints
from tripcloak.criteria import Criterion
from tripcloak.errors import InputError
from tripcloak.hierarchy import Hierarchy
from tripcloak.matrix import Groups, Numbering, ODMatrix
from tripcloak.release import main_volume

ORIGIN, DESTINATION, TIME = 0, 1, 2


class Axis(NamedTuple):
    """One axis of the products: a tree, the tile of every flow in it, and a loss if it has its own.

    Where the tree is not the matrix's, ``zones`` are the matrix's own numbers of its zones.
    """

    tree: Hierarchy
    codes: Ints
    loss: Loss | None = None
    zones: Ints | None = None


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
        The volume inside, and the loss per unit of volume if the product is released as it is.
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
        """Return the volume that may be suppressed: whole units, so that sums decide exactly."""
        return float(np.floor(limit * self.flow_volume.sum() * (1 + 1e-12)))

    def find(self, zones: Sequence[Ints]) -> Ints:
        """Return the product made of these zones, -1 where that one is not safe."""
        return self.numbering.find(_pack(self.axes, zones))

    def place(self, choice: Ints) -> Ints:
        """Return the released product of every flow under these choices, -1 where it is suppressed."""
        from tripcloak.algorithms._kernels import place_flows

        return place_flows(self.codes, self.ancestors, _sizes(self.axes), choice, self.numbering.table)


def find_products(
    matrix: ODMatrix,
    criterion: Criterion,
    loss: Loss,
    progress: Progress = silent,
    stop: Callable[[], bool] = lambda: False,
    axes: tuple[Axis, ...] | None = None,
) -> SafeProducts:
    """Return all safe products of a matrix under a criterion, with their losses.

    Parameters
    ----------
    stop
        Asked before every combination of depths but the first; True ends the search there.
    axes
        The trees whose zones make the products: the matrix's own by default.
    """
    own = tuple(Axis(tree, codes) for tree, codes in matrix.axes)
    search = _Search(matrix, criterion, loss, axes or own)
    stages = list(product(*(range(len(at)) for at in search.ancestors)))
    for number, depths in enumerate(stages):
        if number and stop():
            return search.finish(complete=False)
        search.look_at(depths)
        progress("finding safe products", number + 1, len(stages))
    return search.finish(complete=True)


class _Search:
    """Goes from the roots downwards, one combination of depths at a time."""

    def __init__(self, matrix: ODMatrix, criterion: Criterion, loss: Loss, axes: tuple[Axis, ...]) -> None:
        self.matrix, self.criterion = matrix, criterion
        self.axes = tuple(axis.tree for axis in axes)
        self.codes = tuple(axis.codes for axis in axes)
        self.own = tuple(axis.zones for axis in axes)
        if math.prod(map(len, self.axes)) >= 2**63:
            raise InputError("more products of zones than 63 bits can number; use coarser tiles or slots")
        self.volume = main_volume(criterion)
        self.volumes = _whole(matrix.volume(self.volume))
        self.sizes = _sizes(self.axes)
        self.ancestors = tuple(_ancestors_by_depth(tree) for tree in self.axes)
        self.losses = tuple(
            (axis.loss or loss).of_ancestors(axis.tree, at)
            for axis, at in zip(axes, self.ancestors, strict=True)
        )
        self.numbering = Numbering()
        everything = np.arange(matrix.n_flows, dtype=np.int32)
        # Flows still inside a safe product, for each combination of the later axes' depths.
        self.live = dict.fromkeys(product(*(range(len(at)) for at in self.ancestors[1:])), everything)
        self.row = np.ones(matrix.n_flows, dtype=bool)
        self.of_flow = np.full(matrix.n_flows, -1, dtype=np.int32)
        self.found: list[tuple[Ints, Floats, Floats, Ints]] = []

    def look_at(self, depths: tuple[int, ...]) -> None:
        """Find the safe products with zones of exactly these depths."""
        from tripcloak.algorithms._kernels import group_stage, keep_alive

        if depths[-1] == 0:
            self.row[:] = True
        # Invariant: a flow in `live` and `row` lies in a safe product one step above, on those two axes.
        live = self.live[depths[1:]]
        trips, volume, loss, keys = group_stage(
            live,
            self.row,
            self.codes,
            tuple(at[depth] for at, depth in zip(self.ancestors, depths, strict=True)),
            self.sizes,
            tuple(at[depth] for at, depth in zip(self.losses, depths, strict=True)),
            self.matrix.flows.trips,
            self.volumes,
            self.of_flow,
        )
        if len(keys):
            safe = self._keep_safe(keys, trips, volume, loss)
            self.live[depths[1:]] = keep_alive(live, self.row, self.of_flow, safe)

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
        origin, destination = (
            zone[axis] if own is None else own[zone[axis]] for axis, own in enumerate(self.own[:TIME])
        )
        groups = Groups(self.matrix, self.of_flow, origin, destination, {"trips": trips})
        safe = hopeful & self.criterion.safe(groups)
        order = np.flatnonzero(safe)[np.argsort(keys[safe])]
        self.numbering.add(keys[order].view(np.uint64))
        each = loss[order] / np.where(volume[order] > 0, volume[order], 1.0)
        self.found.append((zone[:, order], volume[order], each, up[:, order]))
        return safe

    def finish(self, complete: bool) -> SafeProducts:
        """Return everything found so far."""
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
            flow_volume=self.volumes,
            ancestors=self.ancestors,
            zone=zone,
            volume=volume,
            loss=loss,
            up=up,
            inner=inner,
            numbering=self.numbering,
            complete=complete,
        )


def _ancestors_by_depth(tree: Hierarchy) -> Ints:
    """Return, for every depth and tile, the tile's ancestor that many steps below the root, -1 for none."""
    tile = zone = np.arange(tree.n_tiles, dtype=np.int32)
    depth = np.full(tree.n_tiles, -1, dtype=np.int32)
    steps = []
    while len(tile):
        steps.append((tile, zone))
        depth[tile] += 1
        up = tree.parent[zone]
        tile, zone = tile[up >= 0], up[up >= 0]
    at = np.full((len(steps), tree.n_tiles), -1, dtype=np.int32)
    for step, (tile, zone) in enumerate(steps):
        at[depth[tile] - step, tile] = zone
    return at


def _whole(volume: Ints | Floats) -> Floats:
    """Return volumes as whole numbers: trips as they are, weights in units so small that nothing is lost.

    Whole numbers below 2**53 add up exactly, whatever the order, so a limit is never broken by rounding.
    Weights are rounded up: what is suppressed is never taken for less than it is.
    """
    if volume.dtype.kind in "iu":
        return volume.astype(np.float64)
    units: Floats = np.ceil(volume * (2.0**51 / max(volume.sum(), 1e-300)))
    return units


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
