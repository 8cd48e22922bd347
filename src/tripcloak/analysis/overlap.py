"""Overlap: which share of every released zone lies in which zone of somebody else's."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tripcloak.ground.arrays import Bools, Floats, Ints
from tripcloak.ground.errors import InputError

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Shapes = NDArray[Any]
"""An array of shapely geometries."""

EARTH_KM = 6371.0072
HAIR = 1e-9
"""What shares are off by because sums are, and no trip lies in."""

SLIVER = 1e-3
"""What outlines differ by without meaning it, as a share of a zone."""


class Overlap(NamedTuple):
    """Shares of released zones in drawn zones: rows are released zones, columns drawn ones.

    Attributes
    ----------
    shares : sparse table
        For estimates: what differs by a sliver counts as the same.
    outside : array of float
        For every released zone, the share that lies in no drawn zone.
    exact : sparse table, optional
        The same shares, slivers and all, for bounds; ``shares`` where it is not given.
    """

    shares: csr_array
    outside: Floats
    exact: csr_array | None = None

    @property
    def whole(self) -> csr_array:
        """Return which released zones lie in which drawn zone as a whole."""
        return self._where(lambda share: share > 1 - HAIR)

    @property
    def some(self) -> csr_array:
        """Return which released zones have any part in which drawn zone."""
        exact = self._where(lambda share: share > HAIR)
        some = (exact + self.shares).tocsr()
        some.data = np.ones(len(some.data))
        return some

    def _where(self, chosen: Callable[[Floats], Bools]) -> csr_array:
        table = (self.shares if self.exact is None else self.exact).copy()
        table.data = chosen(table.data).astype(float)
        table.eliminate_zeros()
        return table


def equal_area(shapes: Shapes) -> Shapes:
    """Return outlines in degrees on a plane on which areas are true, in kilometres.

    Lambert's cylinder: lengths are stretched away from the equator, areas never.

    >>> import shapely
    >>> round(equal_area(np.array([shapely.box(0, 60, 1, 61)]))[0].area)
    6088
    """
    import shapely

    def flatten(points: Floats) -> Floats:
        east, north = np.radians(points).T
        return EARTH_KM * np.stack([east, np.sin(north)], axis=1)

    flat: Shapes = shapely.transform(shapes, flatten)
    return flat


def area_overlap(zones: Shapes, drawn: Shapes) -> Overlap:
    """Return the share of every released zone's area that lies in every drawn zone.

    Parameters
    ----------
    zones, drawn
        Outlines on one plane, see :func:`equal_area`.

    Examples
    --------
    >>> import shapely
    >>> zones = np.array([shapely.box(0, 0, 2, 1), shapely.box(4, 0, 5, 1)])
    >>> found = area_overlap(zones, np.array([shapely.box(0, 0, 1, 1), shapely.box(1, 0, 5, 1)]))
    >>> found.shares.toarray().tolist(), found.outside.tolist()
    ([[0.5, 0.5], [0.0, 1.0]], [0.0, 0.0])
    """
    import shapely

    row, column = shapely.STRtree(drawn).query(zones, predicate="intersects")
    whole = shapely.area(zones)
    inside = shapely.area(shapely.intersection(zones[row], drawn[column]))
    # A point or a line has no area to share: it lies in the first drawn zone that it touches.
    first = np.full(len(zones), len(drawn))
    np.minimum.at(first, row, column)
    share = np.where(whole[row] > 0, inside / np.where(whole > 0, whole, 1.0)[row], column == first[row])
    return _overlap(row, column, share, (len(zones), len(drawn)))


def point_overlap(zone: Ints, points: Shapes, drawn: Shapes, n_zones: int) -> Overlap:
    """Return the share of every released zone's tiles that have their centre in every drawn zone.

    Parameters
    ----------
    zone, points
        Centres of tiles, and the released zone that each belongs to.

    Examples
    --------
    >>> import shapely
    >>> points = shapely.points([[0.5, 0.5], [1.5, 0.5], [9, 9]])
    >>> drawn = np.array([shapely.box(0, 0, 1, 1), shapely.box(1, 0, 2, 1)])
    >>> found = point_overlap(np.array([0, 0, 1]), points, drawn, 2)
    >>> found.shares.toarray().tolist(), found.outside.tolist()
    ([[0.5, 0.5], [0.0, 0.0]], [0.0, 1.0])
    """
    import shapely

    point, column = shapely.STRtree(drawn).query(points, predicate="intersects")
    # A centre on the edge of two drawn zones goes to the first of them, so that nothing counts twice.
    point, first = np.unique(point, return_index=True)
    tiles = np.bincount(zone, minlength=n_zones)
    share = 1.0 / np.maximum(tiles, 1)[zone[point]]
    return _overlap(zone[point], column[first], share, (n_zones, len(drawn)))


def spread_over(shares: csr_array) -> Floats:
    """Return over how many columns every row spreads, one that has nearly all counting as one; 0 without any.

    >>> from scipy.sparse import csr_array
    >>> spread_over(csr_array([[1.0, 0.0], [0.5, 0.5], [0.25, 0.0], [0.0, 0.0]])).tolist()
    [1.0, 2.0, 1.0, 0.0]
    """
    total, squares = (np.asarray(part.sum(axis=1)).reshape(-1) for part in (shares, shares.power(2)))
    found: Floats = total**2 / np.where(squares > 0, squares, 1.0)
    return found


def refuse_overlaps(drawn: Shapes, names: NDArray[np.str_]) -> None:
    """Raise if two drawn zones overlap by more than a sliver: what lies in both would count twice."""
    import shapely

    one, other = shapely.STRtree(drawn).query(drawn, predicate="intersects")
    pairs = one < other
    one, other = one[pairs], other[pairs]
    common = shapely.area(shapely.intersection(drawn[one], drawn[other]))
    smaller = np.minimum(shapely.area(drawn[one]), shapely.area(drawn[other]))
    wrong = np.flatnonzero(common > SLIVER * smaller)
    if len(wrong):
        first, second = str(names[one[wrong[0]]]), str(names[other[wrong[0]]])
        others = f" (and {len(wrong) - 1:,} more pairs do)" if len(wrong) > 1 else ""
        raise InputError(
            f"the zones {first} and {second} overlap{others}, so trips in both would count twice; "
            "cut the zones apart, or rebuild them one set at a time"
        )


def _overlap(row: Ints, column: Ints, share: Floats, shape: tuple[int, int]) -> Overlap:
    """Return shares as a table; those of one zone never add up to more than 1."""
    from scipy.sparse import coo_array, diags_array

    given = share
    # A zone that lies in a drawn one but for a sliver lies in it as a whole, and in no other.
    whole = share > 1 - SLIVER
    settled = np.zeros(shape[0], dtype=bool)
    settled[row[whole]] = True
    kept = whole | ((share > 1e-9) & ~settled[row])
    share = np.where(whole, 1.0, share)
    shares = coo_array((share[kept], (row[kept], column[kept])), shape=shape).tocsr()
    total = np.asarray(shares.sum(axis=1)).reshape(-1)
    # Slivers along common edges may lie in two drawn zones.
    shares = (diags_array(1 / np.maximum(total, 1.0)) @ shares).tocsr()
    outside = np.clip(1 - total, 0.0, 1.0)
    exact = coo_array((given, (row, column)), shape=shape).tocsr()
    return Overlap(shares, np.where(outside < 1e-9, 0.0, outside), exact)
