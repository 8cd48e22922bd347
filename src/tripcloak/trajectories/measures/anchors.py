"""Anchors: where people are at night and during working hours, original against released."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, NamedTuple

import numpy as np

from tripcloak.ground.arrays import Bools, Floats, Ints
from tripcloak.ground.errors import InputError
from tripcloak.trajectories.measures._kernels import most_visited
from tripcloak.trajectories.measures.distribution import Distribution, distribution, share
from tripcloak.trajectories.measures.shape import PersonTracks

NIGHT = (22, 7)
WORKING_HOURS = (9, 17)
NEAR_KM = 1.0
HOUR, DAY = 3600, 86_400
FRIDAY = 4


class AnchorAgreement(NamedTuple):
    """How far released anchors lie from the original ones.

    Attributes
    ----------
    people : float or None
        The share of people who have the anchor in both.
    lost, gained : float or None
        The shares of people who have it in the original alone, and in the release alone.
    distance_km : Distribution
        From the original to the released anchor, of people who have both.
    within_1_km : float or None
        The share of these people whose anchors are at most 1 km apart.
    """

    people: float | None
    lost: float | None
    gained: float | None
    distance_km: Distribution
    within_1_km: float | None

    def to_dict(self) -> dict[str, Any]:
        """Return what to tell, ready for JSON."""
        return {
            "people": self.people,
            "lost": self.lost,
            "gained": self.gained,
            "distance_km": self.distance_km.to_dict(),
            "within_1_km": self.within_1_km,
        }


class Anchors(NamedTuple):
    """Whether each person has an anchor, and where, in km."""

    known: Bools
    x: Floats
    y: Floats


def home(tracks: PersonTracks, local: Ints, cell_km: float = 1.0) -> Anchors:
    """Return where everybody is most often from 22 to 7 o'clock; see :func:`work`."""
    return _anchors(tracks, _within(local, NIGHT), cell_km)


def work(tracks: PersonTracks, local: Ints, cell_km: float = 1.0) -> Anchors:
    """Return where everybody is most often from 9 to 17 o'clock, Monday to Friday.

    Most often: in the square cell with most of their points at these hours; ties go to the cell
    furthest west, then south. Where: the mean of those points.

    Parameters
    ----------
    tracks : PersonTracks
        Everybody's points.
    local : array of int
        Seconds since 1970 on local clocks, as :func:`local_seconds` gives them.
    cell_km : float
        The side of a cell; rounded to whole steps of the grid.

    Examples
    --------
    >>> from tripcloak.trajectories import Grid
    >>> noon = np.array([12, 13, 20]) * 3600
    >>> tracks = PersonTracks(Grid(), np.array([0, 3]), noon // 30, np.array([5, 7, 90]), np.array([1, 1, 1]))
    >>> work(tracks, noon).x.round(3).tolist()
    [0.3]
    """
    weekday = (local // DAY + 3) % 7
    return _anchors(tracks, _within(local, WORKING_HOURS) & (weekday <= FRIDAY), cell_km)


def compare_anchors(original: Anchors, released: Anchors) -> AnchorAgreement:
    """Return how anchors of the same people agree."""
    both = original.known & released.known
    km = np.hypot(released.x - original.x, released.y - original.y)[both]
    people, known = len(both), int(both.sum())
    return AnchorAgreement(
        share(known, people),
        share(int((original.known & ~released.known).sum()), people),
        share(int((released.known & ~original.known).sum()), people),
        distribution(km),
        share(int((km <= NEAR_KM).sum()), known),
    )


def local_seconds(tracks: PersonTracks, timezone: str | None = None) -> Ints:
    """Return when each point is on local clocks, in seconds since 1970.

    Without a name such as ``Africa/Dakar``, clocks are those of the nearest meridian of a whole hour to
    the person's first point, since no map of time zones is at hand.
    """
    seconds = tracks.seconds
    if timezone is not None:
        return seconds + _offsets(seconds, timezone)
    first = tracks.offsets[:-1]
    metres = tracks.grid.metres / 2
    lon, _ = tracks.grid.unproject(tracks.x[first] * metres, tracks.y[first] * metres)
    hours = np.round(np.nan_to_num(lon, posinf=0.0, neginf=0.0) / 15).astype(np.int64)
    return seconds + HOUR * np.repeat(hours, np.diff(tracks.offsets))


def _offsets(seconds: Ints, timezone: str) -> Ints:
    """Return how far local clocks are ahead; they change at whole quarters of an hour."""
    from zoneinfo import ZoneInfo

    try:
        zone = ZoneInfo(timezone)
    except (KeyError, ValueError, OSError) as error:
        raise InputError(
            f"expected the name of a time zone such as Africa/Dakar, found {timezone!r}"
        ) from error
    quarters, at = np.unique(seconds // 900, return_inverse=True)
    ahead = [zone.utcoffset(datetime.fromtimestamp(int(q) * 900, UTC).astimezone(zone)) for q in quarters]
    return np.array([0 if d is None else int(d.total_seconds()) for d in ahead], dtype=np.int64)[at]


def _within(local: Ints, hours: tuple[int, int]) -> Bools:
    hour = local // HOUR % 24
    begin, end = hours
    return (hour >= begin) & (hour < end) if begin < end else (hour >= begin) | (hour < end)


def _anchors(tracks: PersonTracks, chosen: Bools, cell_km: float) -> Anchors:
    known, x, y = most_visited(tracks.offsets, chosen, tracks.x, tracks.y, tracks.cell_steps(cell_km))
    return Anchors(known, x * tracks.km, y * tracks.km)
