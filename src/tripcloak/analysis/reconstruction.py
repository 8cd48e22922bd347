"""Reconstruction: flows between any zones, from the flows between released ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tripcloak.analysis.overlap import Overlap
from tripcloak.ground.arrays import Bools, Floats, Ints

if TYPE_CHECKING:
    from scipy.sparse import csr_array

NORMAL_95 = 1.96

SPREAD = 2.0
"""How many times its likely share of the withheld volume a pair is given."""


class Unseen(NamedTuple):
    """What a reader of released flows cannot see, and has to reckon with.

    Attributes
    ----------
    unevenness : float
        How clumped trips are inside zones: 0 evenly spread, 1 all of a flow in one place.
    volume : float
        The most that may be anywhere: withheld, or between zones without an outline.
    likely : float
        How much of that is to be shared out among the flows at hand; all of it where there is no time.
    rounding : float
        What the volume of a released flow may be off by.
    exact : bool
        Whether numbers are exact but for rounding; noisy ones are not, and nothing is said around them.
    """

    unevenness: float = 0.0
    volume: float = 0.0
    likely: float = 0.0
    rounding: float = 0.0
    exact: bool = True


class Reconstruction(NamedTuple):
    """Flows between drawn zones, one row a pair that may have any.

    Attributes
    ----------
    origin, destination : array of int
        Rows of the drawn zones.
    volume : array of float
        The estimate: every released flow spread evenly over its zones.
    low, high : array of float
        Between these the truth, what was withheld included, lies 19 times of 20; in whole trips, and never
        beyond ``least`` and ``most``.
    least, most : array of float
        All released flows that lie inside as a whole; and all that touch, with everything unseen.
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
    origin: Ints,
    destination: Ints,
    volume: Floats,
    origins: Overlap,
    destinations: Overlap,
    unseen: Unseen | None = None,
) -> Reconstruction:
    """Return the flows between drawn zones (Matet et al. 2023, section 4.3 and appendix H).

    Parameters
    ----------
    origin, destination, volume
        The released flows: rows of the overlaps, and what is summed.
    origins, destinations
        Which share of every released zone lies in which drawn zone.
    unseen
        What to reckon with beside the released flows; by default trips spread evenly and none is withheld.

    Examples
    --------
    Ten trips from a zone of which half lies in the drawn zone 0, to one that lies in it as a whole.

    >>> from scipy.sparse import csr_array
    >>> half, whole = (Overlap(csr_array([[share]]), np.array([1 - share])) for share in (0.5, 1.0))
    >>> found = reconstruct(np.array([0]), np.array([0]), np.array([10.0]), half, whole)
    >>> [round(float(column[0]), 2) for column in found[2:]]
    [5.0, 1.0, 9.0, 0.0, 10.0]
    >>> unseen = Unseen(unevenness=1.0, volume=2.0, likely=2.0)
    >>> found = reconstruct(np.array([0]), np.array([0]), np.array([10.0]), half, whole, unseen)
    >>> [round(float(column[0]), 2) for column in found[2:]]
    [5.0, 0.0, 12.0, 0.0, 12.0]
    """
    unseen = unseen or Unseen()
    flows = _flows(origin, destination, volume, origins, destinations)
    tables = moments(flows, origins, destinations)
    least = _between(origins.whole, flows, destinations.whole)
    most = _between(origins.some, flows, destinations.some)
    number = _between(origins.some, _ones(flows), destinations.some)
    pairs = most.tocoo()
    at = [_values(table, *pairs.coords) for table in (*tables, least, number)]
    expected, clumped, even, inside, touching = at
    inside = np.maximum(inside - unseen.rounding * touching, 0.0) * unseen.exact
    outside = pairs.data + unseen.rounding * touching + unseen.volume
    # Sums taken in different orders differ in their last digits; the bounds hold for the estimate too.
    volumes = np.clip(expected, inside, outside)
    deviation = NORMAL_95 * np.sqrt(np.maximum(unseen.unevenness * clumped + even, 0.0))
    deviation += 0.0 if unseen.exact else np.inf
    withheld = _withheld(volumes, pairs.coords[0], pairs.coords[1], unseen.likely)
    above = np.hypot(deviation, np.maximum(SPREAD * withheld, _each(volumes, unseen.likely)))
    high = np.ceil(_hair(volumes + above + NORMAL_95 * np.sqrt(withheld), -1))
    return Reconstruction(
        origin=pairs.coords[0],
        destination=pairs.coords[1],
        volume=volumes,
        low=np.clip(np.floor(_hair(volumes - deviation, 1)), inside, volumes),
        high=np.clip(high, volumes, outside),
        least=inside,
        most=outside,
    )


def moments(
    flows: csr_array, origins: Overlap, destinations: Overlap
) -> tuple[csr_array, csr_array, csr_array]:
    """Return what pairs of drawn zones hold on average, and the variance of it: clumped, and evenly spread.

    A released flow of n trips gives a pair the share p of them. Trips each on their own give it a binomial
    number, of variance n p (1 - p). Trips in one place give it all or nothing, n^2 p (1 - p); so does a zone
    whose trips are all in one place, for all flows that it has in common.
    """
    shares = origins.shares, destinations.shares
    squares = [share.power(2) for share in shares]
    spread = [share - square for share, square in zip(shares, squares, strict=True)]
    expected = _between(shares[0], flows, shares[1])
    even = expected - _between(squares[0], flows, squares[1])
    alone = flows.power(2)
    clumped = (
        spread[0].T @ (flows @ shares[1]).power(2)
        + (shares[0].T @ flows).power(2) @ spread[1]
        + _between(shares[0], alone, shares[1])
        - _between(squares[0], alone, squares[1])
    )
    return expected, clumped.tocsr(), even.tocsr()


def unlisted(flows: Reconstruction, unseen: Unseen) -> tuple[float, float]:
    """Return ``high`` and ``most`` of pairs that no released flow touches: their share of what is unseen.

    >>> none = np.empty(0)
    >>> unlisted(Reconstruction(*[none] * 7), Unseen(volume=30.0, likely=30.0))
    (30.0, 30.0)
    """
    return min(float(np.ceil(_each(flows.volume, unseen.likely))), unseen.volume), unseen.volume


def _each(volumes: Floats, unseen: float) -> float:
    """Return what every pair may hold of the unseen, if they all held the same: few can hold much more."""
    return unseen / max(int((volumes > 1e-9).sum()), 1)


def _withheld(volumes: Floats, origin: Ints, destination: Ints, unseen: float) -> Floats:
    """Return what a pair may hold of the unseen, by its own volume or by that of its two ends.

    What is withheld is withheld where little travels, so ends count by the root of their volumes.
    """
    if not len(volumes) or not np.isfinite(unseen):
        return np.full(len(volumes), unseen)
    out, into = (np.sqrt(np.bincount(end, volumes)) for end in (origin, destination))
    by_ends = out[origin] * into[destination] / max(float(out.sum() * into.sum()), 1e-300)
    found: Floats = unseen * np.maximum(by_ends, volumes / max(float(volumes.sum()), 1e-300))
    return found


def _hair(numbers: Floats, sign: int) -> Floats:
    """Return numbers moved by what sums are off by, so that whole ones stay whole."""
    moved: Floats = numbers + sign * 1e-9 * np.clip(np.abs(numbers), 1.0, 1e15)
    return moved


def _ones(table: csr_array) -> csr_array:
    ones = table.copy()
    ones.data = np.ones(len(ones.data))
    return ones


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
