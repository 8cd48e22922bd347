"""What fixes are, told by how often they come and where: calls, check-ins, or GPS."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from tripcloak.ground.arrays import Ints
from tripcloak.records.pace import INTERVALS, Pace, rung_of
from tripcloak.trajectories.model import Trajectories
from tripcloak.trajectories.reading.sampling import DEFAULT_METRES, find_metres

STAY_MINUTES, VEHICLE_MINUTES = 20.0, 5.0
PLACE_METRES = 200.0
_SAMPLES_LOOKED_AT = 200_000
REPEATED = 0.5
"""The share of samples, beside the first of each place, from which on places come again and again."""


class FixKind(NamedTuple):
    """What fixes are, why that is thought, and what a stay is in such: how long, and how wide a place."""

    name: str
    why: str
    minutes: float
    metres: float


def fix_kind(trajectories: Trajectories, columns: Mapping[str, str]) -> FixKind:
    """Return what the fixes behind trajectories are.

    Parameters
    ----------
    columns
        Role to the raw column that plays it.

    Examples
    --------
    >>> from tripcloak.trajectories.model import Grid
    >>> day = 24 * 60
    >>> made = Trajectories.of(
    ...     user=[0, 0, 0, 1, 1, 1], t=[0, day, 2 * day] * 2, x=[1, 9, 1] * 2, y=[1, 9, 1] * 2, grid=Grid()
    ... )
    >>> fix_kind(made, {}).name, fix_kind(made, {}).minutes
    ('check-ins', 0.0)
    """
    grid, some = trajectories.grid, _some(trajectories)
    x, y = (grid.places(side[some]) + 0.0 for side in (trajectories.x, trajectories.y))
    apart = find_metres(x, y)
    pace, wide = _pace(trajectories, some), max(PLACE_METRES, float(apart))
    if "antenna" in columns:
        return FixKind("calls", "each names a base station", STAY_MINUTES, wide)
    if apart > DEFAULT_METRES:
        why = f"few places come again and again, {apart:,} metres or more from each other"
        return FixKind("calls", why, STAY_MINUTES, wide)
    often = f"those of a typical id are mostly {pace.words}"
    if pace.sparse and 1 - len(np.unique(x + 1j * y)) / len(x) >= REPEATED:
        return FixKind("check-ins", f"{often}, at places that come again", 0.0, PLACE_METRES)
    if trajectories.id_is == "vehicle":
        # A stop is seen by two fixes at least.
        seen = 2 * INTERVALS[min(pace.rung or 0, len(INTERVALS) - 1)] / 60
        return FixKind("GPS fixes of vehicles", often, max(VEHICLE_MINUTES, seen), PLACE_METRES)
    return FixKind("GPS fixes", often, STAY_MINUTES, PLACE_METRES)


def _some(trajectories: Trajectories) -> Ints:
    """Return the samples that are looked at: those of every so many people, where there are very many."""
    every = 1 + trajectories.n_samples // _SAMPLES_LOOKED_AT
    return np.flatnonzero(trajectories.owner % every == 0)


def _pace(trajectories: Trajectories, some: Ints) -> Pace:
    """Return the median of everybody's median interval, which only the owner of the data is told."""
    owner, t = trajectories.owner[some], trajectories.t[some].astype(np.int64)
    gaps = np.diff(t) * trajectories.grid.seconds
    between = (owner[1:] == owner[:-1]) & (gaps > 0)
    whose, gaps = owner[1:][between], gaps[between]
    gaps = gaps[np.lexsort((gaps, whose))]
    _, first, sizes = np.unique(whose, return_index=True, return_counts=True)
    medians: Ints = np.sort(gaps[first + (sizes - 1) // 2])
    return Pace(rung_of(float(medians[(len(medians) - 1) // 2]))) if len(medians) else Pace(None)
