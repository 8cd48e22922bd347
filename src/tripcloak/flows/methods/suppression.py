"""Suppression alone: tiles stay as they are, and what is not safe by itself is withheld."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tripcloak.flows.methods.method import FlowMethod, Solution, budget_of, whole_units
from tripcloak.flows.model import ODMatrix, group_flows
from tripcloak.flows.release import main_volume
from tripcloak.ground.errors import ImpossibleRequestError
from tripcloak.ground.progress import Progress
from tripcloak.promises import Promise


@dataclass(frozen=True, kw_only=True)
class Suppression(FlowMethod):
    """No generalisation: every flow between two tiles is released as it is, or withheld.

    The yardstick of the papers (section 4.2 of the ATG paper): what the finest resolution costs. Sparse
    data need a limit far beyond what is usual; where the limit is too small the request is refused.

    Examples
    --------
    >>> import numpy as np
    >>> from tripcloak.promises import KAnonymity
    >>> from tripcloak.hierarchy import Hierarchy
    >>> tree = Hierarchy.from_parents(["a", "b", "all"], [2, 2, -1])
    >>> matrix = ODMatrix.from_trips(tree, tree, np.array([0, 0, 1]), np.array([1, 1, 0]))
    >>> release = Suppression(promise=KAnonymity(k=2), suppression_limit=0.4).anonymise(matrix)
    >>> release.trips.tolist(), release.suppressed.tolist()
    ([2], [False, True])
    >>> Suppression(promise=KAnonymity(k=2), suppression_limit=0.1).anonymise(matrix)
    Traceback (most recent call last):
    tripcloak.ImpossibleRequestError: not possible: ... A limit of 34 % would do, ...
    """

    name: ClassVar[str] = "suppression"
    summary: ClassVar[str] = "no generalisation: flows between tiles that are not safe are withheld"
    source: ClassVar[str] = "a yardstick; Matet et al. 2023, section 4.2"
    handles_time: ClassVar[bool] = True
    judges_products: ClassVar[bool] = True

    def solve(self, matrix: ODMatrix, promise: Promise, progress: Progress) -> Solution:
        """Return the flows as they are, those that are not safe withheld."""
        flows = matrix.flows
        groups = group_flows(matrix, flows.origin, flows.destination, time_zone=flows.slot)
        assert groups is not None
        suppressed = ~promise.safe(groups)[groups.of_flow]
        units = whole_units(matrix.volume(main_volume(promise)))
        hidden = float(units[suppressed].sum())
        if hidden > budget_of(units, self.suppression_limit):
            percent = next(p for p in range(101) if p == 100 or hidden <= budget_of(units, p / 100))
            raise ImpossibleRequestError(_refusal(self.suppression_limit, percent))
        return Solution(
            origin_zone=flows.origin,
            destination_zone=flows.destination,
            suppressed=suppressed,
            homogeneous=True,
            time_zone=flows.slot,
        )


def _refusal(limit: float, percent: int) -> str:
    """Say what would be possible, in a share rounded up so that it tells little."""
    others = "coarser tiles, or a method that generalises, such as twincut"
    way = f"A limit of {percent} % would do, or {others}." if percent < 100 else f"Use {others}."
    return (
        f"not possible: with the tiles as they are, more than the limit of {limit:.0%} would have to be "
        f"withheld. {way}"
    )
