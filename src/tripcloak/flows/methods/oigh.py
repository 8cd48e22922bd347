"""OIGH: all origins at one height, all destinations at another, the best such pair within the limit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from tripcloak.flows.methods.lattice import Levels, Node, Weighed, best_node
from tripcloak.flows.methods.losses import (
    ABOUT_LOSS,
    ABOUT_TIME_WEIGHT,
    Loss,
    LossName,
    SlotLoss,
    TileLosses,
    find_loss,
    require_weight,
)
from tripcloak.flows.methods.method import FlowMethod, Solution, budget_of, whole_units
from tripcloak.flows.model import ODMatrix, group_flows
from tripcloak.flows.release import main_volume
from tripcloak.ground.arrays import Bools, Floats, Ints
from tripcloak.ground.options import option
from tripcloak.ground.progress import Progress
from tripcloak.promises import Promise


@dataclass(frozen=True, kw_only=True)
class OIGH(FlowMethod):
    """Optimal Identical Generalization Hierarchy, after section 2.5.2 of the ODkAnon thesis.

    Full-domain: one level for all origins and one for all destinations, so that all zones of an axis
    are of one size. The pairs of levels form a lattice; it is searched with predictive tagging for the
    lowest pairs at which unsafe groups fit into the limit, and the one with the least loss is taken.
    Unsafe groups are suppressed. Trees of uneven depth are climbed by size, as in appendix B of the
    ATG paper. Time, where the matrix has it, is a third axis with a level of its own.

    Parameters
    ----------
    loss
        What is least: ``tiles`` (the papers' G), ``area`` in km2, or ``metres`` to the zone's point.
    time_weight
        Loss of one slot of released time, in the unit of ``loss``.

    Examples
    --------
    >>> from tripcloak.promises import KAnonymity
    >>> from tripcloak.hierarchy import Hierarchy
    >>> tree = Hierarchy.from_parents(["a", "b", "c", "d", "ab", "cd", "all"], [4, 4, 5, 5, 6, 6, -1])
    >>> matrix = ODMatrix.from_trips(tree, tree, np.array([0, 0, 1, 1, 2]), np.array([2, 2, 2, 2, 0]))
    >>> release = OIGH(promise=KAnonymity(k=2), suppression_limit=0.2).anonymise(matrix)
    >>> [(str(tree.zones.ids[o]), int(n)) for o, n in zip(release.group_origin, release.trips)]
    [('a', 2), ('b', 2)]
    """

    name: ClassVar[str] = "oigh"
    summary: ClassVar[str] = (
        "all origins at one height, all destinations at another; the best pair of heights that fits"
    )
    source: ClassVar[str] = "Armenante 2025, section 2.5.2; Matet et al. 2023, appendix B"
    handles_time: ClassVar[bool] = True

    loss: LossName = option("tiles", **ABOUT_LOSS)
    time_weight: float = option(1.0, **ABOUT_TIME_WEIGHT)

    def __post_init__(self) -> None:
        super().__post_init__()
        require_weight(self.time_weight)

    def solve(self, matrix: ODMatrix, promise: Promise, progress: Progress) -> Solution:
        """Return the best pair of levels, with its unsafe groups withheld."""
        units = whole_units(matrix.volume(main_volume(promise)))
        total, budget = float(units.sum()), budget_of(units, self.suppression_limit)
        axes = self._axes(matrix)

        def weigh(node: Node) -> Weighed | None:
            zones = [axis.zones(level) for axis, level in zip(axes, node, strict=True)]
            released = units * _safe(matrix, promise, zones)
            volume = float(released.sum())
            if total - volume > budget:
                return None
            loss = sum((axis.losses(level) * released).sum() for axis, level in zip(axes, node, strict=True))
            return Weighed(total - volume, float(loss / volume))

        best = best_node(tuple(len(axis.levels) for axis in axes), weigh, progress)
        zones = [axis.zones(level) for axis, level in zip(axes, best, strict=True)]
        return Solution(
            origin_zone=zones[0],
            destination_zone=zones[1],
            suppressed=~_safe(matrix, promise, zones),
            homogeneous=True,
            time_zone=None if matrix.times is None else zones[2],
        )

    def _axes(self, matrix: ODMatrix) -> list[_LevelledAxis]:
        losses: list[Loss] = [find_loss(self.loss), find_loss(self.loss), SlotLoss(self.time_weight)]
        return [
            _LevelledAxis(Levels(tree), tile, TileLosses(loss, tree))
            for loss, (tree, tile) in zip(losses, matrix.axes, strict=False)
        ]


class _LevelledAxis(NamedTuple):
    levels: Levels
    tile: Ints
    of_tile: TileLosses

    def zones(self, level: int) -> Ints:
        """Return the zone of every flow at a level."""
        return self.levels.cut(level)[self.tile]

    def losses(self, level: int) -> Floats:
        """Return the loss of every flow at a level."""
        return self.of_tile.of(np.arange(self.levels.tree.n_tiles), self.levels.cut(level))[self.tile]


def _safe(matrix: ODMatrix, promise: Promise, zones: list[Ints]) -> Bools:
    """Return which flows are in a safe group."""
    groups = group_flows(matrix, zones[0], zones[1], time_zone=zones[2] if len(zones) > 2 else None)
    assert groups is not None
    return promise.safe(groups)[groups.of_flow]
