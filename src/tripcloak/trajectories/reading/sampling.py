"""How long a sample lasts and how wide it is, and from tracks to samples."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tripcloak.ground.arrays import Bools, Floats, Ints
from tripcloak.trajectories.model import Dropped, Grid, Trajectories
from tripcloak.trajectories.reading.tracks import Tracks

DEFAULT_SECONDS = 60
DEFAULT_METRES = 100

_STEPS_OF_TIME = (86_400, 43_200, 21_600, 10_800, 7_200, 3_600, 1_800, 900, 600, 300, 120)
_STEPS_OF_SPACE = (50_000, 20_000, 10_000, 5_000, 2_000, 1_000, 500, 200)

_ENOUGH_FIXES = 1000
_ENOUGH_PLACES = 100
_MOST_PLACES = 500_000
_FIXES_A_PLACE = 20
_NEARLY_ALL, _MOST = 0.999, 0.5
_CLOSEST = 0.05
_ONE_IN = 64
_CHUNK = 1 << 20
_HALF = 2.0**31
_MIX = np.uint64(0x9E3779B97F4A7C15)


def find_seconds(instant: Ints) -> int:
    """Return the coarsest step of time on which nearly all times lie, one minute if there is none.

    Parameters
    ----------
    instant
        Microseconds since 1970.

    Examples
    --------
    >>> hours = np.arange(2000) * 3_600_000_000
    >>> find_seconds(hours), find_seconds(hours + 1)
    (3600, 60)
    """
    if len(instant) < _ENOUGH_FIXES:
        return DEFAULT_SECONDS
    for step in _STEPS_OF_TIME:
        # A look at some rows rules out nearly every step.
        if _share_on(instant[::_ONE_IN], step) > _MOST and _share_on(instant, step) >= _NEARLY_ALL:
            return step
    return DEFAULT_SECONDS


def find_metres(x: Floats, y: Floats) -> int:
    """Return the step of space that tells most places apart, 100 metres if they are not that far apart.

    Base stations and the cells of a grid are places that come again and again. Where they do, and few of
    them are nearer to each other than a step, no smaller step would say more.

    Parameters
    ----------
    x, y
        Projected metres of all fixes.

    Examples
    --------
    >>> column, row = np.divmod(np.arange(40_000) % 400, 20)
    >>> find_metres(column * 500.0, row * 500.0)
    500
    """
    if len(x) < max(_ENOUGH_FIXES, _FIXES_A_PLACE * _ENOUGH_PLACES):
        return DEFAULT_METRES
    # A look at some places rules out fixes that lie anywhere.
    some = len(_distinct(x, y, one_in=_ONE_IN)) * _ONE_IN
    if some > min(_MOST_PLACES, 2 * len(x) // _FIXES_A_PLACE):
        return DEFAULT_METRES
    distinct = _distinct(x, y)
    if not _ENOUGH_PLACES <= len(distinct) <= len(x) // _FIXES_A_PLACE:
        return DEFAULT_METRES
    apart = float(np.quantile(_nearest(distinct), _CLOSEST))
    # Projections bend a regular grid by one in a hundred.
    return next((step for step in _STEPS_OF_SPACE if step <= apart * 1.01), DEFAULT_METRES)


def _share_on(instant: Ints, step: int) -> float:
    return float((instant % (step * 1_000_000) == 0).mean())


def _distinct(x: Floats, y: Floats, *, one_in: int = 1) -> Floats:
    """Return distinct places to a centimetre: all, or one in so many by a hash of the place."""
    found = np.empty(0, dtype=np.uint64)
    for start in range(0, len(x), _CHUNK):
        rows = slice(start, start + _CHUNK)
        east, north = ((np.rint(v[rows] * 100) + _HALF).astype(np.uint64) for v in (x, y))
        place = np.unique((east << np.uint64(32)) | north)
        if one_in > 1:
            place = place[(place * _MIX >> np.uint64(40)) % np.uint64(one_in) == 0]
        found = np.union1d(found, place)
    east, north = found >> np.uint64(32), found & np.uint64(0xFFFFFFFF)
    places: Floats = (np.column_stack((east, north)).astype(np.float64) - _HALF) / 100
    return places


def _nearest(places: Floats) -> Floats:
    from scipy.spatial import cKDTree

    distance, _ = cKDTree(places).query(places, k=2)
    nearest: Floats = distance[:, 1]
    return nearest


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


def sample_tracks(tracks: Tracks, x: Floats, y: Floats, grid: Grid) -> tuple[Trajectories, list[int]]:
    """Return the trajectories of tracks, and each file's fixes that fell into the same sample as another one.

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
    file = None if tracks.file is None else tracks.file.copy()
    _order_ties(t, (east, north), first, file)
    again = np.zeros(n, dtype=bool)
    again[1:] = (t[1:] == t[:-1]) & (east[1:] == east[:-1]) & (north[1:] == north[:-1]) & ~first[1:]
    kept = ~again
    sizes = np.add.reduceat(kept, tracks.offsets[:-1], dtype=np.int64)
    offsets = np.concatenate(([0], np.cumsum(sizes)))
    made = Trajectories(
        grid=grid, offsets=offsets, t=t[kept], x=east[kept], y=north[kept], users=tracks.users
    )
    return made, tracks.by_file(again, file)


