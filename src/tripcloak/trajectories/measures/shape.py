"""Shape: where a trajectory lies and how far it reaches, original against released."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tripcloak.ground.arrays import Floats, Ints
from tripcloak.trajectories.measures._kernels import gyrations, hull_areas
from tripcloak.trajectories.measures.distribution import Distribution, distribution, share
from tripcloak.trajectories.model import Grid, Trajectories
from tripcloak.trajectories.release.release import TrajectoryRelease


class PersonTracks(NamedTuple):
    """Points by person and time: the centres of samples, told in half steps so that they are whole numbers.

    Attributes
    ----------
    grid : Grid
        What a step is.
    offsets : array of int64
        Where each person's points begin; one more than there are people.
    t, x, y : array of int64
        Twice the step of time and space of each point.
    """

    grid: Grid
    offsets: Ints
    t: Ints
    x: Ints
    y: Ints

    @property
    def people(self) -> int:
        """Return the number of people."""
        return len(self.offsets) - 1

    @property
    def owner(self) -> Ints:
        """Return the person of each point."""
        return np.repeat(np.arange(self.people), np.diff(self.offsets))

    @property
    def km(self) -> float:
        """Return the length of half a step of space in kilometres."""
        return self.grid.metres / 2000

    @property
    def seconds(self) -> Ints:
        """Return when each point is, in whole seconds since 1970."""
        return self.grid.start + self.t * self.grid.seconds // 2

    def cell_steps(self, cell_km: float) -> int:
        """Return the side of square cells of about this size in half steps: whole steps, one or more."""
        return 2 * max(1, round(cell_km * 1000 / self.grid.metres))

    def take(self, rows: Ints) -> PersonTracks:
        """Return the tracks of these people, in this order."""
        offsets, points = _points_of(self.offsets, rows)
        return PersonTracks(self.grid, offsets, self.t[points], self.x[points], self.y[points])


def people_at_a_time(offsets: Ints) -> list[slice]:
    """Return people who follow each other, together with no more samples than are worked on at once, or one.

    >>> people_at_a_time(np.array([0, 1, 3])), people_at_a_time(np.array([0]))
    ([slice(0, 2, None)], [])
    """
    found, first = [], 0
    while first < len(offsets) - 1:
        last = max(first + 1, int(np.searchsorted(offsets, offsets[first] + AT_ONCE, side="right")) - 1)
        found.append(slice(first, last))
        first = last
    return found


def paired_tracks(
    trajectories: Trajectories,
    release: TrajectoryRelease,
    people: Ints | None = None,
    where: tuple[Ints, Ints] | None = None,
) -> tuple[PersonTracks, PersonTracks]:
    """Return original and released tracks; a row of both is the same person. Deleted people are in neither.

    A released point is the centre of its box at the middle of its time, as in Mishra and Fiore 2025, IV.

    Parameters
    ----------
    people
        The rows of those who are wanted; everybody by default.
    where
        Whose boxes are where (:meth:`TrajectoryRelease.of_people`), if that is known already.

    Examples
    --------
    >>> from tripcloak.trajectories import Boxes, TrajectorySolution
    >>> from tripcloak.trajectories.release.release import build_trajectory_release
    >>> made = Trajectories.of(user=["a", "a"], t=[0, 9], x=[0, 19], y=[0, 9], grid=Grid())
    >>> whole = Boxes(*(np.array([side]) for side in (0, 10, 0, 20, 0, 10)))
    >>> solution = TrajectorySolution(np.array([0, 1]), whole, np.zeros(1), np.zeros(2, int), {})
    >>> from tripcloak.promises import Containment
    >>> told = {"promise": Containment(k=2), "method": "by hand", "parameters": {}}
    >>> original, released = paired_tracks(made, build_trajectory_release(made, solution, **told))
    >>> original.x.tolist(), released.x.tolist()
    ([1, 39], [20])
    """
    begins, boxes = release.of_people(trajectories.n_users) if where is None else where
    kept = np.arange(trajectories.n_users) if people is None else people
    kept = kept[begins[kept + 1] > begins[kept]]
    offsets, points = _points_of(trajectories.offsets, kept)
    original = (
        2 * column[points].astype(np.int64) + 1 for column in (trajectories.t, trajectories.x, trajectories.y)
    )
    released_offsets, rows = _points_of(begins, kept)
    at = boxes[rows]
    t0, t1, x0, x1, y0, y1 = release.boxes
    released = (low[at].astype(np.int64) + high[at] for low, high in ((t0, t1), (x0, x1), (y0, y1)))
    return (
        PersonTracks(trajectories.grid, offsets, *original),
        PersonTracks(release.grid, released_offsets, *released),
    )


def moves_between(tracks: PersonTracks) -> tuple[Ints, Floats]:
    """Return the person and the kilometres of every move from one place to another between two points."""
    crossing = tracks.offsets[1:-1] - 1
    same = np.ones(max(len(tracks.x) - 1, 0), dtype=bool)
    same[crossing] = False
    km = np.hypot(np.diff(tracks.x), np.diff(tracks.y)) * tracks.km
    moves = np.flatnonzero(same & (km > 0))
    return tracks.owner[moves], km[moves]


def _points_of(offsets: Ints, rows: Ints) -> tuple[Ints, Ints]:
    """Return new offsets of these rows, and where their points stand."""
    lengths = np.diff(offsets)[rows]
    new = np.concatenate(([0], np.cumsum(lengths)))
    return new, np.arange(new[-1]) + np.repeat(offsets[rows] - new[:-1], lengths)


AT_ONCE = 1 << 22
"""Samples that are worked on at once."""
BINS = 16
"""Into how many parts a band cuts the original values."""


class Shapes(NamedTuple):
    """Where people's points lie: centre of mass and radii of gyration in km, convex hull in km2."""

    x: Floats
    y: Floats
    radius: Floats
    timed_radius: Floats
    hull: Floats


