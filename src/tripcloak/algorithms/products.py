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

import numpy as np

from tripcloak.algorithms.base import Progress, silent
from tripcloak.algorithms.budget import budget_of, whole_units
from tripcloak.algorithms.descent import Axis, Descent, Found, pack
from tripcloak.algorithms.losses import Loss
from tripcloak.arrays import Floats, Ints
from tripcloak.criteria import Criterion
from tripcloak.errors import InputError
from tripcloak.hierarchy import Hierarchy
from tripcloak.matrix import Numbering, ODMatrix
from tripcloak.release import main_volume

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
        """Return the volume that may be suppressed."""
        return budget_of(self.flow_volume, limit)

    def find(self, zones: Sequence[Ints]) -> Ints:
        """Return the product made of these zones, -1 where that one is not safe."""
        return self.numbering.find(pack(self.axes, zones))

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
        Asked after every combination of depths; True ends the search there.
    axes
        The trees whose zones make the products: the matrix's own by default.
    """
    own = tuple(Axis(tree, codes) for tree, codes in matrix.axes)
    return _Search(matrix, criterion, loss, axes or own).run(progress, stop)


class _Search:
    """Gathers what the descent finds, row by row."""

    def __init__(self, matrix: ODMatrix, criterion: Criterion, loss: Loss, axes: tuple[Axis, ...]) -> None:
        if math.prod(len(axis.tree) for axis in axes) >= 2**63:
            raise InputError("more products of zones than 63 bits can number; use coarser tiles or slots")
        self.volumes = whole_units(matrix.volume(main_volume(criterion)))
        self.descent = Descent(matrix, criterion, axes, self.volumes, loss)
        self.found: list[Found] = []

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
