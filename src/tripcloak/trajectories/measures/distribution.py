"""Distribution: a mean, quantiles, and the points of a distribution function."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tripcloak.ground.arrays import Floats

QUANTILES = {"q05": 0.05, "q25": 0.25, "median": 0.5, "q75": 0.75, "q95": 0.95}
"""The quantiles that are told, by name."""

CURVE = 1000
"""How many equal shares the curve of a distribution has."""


class Distribution(NamedTuple):
    """How values are spread; None stands for what no value could tell.

    Attributes
    ----------
    n : int
        How many values there are.
    mean : float or None
        Their mean.
    quantiles : dict
        Quantiles by name, as in ``QUANTILES``.
    curve : array of float
        The quantiles of 0, 1/1000, ..., 1: where the distribution function reaches those shares.
    """

    n: int
    mean: float | None
    quantiles: dict[str, float | None]
    curve: Floats

    def to_dict(self) -> dict[str, float | None]:
        """Return mean and quantiles, ready for JSON."""
        return {"mean": self.mean, **self.quantiles}


def distribution(values: Floats) -> Distribution:
    """Return how values are spread. The quantile of q is the smallest value that a share q does not exceed.

    Examples
    --------
    >>> found = distribution(np.array([4.0, 1.0, 2.0, 3.0]))
    >>> found.mean, found.quantiles["median"], found.quantiles["q95"], found.curve[[0, 500, 1000]].tolist()
    (2.5, 2.0, 4.0, [1.0, 2.0, 4.0])
    >>> distribution(np.empty(0)).to_dict()["mean"] is None
    True
    """
    n = len(values)
    if n == 0:
        return Distribution(0, None, dict.fromkeys(QUANTILES), np.empty(0))
    ordered = np.sort(np.asarray(values, dtype=np.float64))
    told = _at(ordered, np.array(list(QUANTILES.values())))
    curve = _at(ordered, np.arange(CURVE + 1) / CURVE)
    return Distribution(n, float(ordered.mean()), dict(zip(QUANTILES, told.tolist(), strict=True)), curve)


def share(part: int, whole: int) -> float | None:
    """Return a part of a whole, or None where there is no whole.

    >>> share(1, 4), share(0, 0)
    (0.25, None)
    """
    return part / whole if whole else None


def _at(ordered: Floats, shares: Floats) -> Floats:
    """Return the quantiles of ordered values; sums of floats must not push a share past its value."""
    rank = np.ceil(np.round(shares * len(ordered), 6)).astype(np.int64) - 1
    return ordered[np.maximum(rank, 0)]
