"""What a reader rebuilds from a release against what was there: cell by cell, and the busiest flows."""

from __future__ import annotations

import numpy as np

from tripcloak.flows.measures.comparison import ReleaseComparison, ratio
from tripcloak.flows.model import ODMatrix
from tripcloak.flows.release import Release
from tripcloak.ground.arrays import Floats, Ints
from tripcloak.ground.errors import InputError
from tripcloak.promises import Volume


def reconstruction_loss(matrix: ODMatrix, release: Release, *, volume: Volume | None = None) -> float | None:
    """Return E, the volume misplaced or lost on all pairs of tiles, as a share of the input; 0 to 2.

    Every released group is spread evenly over its pairs of tiles, all of them, whether they occur or
    not, and over its slots where time is an axis. Suppressed volume counts as lost. The work is one
    step a flow: pairs of tiles that do not occur only matter by the volume that falls on them together.

    Examples
    --------
    Two trips a to c and b to d, released as one group: half a trip on each of four pairs of tiles.

    >>> from tripcloak.flows.methods import ODkAnon
    >>> from tripcloak.promises import KAnonymity
    >>> from tripcloak.hierarchy import Hierarchy
    >>> tree = Hierarchy.from_parents(["a", "b", "c", "d", "ab", "cd", "all"], [4, 4, 5, 5, 6, 6, -1])
    >>> matrix = ODMatrix.from_trips(tree, tree, np.array([0, 1]), np.array([2, 3]))
    >>> release = ODkAnon(promise=KAnonymity(k=2), suppression_limit=0).anonymise(matrix)
    >>> reconstruction_loss(matrix, release), cpc(matrix, release)
    (1.0, 0.5)
    """
    return reconstruction_loss_of(ReleaseComparison.of(matrix, release, volume))


def distribution_loss(matrix: ODMatrix, release: Release, *, volume: Volume | None = None) -> float | None:
    """Return D, the same as E between shares: rebuilt by V+ against original by V; 0 to 2.

    Suppression is not punished for the volume it takes, only for the shape it bends. See
    :func:`reconstruction_loss` for an example of its sister.
    """
    return distribution_loss_of(ReleaseComparison.of(matrix, release, volume))


def cpc(matrix: ODMatrix, release: Release, *, volume: Volume | None = None) -> float | None:
    """Return CPC, the common part of commuters: twice the volume in common over both volumes; 0 to 1.

    With nothing suppressed it equals 1 - E / 2. See :func:`reconstruction_loss` for an example.
    """
    return cpc_of(ReleaseComparison.of(matrix, release, volume))


def cpc_of_shares(matrix: ODMatrix, release: Release, *, volume: Volume | None = None) -> float | None:
    """Return CPC_shares, what both matrices have in common as shares of their own totals; 0 to 1.

    It is one minus the total variation between the two distributions, 1 - D / 2: a release that counts
    only some trips of every traveller, or has a noisy total, is judged by its shape.

    Examples
    --------
    Of five trips two are withheld: three of eight are common, and of shares 0.6 and 1 it is 0.6.

    >>> from tripcloak.flows.methods import Suppression
    >>> from tripcloak.promises import KAnonymity
    >>> from tripcloak.hierarchy import Hierarchy
    >>> tree = Hierarchy.from_parents(["a", "b", "ab"], [2, 2, -1])
    >>> ends, trips = np.array([0, 1]), np.array([3, 2])
    >>> matrix = ODMatrix.from_trips(tree, tree, ends, ends, trips=trips)
    >>> release = Suppression(promise=KAnonymity(k=3), suppression_limit=0.4).anonymise(matrix)
    >>> cpc_of_shares(matrix, release), cpc(matrix, release)
    (0.6, 0.75)
    """
    return cpc_of_shares_of(ReleaseComparison.of(matrix, release, volume))


def reconstruction_loss_of(comparison: ReleaseComparison) -> float | None:
    """Return E of a comparison."""
    misplaced = np.abs(comparison.reconstructed - comparison.original).sum()
    return ratio(float(misplaced) + comparison.on_empty_cells, comparison.total)


def distribution_loss_of(comparison: ReleaseComparison) -> float | None:
    """Return D of a comparison."""
    if comparison.total == 0 or comparison.released_total == 0:
        return None
    shares = comparison.reconstructed / comparison.released_total
    misplaced = np.abs(shares - comparison.original / comparison.total).sum()
    return float(misplaced) + comparison.on_empty_cells / float(comparison.released_total)


def cpc_of(comparison: ReleaseComparison) -> float | None:
    """Return CPC of a comparison."""
    in_common = np.minimum(comparison.reconstructed, comparison.original).sum()
    return ratio(2 * float(in_common), comparison.released_total + comparison.total)


def cpc_of_shares_of(comparison: ReleaseComparison) -> float | None:
    """Return CPC_shares of a comparison."""
    if comparison.total == 0 or comparison.released_total == 0:
        return None
    shares = comparison.reconstructed / comparison.released_total
    return float(np.minimum(shares, comparison.original / comparison.total).sum())


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
    >>> from tripcloak.flows.methods import ODkAnon
    >>> from tripcloak.promises import KAnonymity
    >>> from tripcloak.hierarchy import Hierarchy
    >>> tree = Hierarchy.from_parents(["a", "b", "ab"], [2, 2, -1])
    >>> trips = {"trips": np.array([2, 5, 3])}
    >>> matrix = ODMatrix.from_trips(tree, tree, np.array([0, 0, 1]), np.array([0, 1, 1]), **trips)
    >>> release = ODkAnon(promise=KAnonymity(k=2), suppression_limit=0).anonymise(matrix)
    >>> top_flow_agreement(matrix, release)
    1.0
    """
    if n < 2:
        raise InputError(f"an order needs at least two flows; got n = {n}")
    return top_flow_agreement_of(ReleaseComparison.of(matrix, release, volume), n)


def top_flow_agreement_of(comparison: ReleaseComparison, n: int = TOP) -> float | None:
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