class Band(NamedTuple):
    """Released values by original ones: people cut into parts of one size by their original value.

    Attributes
    ----------
    original : array of float
        The median original value of each part, rising.
    low, middle, high : array of float
        The quantiles of 10, 50 and 90 % of the released values of the same people.
    """

    original: Floats
    low: Floats
    middle: Floats
    high: Floats


class Agreement(NamedTuple):
    """One number of everybody, original and released.

    Attributes
    ----------
    original, released : Distribution
        The number over people.
    relative_error : Distribution
        Released less original as a share of the original, where that is not 0.
    within : float or None
        The share of people whose released number is within 10 % of the original one.
    band : Band
        The released by the original number.
    """

    original: Distribution
    released: Distribution
    relative_error: Distribution
    within: float | None
    band: Band

    def to_dict(self) -> dict[str, Any]:
        """Return what to tell, ready for JSON."""
        return {
            "original": self.original.to_dict(),
            "released": self.released.to_dict(),
            "relative_error": self.relative_error.to_dict(),
            "within_10_percent": self.within,
        }


def shapes(tracks: PersonTracks) -> Shapes:
    """Return centre, radii and hull of everybody's points.

    The centre of mass is the mean of all points, each counted once. The radius of gyration is the root
    of their mean squared distance from it; the timed one weighs each point by the time spent there
    (Mishra and Fiore 2025, footnote 5): half the time to the points before and after, and one step more.

    Examples
    --------
    >>> from tripcloak.trajectories import Grid
    >>> square = np.array([0, 0, 20, 20]), np.array([0, 20, 20, 0])
    >>> found = shapes(PersonTracks(Grid(), np.array([0, 4]), np.arange(4), *square))
    >>> found.x.tolist(), found.radius.round(4).tolist(), found.hull.round(4).tolist()
    ([0.5], [0.7071], [1.0])
    """
    x, y, plain, timed = gyrations(tracks.offsets, tracks.t, tracks.x, tracks.y, 2)
    hull = hull_areas(tracks.offsets, tracks.x, tracks.y)
    km = tracks.km
    return Shapes(x * km, y * km, plain * km, timed * km, hull * km**2)


def agreement(original: Floats, released: Floats) -> Agreement:
    """Return how a number of everybody, in the same order, agrees with the original one.

    Examples
    --------
    >>> found = agreement(np.array([0.0, 2.0, 10.0]), np.array([0.0, 3.0, 10.5]))
    >>> found.relative_error.quantiles["q95"], found.within
    (0.5, 0.6666666666666666)
    """
    some = original > 0
    return Agreement(
        distribution(original),
        distribution(released),
        distribution(released[some] / original[some] - 1),
        share(int((np.abs(released - original) <= 0.1 * original).sum()), len(original)),
        _band(original, released),
    )


def centre_shift_km(original: Shapes, released: Shapes) -> Floats:
    """Return how far each person's centre of mass moved, in km."""
    return np.asarray(np.hypot(released.x - original.x, released.y - original.y))


def _band(original: Floats, released: Floats) -> Band:
    some = np.flatnonzero(original > 0)
    order = some[np.argsort(original[some], kind="stable")]
    parts = [part for part in np.array_split(order, BINS) if len(part)]

    def told(values: Floats, q: float) -> Floats:
        return np.array([np.quantile(values[part], q) for part in parts])

    return Band(told(original, 0.5), *(told(released, q) for q in (0.1, 0.5, 0.9)))