def trajectories_on(tracks: Tracks, grid: Grid) -> Trajectories:
    """Return the trajectories of tracks on a grid that is known; the degrees of tracks are gone then."""
    return with_dropped(sample_tracks(tracks, *project_tracks(tracks, grid), grid)[0], tracks)


def with_dropped(trajectories: Trajectories, tracks: Tracks) -> Trajectories:
    """Return the trajectories with those of the dropped fixes that lie where and when somebody's samples do.

    No box reaches beyond the first and the last sample of all, in time or in space. A fix in the same
    step as a sample of the same person adds nothing to it.
    """
    owner, instant, lat, lon = tracks.dropped
    if not len(owner):
        return trajectories
    grid = trajectories.grid
    x, y = grid.project(lon, lat)
    seconds = instant // 1_000_000
    within = np.isfinite(x) & np.isfinite(y)
    for column, own, begins in (
        (seconds, trajectories.t, grid.times),
        (x, trajectories.x, grid.places),
        (y, trajectories.y, grid.places),
    ):
        low, high = begins(np.array([int(own.min()), int(own.max()) + 1]))
        within &= (low <= column) & (column < high)
    steps = grid.steps(seconds=seconds[within], x=x[within], y=y[within])
    return replace(trajectories, dropped=_beside(trajectories, Dropped.of(owner[within], *steps)))


def _beside(trajectories: Trajectories, dropped: Dropped) -> Dropped:
    """Return the dropped samples that are none of those that their person has."""
    first, span = int(trajectories.t.min()), int(np.ptp(trajectories.t)) + 1
    moment = trajectories.owner * span + (trajectories.t - first)
    wanted = dropped.owner.astype(np.int64) * span + (dropped.t - first)
    new = np.ones(len(wanted), dtype=bool)
    rows, at = np.arange(len(wanted)), np.searchsorted(moment, wanted)
    # Samples of one person and moment follow each other: each round compares with the next of them.
    while len(rows):
        there = np.flatnonzero(at < len(moment))
        there = there[moment[at[there]] == wanted[rows[there]]]
        rows, at = rows[there], at[there]
        new[rows[(trajectories.x[at] == dropped.x[rows]) & (trajectories.y[at] == dropped.y[rows])]] = False
        at = at + 1
    return Dropped(*(column[new] for column in dropped))


def _order_ties(t: Ints, places: tuple[Ints, Ints], first: Bools, file: Ints | None) -> None:
    """Order the samples of each person and step of time by place (and file), in place."""
    x, y = places
    tied = np.zeros(len(t), dtype=bool)
    tied[1:] = (t[1:] == t[:-1]) & ~first[1:]
    begins = ~tied
    tied[:-1] |= tied[1:]
    rows = np.flatnonzero(tied)
    # Rows of a tie follow each other, so ordering by tie first leaves every tie where it is.
    others = () if file is None else (file[rows],)
    order = rows[np.lexsort((*others, y[rows], x[rows], np.cumsum(begins[rows])))]
    for column in (x, y) if file is None else (x, y, file):
        column[rows] = column[order]
