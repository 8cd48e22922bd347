"""What a reader rebuilds from a release, pair of tiles by pair of tiles, against what was there."""

from __future__ import annotations

import numpy as np

from tripcloak.matrix import ODMatrix, Volume
from tripcloak.metrics.comparison import Comparison, ratio
from tripcloak.release import Release


def reconstruction_loss(matrix: ODMatrix, release: Release, *, volume: Volume | None = None) -> float | None:
    """Return E, the volume misplaced or lost on all pairs of tiles, as a share of the input; 0 to 2.

    Every released group is spread evenly over its pairs of tiles, all of them, whether they occur or
    not, and over its slots where time is an axis. Suppressed volume counts as lost. The work is one
    step a flow: pairs of tiles that do not occur only matter by the volume that falls on them together.

    Examples
    --------
    Two trips a to c and b to d, released as one group: half a trip on each of four pairs of tiles.

    >>> from tripcloak.algorithms import ODkAnon
    >>> from tripcloak.criteria import KAnonymity
    >>> from tripcloak.hierarchy import Hierarchy
    >>> tree = Hierarchy.from_parents(["a", "b", "c", "d", "ab", "cd", "all"], [4, 4, 5, 5, 6, 6, -1])
    >>> matrix = ODMatrix.from_trips(tree, tree, np.array([0, 1]), np.array([2, 3]))
    >>> release = ODkAnon(criterion=KAnonymity(k=2), suppression_limit=0).anonymise(matrix)
    >>> reconstruction_loss(matrix, release), cpc(matrix, release)
    (1.0, 0.5)
    """
    return reconstruction_loss_of(Comparison.of(matrix, release, volume))


def distribution_loss(matrix: ODMatrix, release: Release, *, volume: Volume | None = None) -> float | None:
    """Return D, the same as E between shares: rebuilt by V+ against original by V; 0 to 2.

    Suppression is not punished for the volume it takes, only for the shape it bends. See
    :func:`reconstruction_loss` for an example of its sister.
    """
    return distribution_loss_of(Comparison.of(matrix, release, volume))


def cpc(matrix: ODMatrix, release: Release, *, volume: Volume | None = None) -> float | None:
    """Return CPC, the common part of commuters: twice the volume in common over both volumes; 0 to 1.

    With nothing suppressed it equals 1 - E / 2. See :func:`reconstruction_loss` for an example.
    """
    return cpc_of(Comparison.of(matrix, release, volume))


def reconstruction_loss_of(comparison: Comparison) -> float | None:
    """Return E of a comparison."""
    misplaced = np.abs(comparison.reconstructed - comparison.original).sum()
    return ratio(float(misplaced) + comparison.on_empty_cells, comparison.total)


def distribution_loss_of(comparison: Comparison) -> float | None:
    """Return D of a comparison."""
    if comparison.total == 0 or comparison.released_total == 0:
        return None
    shares = comparison.reconstructed / comparison.released_total
    misplaced = np.abs(shares - comparison.original / comparison.total).sum()
    return float(misplaced) + comparison.on_empty_cells / float(comparison.released_total)


def cpc_of(comparison: Comparison) -> float | None:
    """Return CPC of a comparison."""
    in_common = np.minimum(comparison.reconstructed, comparison.original).sum()
    return ratio(2 * float(in_common), comparison.released_total + comparison.total)
