"""GLOVE: groups of trajectories, merged two by two, cheapest first, until each holds k people."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from tripcloak.ground.arrays import Floats, Ints
from tripcloak.ground.errors import InputError
from tripcloak.ground.options import option
from tripcloak.ground.progress import Progress, silent
from tripcloak.ground.spelling import spelt
from tripcloak.trajectories.methods.devices import Device, find_device
from tripcloak.trajectories.methods.kmerge import k_merge, merge_groups
from tripcloak.trajectories.methods.method import ABOUT_DEVICE, ABOUT_JOBS, HidingMethod
from tripcloak.trajectories.model import Trajectories
from tripcloak.trajectories.release.release import TrajectorySolution

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
        device: Device | None = None,
        progress: Callable[[int, int], None] = lambda done, total: None,
    ) -> None:
        n = trajectories.n_users
        self.trajectories = trajectories
        self.members: dict[int, Ints] = {i: np.array([i]) for i in range(n)}
        self.merges = 0
        self._samples = trajectories.lengths.astype(np.float64)
        self._total = _all_pairs(trajectories, device or Device(jobs=1), progress)
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


def _all_pairs(trajectories: Trajectories, device: Device, progress: Callable[[int, int], None]) -> Floats:
    """Return the total cost of merging every two trajectories; infinite for one and itself."""
    n, lengths = trajectories.n_users, trajectories.lengths
    total = np.full((n, n), np.inf)
    begin = 0
    while begin < n:
        progress(begin, n)
        end = min(n, begin + max(1, PAIRS // (n - begin)))
        rows, columns = np.triu_indices(end - begin, 1, n - begin)
        rows, columns = rows + begin, columns + begin
        costs = device.pair_costs(trajectories, rows, columns)
        # Totals are whole numbers: rounding undoes the division by the number of samples.
        total[rows, columns] = np.rint(costs * (lengths[rows] + lengths[columns]))
        total[columns, rows] = total[rows, columns]
        begin = end
    return total


@dataclass(frozen=True, kw_only=True)
class TrajectoryGlove(HidingMethod):
    """GLOVE (Gramaglia and Fiore 2015; Gramaglia et al. 2021) with k-merge, as in the k-scale paper (IV).

    Every trajectory starts alone. The two groups that are cheapest to merge become one, again and again;
    a group of k people or more leaves the pool. Everybody of a group is released as the same generalised
    trajectory, the optimal merge of all their samples. Nothing is deleted and nothing is created.

    From the articles come the greedy rule over all pairs and when a group is done; from the k-scale
    paper k-merge in place of GLOVE's own merge, and with it the cost: duration x (width + height), the
    mean over the samples of both (eq. 4). Where they are silent, this was decided: a merged group is
    always the merge of its members' original samples, not of its parts' boxes; of equally cheap pairs
    the first is taken; the last group, if it stays below k, joins the finished group whose total cost
    then grows least. (The published GLOVE may delete samples and trajectories that are hard to hide;
    this one does not.)

    All pairs are merged once, so work and memory grow with the square of the number of people. Costs of
    larger groups are only computed for pairs that a bound does not rule out; the result is that of
    computing them all.

    Parameters
    ----------
    jobs
        Threads; as many as there are cores if not given. The release does not depend on it.
    device
        ``gpu``: all pairs are merged on an NVIDIA GPU. ``auto``: so, if there is one. The release does not
        depend on it.

    Examples
    --------
    >>> from tripcloak.trajectories.model import Grid
    >>> made = Trajectories.of(user=list("abcd"), t=[0, 50, 1, 52], x=[0] * 4, y=[0] * 4, grid=Grid())
    >>> release = TrajectoryGlove(k=2).anonymise(made)
    >>> release.boxes.t0.tolist(), release.boxes.t1.tolist()
    ([0, 50, 0, 50], [2, 53, 2, 53])
    """

    name: ClassVar[str] = "glove"
    summary: ClassVar[str] = "merges groups of trajectories, cheapest pair first; up to 20,000 people"
    source: ClassVar[str] = "Gramaglia and Fiore 2015, with k-merge as in the k-scale paper, section IV"

    most_users: ClassVar[int] = 20_000
    """Beyond this many people the costs of all pairs outgrow 4 GB of memory and half an hour of work."""

    jobs: int | None = option(None, **ABOUT_JOBS)
    device: str = option("auto", **ABOUT_DEVICE)

    def solve(self, trajectories: Trajectories, progress: Progress) -> TrajectorySolution:
        """Return the merged trajectories, or raise where there are too many people for all pairs."""
        if trajectories.n_users > self.most_users:
            raise InputError(
                f"glove merges every two trajectories, so it takes {self.most_users:,} people at most, "
                f"and the input has more; use {spelt('method', 'k-scale')}, which scales to millions"
            )
        pool = Pool(
            trajectories,
            device=find_device(self.device, self.jobs),
            progress=lambda done, total: progress("merging all pairs", done, total),
        )
        groups = greedy_groups(pool, self.k, progress)
        facts = {
            "groups": len(groups),
            "largest_group": max(map(len, groups)),
            "pairs_merged": trajectories.n_users * (trajectories.n_users - 1) // 2,
            "group_merges": pool.merges,
        }
        return merge_groups(trajectories, groups, facts)


def greedy_groups(pool: Pool, k: int, progress: Progress = silent) -> list[Ints]:
    """Return groups of k people or more, by their first member; the pool is empty then, or nearly.

    Examples
    --------
    >>> from tripcloak.trajectories.model import Grid
    >>> made = Trajectories.of(user=list("abcd"), t=[0, 50, 1, 52], x=[0] * 4, y=[0] * 4, grid=Grid())
    >>> [members.tolist() for members in greedy_groups(Pool(made), k=2)]
    [[0, 2], [1, 3]]
    """
    done: list[Ints] = []
    n = len(pool.members)
    # Invariant: everybody is in exactly one group, of the pool or done; those done hold k or more.
    while len(pool.members) > 1:
        pair = pool.cheapest()
        if not pair.exact:
            pool.settle(pair)
            continue
        pool.merge(pair)
        if len(pool.members[pair.first]) >= k:
            done.append(pool.remove(pair.first))
        progress("merging groups", n - len(pool.members), n)
    done.sort(key=lambda members: int(members[0]))
    for members in pool.members.values():
        _join(pool.trajectories, done, members)
    return done


def _join(trajectories: Trajectories, groups: list[Ints], members: Ints) -> None:
    """Add these members to the group whose total cost grows least."""

    def growth(at: int) -> float:
        joined = np.sort(np.concatenate((groups[at], members)))
        return k_merge(trajectories, joined).cost - k_merge(trajectories, groups[at]).cost

    cheapest = min(range(len(groups)), key=growth)
    groups[cheapest] = np.sort(np.concatenate((groups[cheapest], members)))
