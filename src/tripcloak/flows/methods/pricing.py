"""The price of suppression at which the best partition keeps the limit, and the best pruning of a tree."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from tripcloak.ground.arrays import Bools, Floats
from tripcloak.ground.errors import InternalError
from tripcloak.hierarchy import Hierarchy

CLOSE = 1e-9
MOST_ROUNDS = 200


class PricedPartition(NamedTuple):
    """The best partition at one price: its loss, what it suppresses, and how it was chosen."""

    price: float
    loss: float
    hidden: float
    plan: Any

    @property
    def cost(self) -> float:
        """Return the loss plus the price of what is suppressed."""
        return self.loss + self.price * self.hidden


@dataclass
class PriceSearch:
    """Finds the smallest price whose best partition suppresses no more than the budget.

    The least cost is a concave function of the price, made of straight pieces; two partitions on
    either side of the budget cross at a price where either is as good, and the best partition there
    is better than both or the search is done. So every round lands on a breakpoint, and the side that
    keeps the limit is always at hand.

    Attributes
    ----------
    budget, total : float
        The volume that may be suppressed, and all volume.
    least : float
        A loss per unit that nothing released goes below; as a price it proves itself as a bound.
    bound : float
        The largest proven lower bound so far on the mean loss of any release within the budget.
    price : float
        The price that proves it; the critical one when the search is done.
    """

    solve: Callable[[float], PricedPartition]
    budget: float
    total: float
    least: float = 0.0
    bound: float = field(init=False)
    price: float = field(init=False)

    def __post_init__(self) -> None:
        self.bound = self.price = self.least

    def offer(self, price: float) -> PricedPartition:
        """Return the best partition at a price; every answer may raise the bound."""
        offer = self.solve(price)
        # Any release within the budget costs at least this much here, and a mean over a smaller
        # released volume only grows: the bound is least where the whole budget is used.
        least = (offer.cost - price * self.budget) / (self.total - self.budget)
        if least > self.bound:
            self.bound, self.price = least, price
        return offer

    def run(self, highest: float, stop: Callable[[], bool] = lambda: False) -> PricedPartition:
        """Return the best partition within the budget at the critical price.

        Parameters
        ----------
        highest
            A price above every loss, at which only what can never be safe is suppressed.
        stop
            Asked every round; True ends the search with the best so far.
        """
        above = self.offer(highest)
        if above.hidden > self.budget:
            raise InternalError("the highest price still suppresses more than the limit")
        below = self.offer(0.0)
        for _ in range(MOST_ROUNDS):
            if below.hidden <= self.budget or stop():
                break
            price = (above.loss - below.loss) / (below.hidden - above.hidden)
            middle = self.offer(price)
            if middle.cost >= (above.loss + price * above.hidden) * (1 - CLOSE):
                break
            above, below = (middle, below) if middle.hidden <= self.budget else (above, middle)
        return below if below.hidden <= self.budget else above


def optimal_pruning(tree: Hierarchy, cost: Floats) -> Bools:
    """Return the zones that are no dearer than the best cut below them.

    The highest of them make the cut of least total cost (method 1 of the ATG paper); of two equal
    costs the undivided zone wins.

    Examples
    --------
    >>> tree = Hierarchy.from_parents(["a", "b", "c", "ab", "all"], [3, 3, 4, 4, -1])
    >>> own = optimal_pruning(tree, np.array([1.0, 1.0, 1.0, 1.5, 4.0]))
    >>> tree.zones.ids[tree.highest(own)].tolist()
    ['ab', 'ab', 'c']
    """
    own = np.ones(len(tree), dtype=bool)
    best, below = cost.copy(), np.zeros(len(tree))
    # Invariant: `below` holds the best cost of all children of the zones of a level when it is reached.
    for height, level in enumerate(tree.levels):
        if height:
            own[level] = cost[level] <= below[level]
            best[level] = np.minimum(cost[level], below[level])
        if level.stop < len(tree):
            np.add.at(below, tree.parent[level], best[level])
    return own
