"""Pool: groups that still look for company, and what merging any two of them costs, at least."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from tripcloak.arrays import Floats, Ints
from tripcloak.trajectories.merging.kmerge import k_merge, pair_costs
from tripcloak.trajectories.trajectories import Trajectories

PAIRS = 1 << 18
"""About so many pairs are merged between two reports of progress."""


class Pair(NamedTuple):
    """Two groups, and the cost of merging them a sample; it may be a bound that is not reached."""

    first: int
    second: int
    cost: float
    exact: bool


class Pool:
    """Groups that still look for company.

    A group is named by the first of its members. The cost of merging two groups is that of the optimal
    merge of all their members' samples, a sample. It is computed when it is asked for; until then a
    bound stands in, so that the cheapest pair is found without merging most of them.

    The bound: a cover of a set of members is also one of any part of it, and no cheaper there than the
    best. In a cover of A, B and C every sample is in two of the three unions of two, so the best
    covers of these three cost twice as much at most: total(A, B, C) >= (total(A, B) + total(A, C) +
    total(B, C)) / 2.
    """

    def __init__(
        self,
        trajectories: Trajectories,
        *,
        jobs: int = 1,
        progress: Callable[[int, int], None] = lambda done, total: None,
    ) -> None:
        n = trajectories.n_users
        self.trajectories = trajectories
        self.members: dict[int, Ints] = {i: np.array([i]) for i in range(n)}
        self.merges = 0
        self._samples = trajectories.lengths.astype(np.float64)
        self._total = _all_pairs(trajectories, jobs, progress)
        self._exact = np.ones((n, n), dtype=bool)
        self._least = np.full(n, np.inf)
        self._nearest = np.zeros(n, dtype=np.int64)
        for i in range(n):
            self._look(i)

    def cheapest(self) -> Pair:
        """Return the pair that may be cheapest; of several the first."""
        first = int(np.argmin(self._least))
        second = int(self._nearest[first])
        return Pair(first, second, float(self._least[first]), bool(self._exact[first, second]))

    def settle(self, pair: Pair) -> None:
        """Replace the bound of a pair by its cost."""
        both = np.concatenate((self.members[pair.first], self.members[pair.second]))
        self._write(pair.first, pair.second, k_merge(self.trajectories, np.sort(both)).cost)
        self.merges += 1
        self._look(pair.first)
        self._look(pair.second)

    def merge(self, pair: Pair) -> None:
        """Make one group of a pair whose cost is settled; it goes by the first one's name."""
        first, second = pair.first, pair.second
        total = self._total[first, second]
        bound = (self._total[first] + self._total[second] + total) / 2
        self.members[first] = np.sort(np.concatenate((self.members[first], self.members[second])))
        self._samples[first] += self._samples[second]
        self._total[first], self._total[:, first] = bound, bound
        self._exact[first], self._exact[:, first] = False, False
        self._total[first, first] = np.inf
        self.remove(second)
        self._look(first)
        self._look_again(first)

    def remove(self, group: int) -> Ints:
        """Take a group out of the pool and return its members."""
        self._total[group], self._total[:, group] = np.inf, np.inf
        self._least[group] = np.inf
        self._look_again(group)
        return self.members.pop(group)

    def _look_again(self, group: int) -> None:
        """Find the nearest anew for all whose nearest was this group, or that may be nearer to it now."""
        costs = self._total[group] / (self._samples + self._samples[group])
        for other in np.flatnonzero((self._nearest == group) | (costs <= self._least)):
            if other != group and int(other) in self.members:
                self._look(int(other))

    def _look(self, group: int) -> None:
        costs = self._total[group] / (self._samples + self._samples[group])
        self._nearest[group] = np.argmin(costs)
        self._least[group] = costs[self._nearest[group]]

    def _write(self, first: int, second: int, total: float) -> None:
        for a, b in ((first, second), (second, first)):
            self._total[a, b] = total
            self._exact[a, b] = True


def _all_pairs(trajectories: Trajectories, jobs: int, progress: Callable[[int, int], None]) -> Floats:
    """Return the total cost of merging every two trajectories; infinite for one and itself."""
    n, lengths = trajectories.n_users, trajectories.lengths
    total = np.full((n, n), np.inf)
    begin = 0
    while begin < n:
        progress(begin, n)
        end = min(n, begin + max(1, PAIRS // (n - begin)))
        rows, columns = np.triu_indices(end - begin, 1, n - begin)
        rows, columns = rows + begin, columns + begin
        costs = pair_costs(trajectories, rows, columns, jobs=jobs)
        # Totals are whole numbers: rounding undoes the division by the number of samples.
        total[rows, columns] = np.rint(costs * (lengths[rows] + lengths[columns]))
        total[columns, rows] = total[rows, columns]
        begin = end
    return total
