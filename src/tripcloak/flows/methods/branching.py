"""Branching: what the decomposition leaves open is divided or not, until nothing is left to doubt."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import count

import numpy as np

from tripcloak.flows.methods.cut_pairs import CutPairSearch, Settled
from tripcloak.flows.methods.decomposition import Decomposition
from tripcloak.flows.methods.products import DESTINATION, ORIGIN
from tripcloak.flows.methods.withholding import withhold_best

ROUNDS = 3
"""Rounds of the decomposition for every part of the problem, from where the whole stood."""

PART, ZONE, ROUND = 50_000, 6, 5_000
"""What a part, every zone of both trees in it and a round cost besides looking at products, in products."""

EQUAL = 1 - 1e-10
"""Where the bound is so near what was reached, they are the same but for rounding."""


@dataclass
class Branching:
    """Best-first search over what zones may be: divided, or not.

    Of all parts of the problem the one with the lowest bound is taken, and a zone of it that the two problems
    of the decomposition use differently: either it is not divided, or it is where it comes up. Both are
    bounded anew; where one cannot hold anything better than what is known it is left. Where no zone is open
    there is one pair of cuts, and the best choice of what it withholds is found by itself.

    Attributes
    ----------
    best : Settled
        The best pair of cuts that is known.
    looked : int
        Products that were looked at, as a measure of the effort.
    """

    pairs: CutPairSearch
    best: Settled
    looked: int = 0
    _least: float = field(default=np.inf, init=False)

    def run(self, proof: Decomposition, stop: Callable[[int], bool]) -> float:
        """Return what no pair of cuts goes below; the mean of the best one where the search came to its end.

        Parameters
        ----------
        stop
            Asked before every part with the effort so far; True ends the search.
        """
        number, whole = count(), proof.part()
        waiting = [(max(proof.bound, self._look_into(whole)), next(number), whole)]
        # Invariant: a pair better than the best lies in a part that waits, or its mean is at least `_least`.
        while waiting and waiting[0][0] < self.best.mean * EQUAL and not stop(self.looked):
            bound, _, node = heappop(waiting)
            axis, zone = _in_doubt(node)
            for which in range(2):
                ruled = node.ruled.copy()
                ruled[which][axis][zone] = True
                part = node.part(ruled)
                low = max(bound, self._look_into(part))
                if low < self.best.mean * EQUAL:
                    heappush(waiting, (low, next(number), part))
        least = min([self.best.mean, self._least, *(bound for bound, _, _ in waiting)])
        return self.best.mean if least >= self.best.mean * EQUAL else least

    def _look_into(self, part: Decomposition) -> float:
        """Return what a part of the problem is bounded by, infinite if it need not be looked into further."""
        self.looked += PART + ZONE * sum(len(tree) for tree in part.left.axes)
        for _ in range(ROUNDS):
            part.round(self.best.mean)
            self.looked += part.size + ROUND
            if part.settled:
                break
        part.leave_out()
        low = self._try(part)
        if any(some.any() for some in part.left.open):
            return part.bound
        self._least = min(self._least, max(low, part.bound))
        return np.inf

    def _try(self, part: Decomposition) -> float:
        """Take the cuts that the two problems would make as a pair; return what it cannot go below."""
        cuts = [self.pairs.cut_of(axis, part.cut(axis)) for axis in (ORIGIN, DESTINATION)]
        pair = self.pairs.evaluate(cuts[0], cuts[1])
        if pair.hidden > self.pairs.budget:
            return np.inf
        settled, low = withhold_best(self.pairs, pair)
        self.best = min(self.best, settled, key=lambda one: one.mean)
        return low


def _in_doubt(part: Decomposition) -> tuple[int, int]:
    """Return the axis and the open zone that the two problems use most differently; if none, the coarsest."""
    scores = []
    for axis, some in enumerate(part.left.open):
        tree = part.left.axes[axis]
        used = part.apart(axis) * tree.zones.tiles + np.arange(len(tree)) / len(tree)
        scores.append(np.where(some, used, -1.0))
    axis = int(np.argmax([score.max() for score in scores]))
    return axis, int(np.argmax(scores[axis]))
