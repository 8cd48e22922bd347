"""Reconstruction: flows between any zones, from the flows between released ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tripcloak.analysis.overlap import SLIVER, Overlap
from tripcloak.ground.arrays import Bools, Floats, Ints

if TYPE_CHECKING:
    from scipy.sparse import csr_array

NORMAL_95 = 1.96


class Reconstruction(NamedTuple):
    """Flows between drawn zones, one row a pair that may have any.

    Attributes
    ----------
    origin, destination : array of int
        Rows of the drawn zones.
    volume : array of float
        The estimate: every released flow spread evenly over its zones.
    low, high : array of float
        Between these the released volume lies with 95 % chance, were trips spread evenly and each on its
        own; never beyond ``least`` and ``most``.
    least, most : array of float
        All released flows that lie inside, and all that touch. The truth lies between them as far as
        released zones hold their tiles (H3 cells stick out of their parents a little) and numbers are exact.
    """

    origin: Ints
    destination: Ints
    volume: Floats
    low: Floats
    high: Floats
    least: Floats
    most: Floats

    def where(self, kept: Bools) -> Reconstruction:
        """Return some of the flows."""
        return Reconstruction(*(column[kept] for column in self))


def reconstruct(
    origin: Ints, destination: Ints, volume: Floats, origins: Overlap, destinations: Overlap
) -> Reconstruction:
    """Return the flows between drawn zones (Matet et al. 2023, section 4.3 and appendix H).

    Parameters
    ----------
    origin, destination, volume
        The released flows: rows of the overlaps, and what is summed.
    origins, destinations
        Which share of every released zone lies in which drawn zone.

    Examples
    --------
    Ten trips from a zone of which half lies in the drawn zone 0, to one that lies in it as a whole.

    >>> from scipy.sparse import csr_array
    >>> half, whole = (Overlap(csr_array([[share]]), np.array([1 - share])) for share in (0.5, 1.0))
    >>> found = reconstruct(np.array([0]), np.array([0]), np.array([10.0]), half, whole)
    >>> [round(float(column[0]), 2) for column in found[2:]]
    [5.0, 1.9, 8.1, 0.0, 10.0]
    """
    flows = _flows(origin, destination, volume, origins, destinations)
    expected = _between(origins.shares, flows, destinations.shares)
    squares = _between(origins.shares.power(2), flows, destinations.shares.power(2))
    least = _between(_inside(origins.shares), flows, _inside(destinations.shares))
    most = _between(_touched(origins.shares), flows, _touched(destinations.shares))
    pairs = most.tocoo()
    found = pairs.coords
    at = [_values(table, *found) for table in (expected, squares, least)]
    # A released flow of n trips gives a pair a binomial number of them: n p (1 - p) is its variance.
    deviation = NORMAL_95 * np.sqrt(np.maximum(at[0] - at[1], 0.0))
    # Sums taken in different orders differ in their last digits; the bounds hold for the estimate too.
    volumes = np.clip(at[0], at[2], pairs.data)
    return Reconstruction(
        origin=found[0],
        destination=found[1],
        volume=volumes,
        low=np.clip(volumes - deviation, at[2], volumes),
        high=np.clip(volumes + deviation, volumes, pairs.data),
        least=at[2],
        most=pairs.data,
    )


def expected_flows(
    origin: Ints, destination: Ints, volume: Floats, origins: Overlap, destinations: Overlap
) -> csr_array:
    """Return the estimates of :func:`reconstruct` alone: rows and columns are drawn zones.

    >>> from scipy.sparse import csr_array
    >>> halves, whole = (Overlap(csr_array(shares), np.zeros(1)) for shares in ([[0.5, 0.5]], [[0.0, 1.0]]))
    >>> expected_flows(np.array([0]), np.array([0]), np.array([10.0]), halves, whole).toarray().tolist()
    [[0.0, 5.0], [0.0, 5.0]]
    """
    flows = _flows(origin, destination, volume, origins, destinations)
    return _between(origins.shares, flows, destinations.shares)


def _flows(
    origin: Ints, destination: Ints, volume: Floats, origins: Overlap, destinations: Overlap
) -> csr_array:
    from scipy.sparse import coo_array

    shape = origins.shares.shape[0], destinations.shares.shape[0]
    return coo_array((volume.astype(float), (origin, destination)), shape=shape).tocsr()


def _between(origins: csr_array, flows: csr_array, destinations: csr_array) -> csr_array:
    return (origins.T @ flows @ destinations).tocsr()


def _values(table: csr_array, row: Ints, column: Ints) -> Floats:
    """Return single numbers of a table; of no places it would give back a table."""
    return np.asarray(table[row, column]).reshape(-1) if len(row) else np.zeros(0)


def _inside(shares: csr_array) -> csr_array:
    """Return which released zones lie in which drawn zone as a whole."""
    whole = shares.copy()
    whole.data = (whole.data > 1 - SLIVER).astype(float)
    return whole


def _touched(shares: csr_array) -> csr_array:
    """Return which released zones have any part in which drawn zone."""
    some = shares.copy()
    some.data = np.ones(len(some.data))
    return some
