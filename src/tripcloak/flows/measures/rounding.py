"""What rounding costs: how far published numbers, and their sums, are from the true ones."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tripcloak.flows.release import Release


class RoundingError(NamedTuple):
    """How far rounded numbers are from the true ones, in trips.

    Attributes
    ----------
    mean : float
        The mean distance of a flow.
    zone : int
        The largest distance of the total of any zone, of every axis.
    total : int
        The distance of the total of all flows.
    """

    mean: float
    zone: int
    total: int


def rounding_error(release: Release) -> RoundingError | None:
    """Return what rounding costs; None where numbers are not rounded.

    Examples
    --------
    >>> from tripcloak.flows.methods import ODkAnon
    >>> from tripcloak.flows.model import ODMatrix
    >>> from tripcloak.flows.release.rounding import RoundTo, rounded_release
    >>> from tripcloak.hierarchy import Hierarchy
    >>> from tripcloak.promises import KAnonymity
    >>> tree = Hierarchy.from_parents(["a", "b", "all"], [2, 2, -1])
    >>> ends = np.array([0] * 12 + [1] * 13)
    >>> matrix = ODMatrix.from_trips(tree, tree, ends, ends)
    >>> release = ODkAnon(promise=KAnonymity(k=10, unit="trips"), suppression_limit=0).anonymise(matrix)
    >>> found = rounding_error(rounded_release(release, RoundTo(5, "not so secret")))
    >>> found.mean < 5, found.zone < 5, found.total, rounding_error(release)
    (True, True, 0, None)
    """
    if release.rounded is None:
        return None
    error = release.rounded - release.trips
    zones = [np.abs(np.bincount(column, error)).max() for _, _, column in release.axes]
    return RoundingError(float(np.abs(error).mean()), int(max(zones)), int(abs(error.sum())))
