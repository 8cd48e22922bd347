"""Agreement: how alike two answers to one question are, whatever order they come in."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tripcloak.ground.arrays import Floats, Ints

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


def adjusted_rand(one: Ints, other: Ints) -> float:
    """Return the adjusted Rand index of two clusterings: 1 where they are the same, about 0 by chance.

    Pairs of things that both put together, beyond what two random clusterings of these sizes would.
    Clusters are numbered from 0.

    >>> adjusted_rand(np.array([0, 0, 1, 1]), np.array([2, 2, 1, 1]))
    1.0
    >>> round(adjusted_rand(np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])), 6)
    -0.5
    """
    table = contingency(one, other).astype(float)
    both, first, second = (_pairs(sizes).sum() for sizes in (table, table.sum(axis=1), table.sum(axis=0)))
    expected = first * second / max(_pairs(table.sum()), 1.0)
    highest = (first + second) / 2
    return 1.0 if highest == expected else float((both - expected) / (highest - expected))


def contingency(
    one: Ints, other: Ints, shape: tuple[int, int] | None = None, weight: Floats | None = None
) -> Floats:
    """Return how many things, or what weight, every cluster of the one (rows) shares with each of the other.

    >>> contingency(np.array([0, 0, 1]), np.array([0, 2, 2])).tolist()
    [[1, 0, 1], [0, 0, 1]]
    """
    n, m = (int(one.max()) + 1, int(other.max()) + 1) if shape is None else shape
    return np.bincount(one.astype(np.int64) * m + other, weight, minlength=n * m).reshape(n, m)


def correlations(one: Floats, other: Floats) -> Floats:
    """Return Pearson's correlation of every row with the same row of the other.

    0 where one of them never changes and so says nothing about the other.

    >>> rises, falls, stays = [1.0, 2.0, 3.0], [9.0, 5.0, 1.0], [4.0, 4.0, 4.0]
    >>> correlations(np.array([rises, rises, rises]), np.array([rises, falls, stays])).round(6).tolist()
    [1.0, -1.0, 0.0]
    """
    first, second = (rows - rows.mean(axis=1, keepdims=True) for rows in (one, other))
    size = np.sqrt((first**2).sum(axis=1) * (second**2).sum(axis=1))
    # What is left of equal numbers after their mean is taken away is no change.
    changes = size > 1e-12 * np.abs(one).max(initial=0.0) * np.abs(other).max(initial=0.0)
    found: Floats = np.where(changes, (first * second).sum(axis=1), 0.0) / np.where(changes, size, 1.0)
    return found.clip(-1.0, 1.0)


class AgreementSpread(NamedTuple):
    """A number that differs from zone to zone: its weighted mean and quantiles (5, 25, 50, 75 and 95 %)."""

    mean: float
    quantiles: tuple[float, ...]

    @classmethod
    def of(cls, values: Floats, weight: Floats) -> AgreementSpread:
        """Return the spread of values, of which each counts by its weight.

        >>> AgreementSpread.of(np.array([0.0, 1.0]), np.array([1.0, 3.0]))
        AgreementSpread(mean=0.75, quantiles=(0.0, 0.0, 1.0, 1.0, 1.0))
        """
        order = np.argsort(values, kind="stable")
        upto = np.cumsum(weight[order])
        at = np.searchsorted(upto, np.array(QUANTILES) * upto[-1])
        mean = float((values * weight).sum() / upto[-1])
        return cls(mean, tuple(values[order[np.minimum(at, len(order) - 1)]].tolist()))


def cosines(one: Floats, other: Floats) -> Floats:
    """Return the cosine of every row of the one with every row of the other; 0 where a row is empty.

    >>> cosines(np.array([[1.0, 0.0]]), np.array([[1.0, 0.0], [0.0, 2.0], [3.0, 4.0], [0.0, 0.0]])).tolist()
    [[1.0, 0.0, 0.6, 0.0]]
    """
    lengths = (np.linalg.norm(rows, axis=1, keepdims=True) for rows in (one, other))
    first, second = (rows / np.where(n > 0, n, 1.0) for rows, n in zip((one, other), lengths, strict=True))
    found: Floats = first @ second.T
    return found


def best_match(similarity: Floats) -> Ints:
    """Return, for every row, the column matched with it so that the similarities add up to the most.

    Every column is taken at most once; -1 where rows are more than columns and one is left over.

    >>> best_match(np.array([[0.9, 0.8], [0.8, 0.1]])).tolist()
    [1, 0]
    """
    from scipy.optimize import linear_sum_assignment

    row, column = linear_sum_assignment(similarity, maximize=True)
    match = np.full(len(similarity), -1)
    match[row] = column
    return match


def _pairs(n: Floats) -> Floats:
    pairs: Floats = n * (n - 1) / 2
    return pairs
