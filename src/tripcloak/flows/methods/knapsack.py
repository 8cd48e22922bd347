"""The tree knapsack: origins cut to a target volume, destinations cut exactly as well as the limit allows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tripcloak.flows.methods.atg import ATGDual, DestinationMaps, OriginStep, critical_offer
from tripcloak.flows.methods.method import Solution
from tripcloak.flows.methods.products import DESTINATION, ORIGIN
from tripcloak.flows.methods.tree_method import PricedPartition
from tripcloak.flows.model import ODMatrix
from tripcloak.flows.release import Bound
from tripcloak.ground.arrays import Ints
from tripcloak.ground.errors import ImpossibleRequestError, InputError
from tripcloak.ground.options import option
from tripcloak.ground.progress import Progress
from tripcloak.ground.spelling import spelt
from tripcloak.promises import Promise

ROW_BYTES = 24 + 32
"""What one row of the tables takes, and one row of two tables being joined."""

ROUNDING = 1e-9
"""Costs this much apart, as a share of all costs, may be equal."""


@dataclass(frozen=True, kw_only=True)
class QuadtreeKnapsack(ATGDual):
    """Least squares for the origins, and an exact tree knapsack for the destinations.

    The abstract of Matet, Côme and Furno: the origin cut is nearest to a target volume, as in ATG; the
    destination maps then have the least mean number of tiles of all that keep the limit together, found
    by a dynamic programme over the suppressed volume instead of by its dual. It takes any hierarchies,
    not only quadtrees.

    The dual helps all the same: a choice that costs more at the critical price than the best known
    release could ever make up for is left out of the tables, so they stay short.

    Parameters
    ----------
    table_memory
        What the tables may take, in GB. Where that is not enough the request is refused.

    Examples
    --------
    >>> from tripcloak.promises import KAnonymity
    >>> from tripcloak.hierarchy import Hierarchy
    >>> tree = Hierarchy.from_parents(["a", "b", "c", "ab", "all"], [3, 3, 4, 4, -1])
    >>> matrix = ODMatrix.from_trips(tree, tree, np.zeros(7, int), np.array([0, 0, 0, 0, 1, 2, 2]))
    >>> exact = QuadtreeKnapsack(promise=KAnonymity(k=2), suppression_limit=0.2)
    >>> release = exact.anonymise(matrix)
    >>> tree.zones.ids[release.group_destination].tolist(), release.bound.gap
    (['a', 'c'], 0.0)
    """

    name: ClassVar[str] = "quadtree-knapsack"
    summary: ClassVar[str] = "as atg-dual, but the destination cuts are exactly the best within the limit"
    relaxation: ClassVar[str | None] = "exact for this origin cut"
    source: ClassVar[str] = "abstract of Matet, Côme and Furno on quadtrees and the tree knapsack"

    table_memory: float = option(2.0, help="What its tables may take, in GB.", metavar="GB")

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.table_memory < math.inf:
            raise InputError(f"the table memory is a number of GB above 0; got {self.table_memory:g}")

    def solve(self, matrix: ODMatrix, promise: Promise, progress: Progress) -> Solution:
        """Return the origin cut and the best destination maps within the limit."""
        step = OriginStep(matrix, promise, self.suppression_limit, critical_offer)
        attempt = step.settle(self.v_target, progress)
        maps = attempt.maps
        best = best_maps(maps, attempt.offer, int(self.table_memory * 1e9) // ROW_BYTES)
        if best is None:
            gap = 100 * (_mean(maps, attempt.offer) / maps.search.bound - 1)
            raise ImpossibleRequestError(
                "not possible: the tables of the exact programme grow too large for "
                f"{self.table_memory:g} GB. Allow more ({spelt('table_memory')}), take coarser tiles or "
                "fewer trips (weights make the tables long, whole trips keep them short); or take atg-dual, "
                f"which is within {gap:.1g} % of the best here."
            )
        bound = Bound(value=_mean(maps, best), gap=0.0, relaxation=str(self.relaxation))
        return maps.solution(best.plan, bound)


def best_maps(maps: DestinationMaps, start: PricedPartition, room: int) -> PricedPartition | None:
    """Return the destination maps of least mean loss within the budget.

    Parameters
    ----------
    start
        Any maps within the budget; the nearer to the best, the shorter the tables.
    room
        Rows the tables may have; None comes back if that is not enough.
    """
    search = maps.search
    price = search.price
    least = search.offer(price).cost
    best = start
    slack = 0.0
    # Whatever has a smaller mean than the best so far, within the budget, costs at most so much more than
    # the least cost at this price. With no slack at all ties alone fill the budget up.
    while True:
        found = _solve(maps, price, slack + ROUNDING * least, room)
        if found is None:
            return None
        best = min(best, found, key=lambda offer: (_mean(maps, offer), offer.hidden))
        mean = _mean(maps, best)
        needed = mean * search.total + max(0.0, price - mean) * search.budget - least
        if needed <= slack + ROUNDING * least:
            return best
        slack = needed


def _solve(maps: DestinationMaps, price: float, slack: float, room: int) -> PricedPartition | None:
    """Return the best maps whose cost is within the slack; None if there is not enough room."""
    from tripcloak.flows.methods._kernels.knapsack import knapsack

    products = maps.products
    parent = _parents(maps)
    limits = price, slack, maps.search.budget
    rows = min(room, 4 * len(products) + 1024)
    while True:
        choice, loss, hidden = knapsack(products.loss, products.volume, parent, limits, rows)
        if loss >= 0:
            break
        if rows == room:
            return None
        rows = min(room, 4 * rows)
    split = np.flatnonzero(choice == 0)
    choice[split] = np.where(maps.may_split[DESTINATION, split], DESTINATION, ORIGIN)
    return PricedPartition(price, loss, hidden, choice)


def _parents(maps: DestinationMaps) -> Ints:
    """Return, for every product, the one it is a part of after an allowed split, -1 for none."""
    parent = np.full(len(maps.products), -1, dtype=np.int32)
    for axis in (ORIGIN, DESTINATION):
        up = maps.products.up[axis]
        allowed = (up >= 0) & maps.may_split[axis, up]
        parent[allowed] = up[allowed]
    return parent


def _mean(maps: DestinationMaps, offer: PricedPartition) -> float:
    return offer.loss / (maps.products.total - offer.hidden)
