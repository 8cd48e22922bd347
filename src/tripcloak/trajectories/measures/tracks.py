"""PersonTracks: people's samples as points, original and released, so that both answer the same questions."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tripcloak.ground.arrays import Floats, Ints
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


def paired_tracks(
    trajectories: Trajectories, release: TrajectoryRelease
) -> tuple[PersonTracks, PersonTracks]:
    """Return original and released tracks; a row of both is the same person. Deleted people are in neither.

    A released point is the centre of its box at the middle of its time, as in Mishra and Fiore 2025, IV.

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
    kept = np.flatnonzero(release.released_of >= 0)
    offsets, points = _points_of(trajectories.offsets, kept)
    original = (
        2 * column[points].astype(np.int64) + 1 for column in (trajectories.t, trajectories.x, trajectories.y)
    )
    released_offsets, at = _points_of(release.offsets, release.released_of[kept])
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
