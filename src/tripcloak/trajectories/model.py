"""Trajectories on a grid: people's samples in steps of time and space."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np

from tripcloak.ground.arrays import Floats, Ints
from tripcloak.ground.errors import ImpossibleRequestError, InputError
from tripcloak.ground.masking import mask_small

Clock = Literal["UTC", "unknown"]
"""Whose clock times are of."""


@dataclass(frozen=True, kw_only=True)
class Grid:
    """Whole steps of time and space, and what they mean.

    A sample at step (t, x, y) is a box from the start: it lasts one step and is one step wide and high.
    Step t begins ``start + t * seconds``; step x begins ``x * metres`` east of the projection's centre.

    Attributes
    ----------
    seconds : int
        Length of a step of time.
    metres : int
        Length of a step of space.
    start : int
        When step 0 begins, in seconds since 1970 by its clock; a multiple of ``seconds``.
    projection : str
        PROJ text of a projection in metres, valid wherever the samples are.
    clock : str
        Whose clock times are of: ``UTC``, or ``unknown`` where the input did not say it.

    Examples
    --------
    >>> grid = Grid(projection="+proj=laea +lat_0=48.9 +lon_0=2.3")
    >>> grid.steps(seconds=[119.0], x=[250.0], y=[-1.0])
    (array([1], dtype=int32), array([2], dtype=int32), array([-1], dtype=int32))
    """

    seconds: int = 60
    metres: int = 100
    start: int = 0
    projection: str = "+proj=laea +lat_0=0 +lon_0=0"
    clock: Clock = "UTC"

    def __post_init__(self) -> None:
        if self.seconds < 1 or self.metres < 1:
            raise InputError("a sample lasts one second or more, and is one metre wide or more")
        if self.start % self.seconds:
            raise InputError("the first step of time must begin at a multiple of its length")

    def steps(self, *, seconds: Any, x: Any, y: Any) -> tuple[Ints, Ints, Ints]:
        """Return the steps that hold these times (seconds since 1970) and places (projected metres)."""
        t = np.floor_divide(np.asarray(seconds, dtype=np.float64) - self.start, self.seconds)
        columns = (t, *(np.floor_divide(np.asarray(v, dtype=np.float64), self.metres) for v in (x, y)))
        if any(v.size and not np.abs(v).max() < np.iinfo(np.int32).max for v in columns):
            raise InputError(
                "times or places lie too far apart for steps this small; choose a coarser resolution"
            )
        return tuple(v.astype(np.int32) for v in columns)  # type: ignore[return-value]

    def times(self, t: Ints) -> Ints:
        """Return when steps begin, in seconds since 1970."""
        return self.start + np.asarray(t, dtype=np.int64) * self.seconds

    def places(self, steps: Ints) -> Ints:
        """Return where steps begin, in projected metres."""
        return np.asarray(steps, dtype=np.int64) * self.metres

    def project(self, lon: Any, lat: Any) -> tuple[Floats, Floats]:
        """Return projected metres of longitudes and latitudes."""
        x, y = self._transformer().transform(np.asarray(lon), np.asarray(lat))
        return x, y

    def unproject(self, x: Any, y: Any) -> tuple[Floats, Floats]:
        """Return longitudes and latitudes of projected metres."""
        lon, lat = self._transformer().transform(
            np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64), direction="INVERSE"
        )
        return lon, lat

    def _transformer(self) -> Any:
        from pyproj import Transformer

        return Transformer.from_crs("EPSG:4326", self.projection, always_xy=True)


class Dropped(NamedTuple):
    """Samples that reading dropped though they can be placed: whose, when and where, by person and time."""

    owner: Ints
    t: Ints
    x: Ints
    y: Ints

    @classmethod
    def of(cls, owner: Any, t: Any, x: Any, y: Any) -> Dropped:
        """Return these samples by person, time and place, each once."""
        columns = [np.asarray(column, dtype=np.int32) for column in (owner, t, x, y)]
        return cls(*np.unique(np.stack(columns), axis=1))

    def __repr__(self) -> str:
        return f"<Dropped: {mask_small(len(self.t), people=len(np.unique(self.owner)))} samples>"


NONE_DROPPED = Dropped.of([], [], [], [])


@dataclass(frozen=True, kw_only=True, eq=False)
class Trajectories:
    """The samples of many people: one trajectory a person, samples by time.

    Samples of trajectory i stand at ``offsets[i]:offsets[i + 1]``, ordered by (t, x, y).

    Attributes
    ----------
    grid : Grid
        What the steps mean.
    offsets : array of int64
        Where each trajectory's samples begin; one more than there are trajectories.
    t, x, y : array of int32
        Each sample's steps of time and space.
    users : array of str, optional
        Whose trajectory each one is. Never published, never told.
    dropped : Dropped
        What was recorded of these people within the same period and area and left out when it was read,
        such as jumps. It is in no trajectory, but somebody may know it.
    id_is : str
        What the ids stand for: a person, a vehicle and so on, or that nothing tells.
    asked : tuple of int, optional
        First and last step of the period that was asked for, where one was: known before anybody looked.

    Examples
    --------
    >>> made = Trajectories.of(user=["b", "a", "b"], t=[5, 0, 1], x=[1, 2, 3], y=[0, 0, 0], grid=Grid())
    >>> made.n_users, made.n_samples, made.t.tolist()
    (2, 3, [0, 1, 5])
    """

    grid: Grid
    offsets: Ints
    t: Ints
    x: Ints
    y: Ints
    users: Any = field(default=None, repr=False)
    dropped: Dropped = NONE_DROPPED
    id_is: str = "person"
    asked: tuple[int, int] | None = None

    def __repr__(self) -> str:
        return (
            f"<Trajectories: {mask_small(self.n_samples, 'samples')} of {mask_small(self.n_users, 'people')}>"
        )

    def __post_init__(self) -> None:
        for name, kind in (("offsets", np.int64), ("t", np.int32), ("x", np.int32), ("y", np.int32)):
            column = np.ascontiguousarray(getattr(self, name), dtype=kind).view()
            column.setflags(write=False)
            object.__setattr__(self, name, column)
        if len(self.offsets) == 0 or self.offsets[0] != 0 or self.offsets[-1] != len(self.t):
            raise InputError("offsets must begin at 0 and end at the number of samples")
        if (np.diff(self.offsets) < 1).any():
            raise InputError("every trajectory needs a sample")
        if (
            len(self.dropped.owner)
            and not 0 <= self.dropped.owner.min() <= self.dropped.owner.max() < self.n_users
        ):
            raise InputError("dropped samples must be of people who have a trajectory")

    @classmethod
    def of(cls, *, user: Any, t: Any, x: Any, y: Any, grid: Grid) -> Trajectories:
        """Return trajectories made of samples in any order; people are ordered by their ids."""
        users, code = np.unique(np.asarray(user), return_inverse=True)
        columns = [np.asarray(column, dtype=np.int32) for column in (t, x, y)]
        order = np.lexsort((columns[2], columns[1], columns[0], code))
        offsets = np.concatenate(([0], np.cumsum(np.bincount(code, minlength=len(users)))))
        t, x, y = (column[order] for column in columns)
        return cls(grid=grid, offsets=offsets, t=t, x=x, y=y, users=users)

    @property
    def n_users(self) -> int:
        """Return the number of trajectories."""
        return len(self.offsets) - 1

    @property
    def n_samples(self) -> int:
        """Return the number of samples of all trajectories."""
        return len(self.t)

    @property
    def period(self) -> Ints:
        """Return the first and the last step of the period that was asked for, or else of all samples."""
        return np.array(self.asked or (self.t.min(), self.t.max()), np.int64)

    @cached_property
    def lengths(self) -> Ints:
        """Return the number of samples of each trajectory."""
        return np.diff(self.offsets)

    @cached_property
    def owner(self) -> Ints:
        """Return the trajectory of each sample."""
        return np.repeat(np.arange(self.n_users), self.lengths)

    @cached_property
    def digest(self) -> str:
        """Return a digest of all samples, dropped ones too, and of the grid; ids play no part."""
        hashed = hashlib.sha256(repr(self.grid).encode())
        for column in (self.offsets, self.t, self.x, self.y, *self.dropped):
            hashed.update(column.tobytes())
        return hashed.hexdigest()

    def take(self, rows: Ints) -> Trajectories:
        """Return the trajectories of these rows, in this order."""
        rows = np.asarray(rows, dtype=np.int64)
        lengths = self.lengths[rows]
        offsets = np.concatenate(([0], np.cumsum(lengths)))
        samples = np.arange(offsets[-1]) + np.repeat(self.offsets[rows] - offsets[:-1], lengths)
        return Trajectories(
            grid=self.grid,
            offsets=offsets,
            t=self.t[samples],
            x=self.x[samples],
            y=self.y[samples],
            users=None if self.users is None else self.users[rows],
            dropped=self._dropped_of(rows),
            id_is=self.id_is,
            asked=self.asked,
        )

    def _dropped_of(self, rows: Ints) -> Dropped:
        """Return the dropped samples of these rows; whoever stands in several has them in each."""
        first, last = (np.searchsorted(self.dropped.owner, rows, side=side) for side in ("left", "right"))
        lengths = last - first
        at = np.arange(lengths.sum()) + np.repeat(first - np.cumsum(lengths) + lengths, lengths)
        owner = np.repeat(np.arange(len(rows)), lengths)
        return Dropped.of(owner, *(column[at] for column in self.dropped[1:]))


def too_few_people(k: int, several: str = "people") -> ImpossibleRequestError:
    """Return the error that nobody can be hidden among k where there are fewer."""
    return ImpossibleRequestError(
        f"not possible: k = {k} needs {k} {several} or more, and the input has fewer; "
        f"ask for a smaller k, or bring more {several}"
    )
