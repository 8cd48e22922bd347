"""Trajectories: the samples of many people, in columns."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from tripcloak.arrays import Ints
from tripcloak.errors import InputError
from tripcloak.trajectories.grid import Grid


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

    def __post_init__(self) -> None:
        for name, kind in (("offsets", np.int64), ("t", np.int32), ("x", np.int32), ("y", np.int32)):
            column = np.ascontiguousarray(getattr(self, name), dtype=kind).view()
            column.setflags(write=False)
            object.__setattr__(self, name, column)
        if len(self.offsets) == 0 or self.offsets[0] != 0 or self.offsets[-1] != len(self.t):
            raise InputError("offsets must begin at 0 and end at the number of samples")
        if (np.diff(self.offsets) < 1).any():
            raise InputError("every trajectory needs a sample")

    @classmethod
    def of(cls, *, user: Any, t: Any, x: Any, y: Any, grid: Grid) -> Trajectories:
        """Return trajectories made of samples in any order; people are ordered by their ids."""
        users, code = np.unique(np.asarray(user), return_inverse=True)
        columns = [np.asarray(column, dtype=np.int32) for column in (t, x, y)]
        order = np.lexsort((columns[2], columns[1], columns[0], code))
        offsets = np.concatenate(([0], np.cumsum(np.bincount(code, minlength=len(users)))))
        made = (column[order] for column in columns)
        return cls(grid=grid, offsets=offsets, users=users, **dict(zip("txy", made, strict=True)))

    @property
    def n_users(self) -> int:
        """Return the number of trajectories."""
        return len(self.offsets) - 1

    @property
    def n_samples(self) -> int:
        """Return the number of samples of all trajectories."""
        return len(self.t)

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
        """Return a digest of all samples and of the grid; ids play no part."""
        hashed = hashlib.sha256(repr(self.grid).encode())
        for column in (self.offsets, self.t, self.x, self.y):
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
        )
