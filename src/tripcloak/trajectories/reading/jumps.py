"""Jumps: fixes that nobody can have reached from the ones before and after."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tripcloak.ground.arrays import Bools, Floats, Ints

EARTH_KM = 6371.0088
_DEGREE_KM = 111.4
"""More than a degree of latitude or longitude ever is."""

_SLACK_SECONDS = 60.0
"""Clocks are rounded: a fix may be this much earlier or later than it says."""

_CHUNK = 1 << 20


def find_jumps(offsets: Ints, instant: Ints, lat: Floats, lon: Floats, max_speed: float) -> Bools:
    """Return, for every fix, whether it is a jump.

    Where the next fix is out of reach, either the fixes before it are wrong or those from it on, until two
    are left that somebody can travel between. The fewer are the jumps (the later where they are as many),
    so a single wrong fix goes and its good neighbours stay.

    Parameters
    ----------
    offsets
        Where each person's fixes begin.
    instant
        Microseconds since 1970, not descending within a person.
    max_speed
        Kilometres an hour.

    Examples
    --------
    >>> minute = 60_000_000
    >>> instant = np.arange(4) * minute
    >>> lat, lon = np.array([48.8, 48.8, 48.9, 48.9]), np.array([2.3, 139.7, 2.3, 2.3])
    >>> find_jumps(np.array([0, 4]), instant, lat, lon, 1000.0).tolist()
    [False, True, False, False]
    """
    broken = _too_fast(offsets, instant, lat, lon, max_speed)
    jump = np.zeros(len(instant), dtype=bool)
    at = np.flatnonzero(broken)
    if not len(at):
        return jump
    people, begins = np.unique(np.searchsorted(offsets, at, side="right") - 1, return_index=True)
    for person, breaks in zip(people, np.split(at, begins[1:]), strict=True):
        first, last = int(offsets[person]), int(offsets[person + 1])
        fixes = _Fixes(instant[first:last], lat[first:last], lon[first:last], max_speed)
        jump[first:last] = True
        jump[first + _journey(fixes, breaks - first)] = False
    return jump


def distance_km(lat: Any, lon: Any, other_lat: Any, other_lon: Any) -> Any:
    """Return kilometres along the sphere between places in degrees.

    Examples
    --------
    >>> float(distance_km(0.0, 179.5, 0.0, -179.5).round(1))
    111.2
    """
    north, south = np.radians(lat), np.radians(other_lat)
    half_lat, half_lon = (north - south) / 2, np.radians(np.subtract(lon, other_lon)) / 2
    square = np.sin(half_lat) ** 2 + np.cos(north) * np.cos(south) * np.sin(half_lon) ** 2
    return 2 * EARTH_KM * np.arcsin(np.sqrt(np.minimum(square, 1.0)))


def _too_fast(offsets: Ints, instant: Ints, lat: Floats, lon: Floats, max_speed: float) -> Bools:
    """Return, for every fix, whether the same person's next one is out of reach."""
    broken = np.zeros(len(instant), dtype=bool)
    for start in range(0, len(instant) - 1, _CHUNK):
        here = slice(start, min(start + _CHUNK, len(instant) - 1))
        there = slice(here.start + 1, here.stop + 1)
        reach = _reach_km(instant[there] - instant[here], max_speed)
        # The quick bound needs no sine and settles nearly all pairs.
        near = (np.abs(lat[there] - lat[here]) + np.abs(lon[there] - lon[here])) * _DEGREE_KM <= reach
        far = np.flatnonzero(~near) + start
        reach = reach[far - start]
        broken[far] = distance_km(lat[far], lon[far], lat[far + 1], lon[far + 1]) > reach
    broken[offsets[1:] - 1] = False
    return broken


class _Fixes(NamedTuple):
    """The fixes of one person."""

    instant: Ints
    lat: Floats
    lon: Floats
    max_speed: float

    def reachable(self, first: Ints | int, then: Ints | int) -> Bools:
        """Return whether somebody can travel from one fix to a later one."""
        reach = _reach_km(self.instant[then] - self.instant[first], self.max_speed)
        reachable: Bools = (
            distance_km(self.lat[first], self.lon[first], self.lat[then], self.lon[then]) <= reach
        )
        return reachable


def _journey(fixes: _Fixes, breaks: Ints) -> Ints:
    """Return the fixes of one person that are no jumps, given those whose next one is out of reach."""
    n = len(fixes.instant)
    kept, height, at = np.empty(n, dtype=np.int64), 0, 0
    # The first ``height`` of kept can be travelled one after the other; ``at`` is the fix to come next.
    while at < n:
        later = np.searchsorted(breaks, at)
        end = int(breaks[later]) + 1 if later < len(breaks) else n
        kept[height : height + end - at] = np.arange(at, end)
        height, at = height + end - at, end
        if at < n:
            back, on = _detour(fixes, kept[:height], at)
            height, at = height - back, at + on
    return kept[:height]


def _detour(fixes: _Fixes, kept: Ints, at: int) -> tuple[int, int]:
    """Return how many kept fixes to take back, or how many to leave out from the next one on."""
    n, window = len(fixes.instant), 64
    while True:
        back, ahead = min(window, len(kept)), min(window, n - at)
        from_earlier = np.append(fixes.reachable(kept[::-1][:back], at), [True] * (back == len(kept)))
        to_later = np.append(fixes.reachable(kept[-1], np.arange(at, at + ahead)), [True] * (ahead == n - at))
        if from_earlier.any() or to_later.any():
            most = len(fixes.instant)
            earlier = int(np.argmax(from_earlier)) if from_earlier.any() else most
            later = int(np.argmax(to_later)) if to_later.any() else most
            return (0, later) if later <= earlier else (earlier, 0)
        window *= 8


def _reach_km(microseconds: Ints, max_speed: float) -> Floats:
    reach: Floats = (microseconds / 1e6 + _SLACK_SECONDS) * (max_speed / 3600)
    return reach
