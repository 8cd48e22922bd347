"""Ranks: are the busiest flows still the busiest."""

from __future__ import annotations

import numpy as np

from tripcloak.arrays import Floats, Ints
from tripcloak.errors import InputError
from tripcloak.matrix import ODMatrix, Volume
from tripcloak.metrics.comparison import Comparison
from tripcloak.release import Release

TOP = 100


def top_flow_agreement(
    matrix: ODMatrix, release: Release, n: int = TOP, *, volume: Volume | None = None
) -> float | None:
    """Return the rank correlation (Spearman) of the n largest flows before and after; -1 to 1.

    Takes the n largest input flows (all of them if there are fewer; among equals the first by tile
    order) and compares the order of their volumes with the order of the volumes a reader rebuilds on
    the same pairs of tiles. Equal volumes share their mean rank. 0 where the release gives all of them
    the same volume: it then says nothing about their order. None where the input itself does not order
    them: fewer than two flows, or all of them equal.

    Examples
    --------
    >>> from tripcloak.algorithms import ODkAnon
    >>> from tripcloak.criteria import KAnonymity
    >>> from tripcloak.hierarchy import Hierarchy
    >>> tree = Hierarchy.from_parents(["a", "b", "ab"], [2, 2, -1])
    >>> trips = {"trips": np.array([2, 5, 3])}
    >>> matrix = ODMatrix.from_trips(tree, tree, np.array([0, 0, 1]), np.array([0, 1, 1]), **trips)
    >>> release = ODkAnon(criterion=KAnonymity(k=2), suppression_limit=0).anonymise(matrix)
    >>> top_flow_agreement(matrix, release)
    1.0
    """
    if n < 2:
        raise InputError(f"an order needs at least two flows; got n = {n}")
    return top_flow_agreement_of(Comparison.of(matrix, release, volume), n)


def top_flow_agreement_of(comparison: Comparison, n: int = TOP) -> float | None:
    """Return the rank correlation of a comparison's n largest flows."""
    top = _largest(comparison.original, n)
    before = _mean_ranks(comparison.original[top])
    after = _mean_ranks(comparison.reconstructed[top])
    before -= before.mean()
    after -= after.mean()
    if not before.any():
        return None
    if not after.any():
        return 0.0
    return float((before * after).sum() / np.sqrt((before**2).sum() * (after**2).sum()))


def _largest(volumes: Floats, n: int) -> Ints:
    """Return the rows of the n largest volumes; among equals at the edge, the first."""
    if len(volumes) <= n:
        return np.arange(len(volumes))
    edge = np.partition(volumes, -n)[-n]
    above = np.flatnonzero(volumes > edge)
    return np.concatenate((above, np.flatnonzero(volumes == edge)[: n - len(above)]))


def _mean_ranks(values: Floats) -> Floats:
    """Return the rank of every value, equal values sharing the mean of theirs.

    >>> _mean_ranks(np.array([7.0, 3.0, 7.0])).tolist()
    [1.5, 0.0, 1.5]
    """
    _, place, equals = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(equals) - 1
    ranks: Floats = (last - (equals - 1) / 2)[place]
    return ranks
