"""Sizes: how much is withheld and how large the released groups are."""

from __future__ import annotations

import numpy as np

from tripcloak.arrays import Floats
from tripcloak.matrix import ODMatrix, Volume
from tripcloak.metrics.comparison import Comparison, ratio
from tripcloak.release import Release


def suppressed_share(matrix: ODMatrix, release: Release, *, volume: Volume | None = None) -> float | None:
    """Return S, the suppressed share of the input's volume; None if the input has no volume.

    Examples
    --------
    >>> from tripcloak.algorithms import ODkAnon
    >>> from tripcloak.criteria import KAnonymity
    >>> from tripcloak.hierarchy import Hierarchy
    >>> tree = Hierarchy.from_parents(["a", "b", "c", "d", "ab", "cd", "all"], [4, 4, 5, 5, 6, 6, -1])
    >>> origin, destination = np.array([[0, 0, 1, 1, 2], [2, 2, 2, 2, 3]])
    >>> matrix = ODMatrix.from_trips(tree, tree, origin, destination)
    >>> method = ODkAnon(criterion=KAnonymity(k=2), suppression_limit=0.4, levels=0)
    >>> release = method.anonymise(matrix)
    >>> suppressed_share(matrix, release), discernability(matrix, release)
    (0.2, 13)
    >>> average_group_size(matrix, release)
    1.0
    """
    return suppressed_share_of(Comparison.of(matrix, release, volume))


def discernability(matrix: ODMatrix, release: Release, *, volume: Volume | None = None) -> float:
    """Return C_DM: the squares of the group sizes plus, for what is suppressed, the whole input each.

    An exact whole number when the volume is trips. See :func:`suppressed_share` for an example.
    """
    return discernability_of(Comparison.of(matrix, release, volume))


def average_group_size(matrix: ODMatrix, release: Release, *, volume: Volume | None = None) -> float | None:
    """Return C_AVG, the mean volume of a released group in units of the threshold k.

    See :func:`suppressed_share` for an example.
    """
    return average_group_size_of(Comparison.of(matrix, release, volume))


def suppressed_share_of(comparison: Comparison) -> float | None:
    """Return S of a comparison."""
    return ratio(comparison.suppressed_total, comparison.total)


def discernability_of(comparison: Comparison) -> float:
    """Return C_DM of a comparison."""
    lost: float = comparison.total * comparison.suppressed_total
    return _sum_of_squares(comparison.released, comparison.released_total) + lost


def average_group_size_of(comparison: Comparison) -> float | None:
    """Return C_AVG of a comparison; None where no k is promised."""
    release = comparison.release
    return None if release.k is None else ratio(comparison.released_total, release.n_groups * release.k)


def _sum_of_squares(sizes: Floats, total: float) -> float:
    # The squares of whole numbers below 2**31 in total stay below 2**62; beyond that, Python's integers.
    fits = sizes.dtype.kind == "f" or total < 2**31
    squares = np.square(sizes if fits else sizes.astype(object))
    square_sum: float = squares.sum().item() if fits else squares.sum()
    return square_sum
