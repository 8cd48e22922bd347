"""Pairs of people with small merges: what they cost by both errors, and rings that change partners."""

from __future__ import annotations

from typing import Any

import numpy as np

from tripcloak.ground.arrays import Floats, Ints
from tripcloak.ground.threads import blocks, in_threads
from tripcloak.trajectories.methods.kmerge import BLOCK, Rates

WIDTHS = np.array([10, 6, 4, 2, 1, 1, 1])
"""How many choices are tried at each step of a ring; hardly more is won by longer ones."""

CHOICES = 24
"""Cheapest partners whom somebody may take in a ring."""

SWEEPS = 20
"""So often everybody is asked, at most; two or three sweeps find nearly all there is."""


def price_pairs(samples: Any, partners: Ints, rates: Rates, jobs: int) -> tuple[Ints, Floats]:
    """Return everybody's partners by row, and what a pair with each costs by these rates."""
    from tripcloak.trajectories.methods._kernels.errors import pairs_by_errors

    n, many = partners.shape
    others = np.sort(partners, axis=1)
    one = np.repeat(np.arange(n), many)
    keys = np.minimum(one, others.ravel()) * n + np.maximum(one, others.ravel())
    # Most are partners of each other, and a pair costs the same for both.
    pairs, of = np.unique(keys, return_inverse=True)

    def of_block(block: slice) -> Floats:
        return pairs_by_errors(samples, pairs[block] // n, pairs[block] % n, rates.floats)

    costs = np.concatenate(list(in_threads(of_block, blocks(len(pairs), BLOCK), jobs)))
    return others, costs[of].reshape(n, many)


def better_pairs(pairs: Any, grouped: Any, random: np.random.Generator) -> tuple[int, Ints]:
    """Let pairs change partners in rings until none saves anything; return how many, and the groups changed.

    Groups of k = 2 people or more with the least cost are pairs but for a few, and pairs of least cost a
    matching: rings of changes come close to the best one (Lin and Kernighan 1973).
    """
    from tripcloak.trajectories.methods._kernels.matching import Choices, Paired, change_partners

    two = np.flatnonzero(grouped.sizes == 2)
    first, second = grouped.members[two, 0], grouped.members[two, 1]
    paired = Paired(np.full(len(grouped.group_of), -1), np.zeros(len(grouped.group_of)))
    paired.mate[first], paired.mate[second] = second, first
    paired.cost[first] = paired.cost[second] = grouped.costs[two]
    ranked = np.argsort(pairs.costs, axis=1, kind="stable")[:, :CHOICES]
    choices = Choices(pairs.others, pairs.costs, np.ascontiguousarray(ranked))
    rings = 0
    for _ in range(SWEEPS):
        more = change_partners(paired, choices, random.permutation(len(paired.mate)), WIDTHS)
        rings += more
        if not more:
            break
    return rings, _regroup(grouped, paired, two)


def _regroup(grouped: Any, paired: Any, two: Ints) -> Ints:
    """Write pairs where pairs were, and return which are new: who stays together stays in its group."""
    first, second = grouped.members[two, 0], grouped.members[two, 1]
    parted = paired.mate[first] != second
    changed, free = two[parted], np.concatenate((first[parted], second[parted]))
    one = np.sort(free[free < paired.mate[free]])
    grouped.members[changed, 0], grouped.members[changed, 1] = one, paired.mate[one]
    grouped.group_of[one] = grouped.group_of[paired.mate[one]] = changed
    grouped.costs[changed] = paired.cost[one]
    return np.asarray(changed)
