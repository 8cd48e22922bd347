"""GLOVE in plain Python: every pair merged anew at every step."""

from __future__ import annotations

from itertools import combinations

from oracles.trajectories.merging import cover
from tripcloak.trajectories.model import Trajectories


def greedy_groups(trajectories: Trajectories, k: int) -> list[tuple[int, ...]]:
    """Return the groups that merging the cheapest pair again and again leads to."""
    known: dict[tuple[int, ...], float] = {}

    def total(members: tuple[int, ...]) -> float:
        if members not in known:
            known[members] = cover(trajectories, list(members))[-1]
        return known[members]

    def mean(members: tuple[int, ...]) -> float:
        return total(members) / float(trajectories.lengths[list(members)].sum())

    pool = [(i,) for i in range(trajectories.n_users)]
    done: list[tuple[int, ...]] = []
    while len(pool) > 1:
        pool.sort()
        a, b = min(combinations(pool, 2), key=lambda two: mean(joined(*two)))
        pool = [group for group in pool if group not in (a, b)]
        (done if len(a) + len(b) >= k else pool).append(joined(a, b))
    done.sort()
    for left in pool:
        cheapest = min(done, key=lambda group: total(joined(group, left)) - total(group))
        done[done.index(cheapest)] = joined(cheapest, left)
    return sorted(done)


def joined(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
    """Return the members of both, in order."""
    return tuple(sorted(a + b))
