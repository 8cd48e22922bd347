"""What trajectories are like, in numbers that single out nobody."""

from __future__ import annotations

from typing import Any

import numpy as np

from tripcloak.ground.arrays import Floats, Ints
from tripcloak.ground.masking import FEW
from tripcloak.trajectories.model import Trajectories

_SHARES = (0.1, 0.25, 0.5, 0.75, 0.9)


def describe_trajectories(trajectories: Trajectories) -> dict[str, Any]:
    """Return what trajectories are like: who, how many, when, how far, how fine.

    Everything but the number of people and samples is a quantile over people, rounded to two digits, or
    an edge that ten people reach; where there are fewer people than that, it is None.

    Examples
    --------
    >>> from tripcloak.trajectories.model import Grid
    >>> people = np.repeat(np.arange(20), 3)
    >>> made = Trajectories.of(user=people, t=np.arange(60), x=people, y=people, grid=Grid())
    >>> facts = describe_trajectories(made)
    >>> facts["users"], facts["samples_per_user"]["50%"], facts["gap_minutes"]["50%"]
    (20, 3.0, 1.0)
    """
    grid, offsets = trajectories.grid, trajectories.offsets
    many = trajectories.n_users >= FEW
    gaps = np.delete(np.diff(trajectories.t), offsets[1:-1] - 1)
    return {
        "users": trajectories.n_users,
        "samples": trajectories.n_samples,
        "resolution": {"seconds": grid.seconds, "metres": grid.metres},
        "period": _period(trajectories) if many else None,
        "extent_km": _extent(trajectories) if many else None,
        "samples_per_user": _quantiles(trajectories.lengths) if many else None,
        "gap_minutes": _quantiles(gaps * (grid.seconds / 60)) if many and len(gaps) else None,
        "radius_of_gyration_km": _quantiles(_gyration(trajectories)) if many else None,
    }


def _period(trajectories: Trajectories) -> list[str]:
    """Return the days by which ten people had begun, and since which ten went on."""
    first = np.sort(trajectories.t[trajectories.offsets[:-1]])[FEW - 1]
    last = np.sort(trajectories.t[trajectories.offsets[1:] - 1])[-FEW]
    days = trajectories.grid.times(np.array([first, last])).astype("datetime64[s]").astype("datetime64[D]")
    return [str(day) for day in days]


def _extent(trajectories: Trajectories) -> list[float]:
    """Return kilometres from west to east and from south to north that ten people reach on each side."""
    sides = []
    for column in (trajectories.x, trajectories.y):
        low = np.sort(np.minimum.reduceat(column, trajectories.offsets[:-1]))[FEW - 1]
        high = np.sort(np.maximum.reduceat(column, trajectories.offsets[:-1]))[-FEW]
        sides.append(_rounded(max(0, int(high) + 1 - int(low)) * trajectories.grid.metres / 1000))
    return sides


def _gyration(trajectories: Trajectories) -> Floats:
    """Return everybody's radius of gyration in kilometres."""
    square = np.zeros(trajectories.n_users)
    for column in (trajectories.x, trajectories.y):
        mean = np.add.reduceat(column, trajectories.offsets[:-1], dtype=np.float64) / trajectories.lengths
        away = column - np.repeat(mean, trajectories.lengths)
        square += np.add.reduceat(away * away, trajectories.offsets[:-1]) / trajectories.lengths
    kilometres: Floats = np.sqrt(square) * trajectories.grid.metres / 1000
    return kilometres


def _quantiles(values: Ints | Floats) -> dict[str, float]:
    found = np.quantile(values, _SHARES)
    return {f"{share:.0%}": _rounded(value) for share, value in zip(_SHARES, found, strict=True)}


def _rounded(value: float) -> float:
    return float(f"{float(value):.2g}")
