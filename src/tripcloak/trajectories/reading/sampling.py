"""From tracks in degrees to samples in steps of a grid."""

from __future__ import annotations

import numpy as np

from tripcloak.arrays import Bools, Floats, Ints
from tripcloak.trajectories.grid import Grid
from tripcloak.trajectories.reading.tracks import Tracks
from tripcloak.trajectories.trajectories import Trajectories

_CHUNK = 1 << 20
_LATER_START = 2_000_000_000
"""Seconds since 1970 where steps are counted from when they are too many since 1970."""


def project_tracks(tracks: Tracks, grid: Grid) -> tuple[Floats, Floats]:
    """Return projected metres of all fixes; they take the room of the degrees, which are gone afterwards."""
    x, y = tracks.lon, tracks.lat
    for start in range(0, len(x), _CHUNK):
        rows = slice(start, start + _CHUNK)
        x[rows], y[rows] = grid.project(tracks.lon[rows], tracks.lat[rows])
    return x, y


def start_of(tracks: Tracks, seconds: int) -> int:
    """Return when step 0 begins: 1970, unless steps this short would be too many since then."""
    last = int(tracks.instant.max()) // 1_000_000
    return 0 if last // seconds < np.iinfo(np.int32).max else _LATER_START // seconds * seconds


def sample_tracks(tracks: Tracks, x: Floats, y: Floats, grid: Grid) -> tuple[Trajectories, int]:
    """Return the trajectories of tracks, and how many fixes fell into the same sample as another one.

    Samples are ordered by (t, x, y) within a person; fixes of one person in one step are one sample.
    """
    n = len(x)
    t, east, north = np.empty(n, np.int32), np.empty(n, np.int32), np.empty(n, np.int32)
    for start in range(0, n, _CHUNK):
        rows = slice(start, start + _CHUNK)
        t[rows], east[rows], north[rows] = grid.steps(
            seconds=tracks.instant[rows] // 1_000_000, x=x[rows], y=y[rows]
        )
    first = np.zeros(n, dtype=bool)
    first[tracks.offsets[:-1]] = True
    _order_ties(t, east, north, first)
    again = np.zeros(n, dtype=bool)
    again[1:] = (t[1:] == t[:-1]) & (east[1:] == east[:-1]) & (north[1:] == north[:-1]) & ~first[1:]
    kept = ~again
    sizes = np.add.reduceat(kept, tracks.offsets[:-1], dtype=np.int64)
    offsets = np.concatenate(([0], np.cumsum(sizes)))
    made = Trajectories(
        grid=grid, offsets=offsets, t=t[kept], x=east[kept], y=north[kept], users=tracks.users
    )
    return made, n - made.n_samples


def _order_ties(t: Ints, x: Ints, y: Ints, first: Bools) -> None:
    """Order the samples of each person and step of time by place, in place."""
    tied = np.zeros(len(t), dtype=bool)
    tied[1:] = (t[1:] == t[:-1]) & ~first[1:]
    begins = ~tied
    tied[:-1] |= tied[1:]
    rows = np.flatnonzero(tied)
    # Rows of a tie follow each other, so ordering by tie first leaves every tie where it is.
    order = rows[np.lexsort((y[rows], x[rows], np.cumsum(begins[rows])))]
    x[rows], y[rows] = x[order], y[order]
