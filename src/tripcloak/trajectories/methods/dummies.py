"""Dummy trajectories: made-up ones beside each person's own, as few as a profile of privacy asks for."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from tripcloak.ground.arrays import Bools, Floats, Ints, to_read
from tripcloak.ground.errors import ImpossibleRequestError, InputError
from tripcloak.ground.options import option
from tripcloak.ground.progress import Progress
from tripcloak.ground.spelling import spelt
from tripcloak.promises import Disclosure, TrajectoryPromise
from tripcloak.trajectories.methods.method import TrajectoryMethod
from tripcloak.trajectories.methods.moments import Moments, moments_of
from tripcloak.trajectories.methods.profiles import Profiles, read_profiles
from tripcloak.trajectories.model import Trajectories
from tripcloak.trajectories.release.release import Boxes, TrajectorySolution

TRIED = 24
"""Dummies of each person that could be taken; so many more of another pattern where these do not do."""
BLOCK = 200_000
"""Moments for which dummies are made at a time."""
ASTRAY = 0.6
"""By how much a random way strays from the straight one to where it goes, in radians (one deviation)."""


@dataclass(frozen=True, kw_only=True)
class Dummies(TrajectoryMethod):
    """Dummy trajectories (You, Peng and Lee 2007), as few as meet a profile.

    The trajectory of each person is released as it was recorded, and beside it dummies with the same times,
    until short-term disclosure, long-term disclosure and distance meet the profile. Dummies are drawn anew
    every time, without a seed: whoever knew it could make them again from each trajectory, and see which
    is the true one.

    Parameters
    ----------
    pattern
        ``rotation``: the trajectory itself, turned about one of its own places. ``random``: from somewhere to
        somewhere else, astray, as fast as the person at other times. Where turning does not do, as for
        somebody who never moves, random dummies are tried.
    sd, ld, dst, cell
        The profile of everybody; see :class:`~tripcloak.promises.Disclosure`.
    profiles
        What some people ask for beyond that: a file, or
        :class:`~tripcloak.trajectories.methods.profiles.Profiles`.
    most
        How many dummies a person has at most.
    withheld
        Share of people who may be withheld because no dummies do.

    Examples
    --------
    >>> from tripcloak.trajectories import Grid, Trajectories
    >>> user, x = np.repeat([0, 1], 9), np.tile(np.arange(9) * 20, 2)
    >>> made = Trajectories.of(user=user, t=np.tile(np.arange(9), 2), x=x, y=x, grid=Grid())
    >>> release = Dummies(sd=0.6, ld=0.3).anonymise(made)
    >>> release.n_released >= 4, (release.whose >= 0).sum().tolist()
    (True, 2)
    """

    name: ClassVar[str] = "dummies"
    summary: ClassVar[str] = "made-up trajectories beside each one, until a guess is seldom right"
    source: ClassVar[str] = "You, Peng and Lee 2007, dummy trajectories"
    makes: ClassVar[type[TrajectoryPromise]] = Disclosure

    pattern: str = option(
        "rotation",
        help="How dummies are made: the trajectory turned about one of its places, or a random way.",
        metavar="NAME",
        values=("rotation", "random"),
    )
    sd: float = option(
        0.4,
        help="Short-term disclosure: chance that a guess of one place is right, at most.",
        metavar="SHARE",
    )
    ld: float = option(
        0.25,
        help="Long-term disclosure: chance that a guess of a whole way is right, at most.",
        metavar="SHARE",
    )
    dst: float = option(
        2.0, help="How many cells dummies are away on average, at least.", metavar="CELLS", least=0
    )
    cell: int = option(500, help="Metres of a cell, which counts as one place.", metavar="METRES", least=1)
    profiles: str | Profiles | None = option(
        None,
        help="A CSV file of those who ask for more: person, sd, ld, dst.",
        unset="none",
        metavar="FILE",
        reads="path",
    )
    most: int = option(8, help="Dummies of a person, at most.", metavar="N", least=1)
    withheld: float = option(0.1, help="Share of people who may be withheld.", metavar="SHARE", least=0)

    def __post_init__(self) -> None:
        super().__post_init__()
        assert self.promise
        if not 0 <= self.withheld < 1:
            raise InputError(
                f"the share that may be withheld is 0 or more and below 1; got {self.withheld:g}"
            )
        self._refuse_too_few(self.sd)

    @classmethod
    def asked(cls, k: int | None, **own: Any) -> Self:
        """Return the method with its own options; a file of profiles is read here, once."""
        if isinstance(own.get("profiles"), str):
            own["profiles"] = read_profiles(Path(own["profiles"]))
        return super().asked(k, **own)

    def parameters(self) -> dict[str, Any]:
        """Return the parameters that may be told: not who asks for what."""
        return {name: value for name, value in super().parameters().items() if name != "profiles"}

    def _refuse_too_few(self, sd: float) -> None:
        """Raise where so small a disclosure takes more dummies than are allowed."""
        if sd * (self.most + 1) < 1:
            needed = math.ceil(1 / sd - 1e-9) - 1
            least = math.ceil(1000 / (self.most + 1)) / 1000
            raise ImpossibleRequestError(
                f"not possible: a short-term disclosure of {sd:g} takes {needed} dummies or more for "
                f"each trajectory, and {self.most} are allowed; allow more ({spelt('most', needed)}), or be "
                f"content with a larger one ({spelt('sd', least)})"
            )

    def solve(
        self, trajectories: Trajectories, progress: Progress, dice: np.random.Generator | None = None
    ) -> TrajectorySolution:
        """Return everybody with dummies; who cannot have enough is left out.

        Parameters
        ----------
        dice
            Where chance comes from; the system's own by default, and nothing else protects anybody.
        """
        dice = dice or np.random.default_rng()
        moments = moments_of(trajectories)
        frame = _Frame.of(trajectories, moments, self.cell)
        limits, strangers = self._limits(trajectories)
        groups: dict[int, list[_Track]] = {}
        for people in _blocks(frame.lengths):
            progress("making dummies", int(people[0]), len(frame.lengths))
            groups |= self._met(frame, people, limits, dice)
        if len(groups) < (1 - self.withheld) * trajectories.n_users or not groups:
            raise self._missed()
        solution = _released(trajectories, moments, groups)
        if self.profiles is None:
            return solution
        own = int((limits != (self.sd, self.ld, self.dst)).any(axis=1).sum())
        facts = {**solution.facts, "own_profiles": own, "profiles_of_others": strangers}
        return solution._replace(facts=facts, profiles=limits)

    def _limits(self, trajectories: Trajectories) -> tuple[Floats, int]:
        """Return everybody's profile, and how many have one who are not there."""
        general = self.sd, self.ld, self.dst
        if not isinstance(self.profiles, Profiles):
            return np.tile(general, (trajectories.n_users, 1)), 0
        users = np.arange(trajectories.n_users) if trajectories.users is None else trajectories.users
        limits = self.profiles.of(users, general)
        self._refuse_too_few(float(limits[:, 0].min()))
        return limits, self.profiles.strangers(users)

    def _met(
        self, frame: _Frame, people: Ints, limits: Floats, dice: np.random.Generator
    ) -> dict[int, list[_Track]]:
        """Return the dummies of those of these people for whom the profile can be met."""
        patterns = [_turned, _random] if self.pattern == "rotation" else [_random]
        found: dict[int, list[_Track]] = {}
        for pattern in patterns:
            left = np.array([one for one in people.tolist() if one not in found], np.int64)
            if len(left):
                own, tried = frame.of_people(left), pattern(frame, left, dice)
                found |= self._chosen(frame, left, own, tried, limits)
        return found

    def _chosen(
        self, frame: _Frame, people: Ints, own: _Own, tried: Floats, limits: Floats
    ) -> dict[int, list[_Track]]:
        from tripcloak.trajectories.methods._kernels.dummies import choose_dummies

        both = np.concatenate([np.stack([own.x, own.y])[:, None], tried], axis=1)
        codes = to_read(frame.codes(both))
        away = np.hypot(both[0] - own.x, both[1] - own.y) * (frame.metres / self.cell)
        means = np.add.reduceat(away, own.offsets[:-1], axis=1) / np.diff(own.offsets)
        fits = frame.holds(both, own)
        rows = np.zeros(self.most + 2, np.int64)
        found: dict[int, list[_Track]] = {}
        for at, one in enumerate(people.tolist()):
            mine = slice(own.offsets[at], own.offsets[at + 1])
            sd, ld, dst = limits[one]
            n = choose_dummies(
                np.ascontiguousarray(codes[:, mine]),
                np.ascontiguousarray(means[:, at]),
                np.ascontiguousarray(fits[:, at]),
                self.most,
                sd,
                ld,
                dst,
                rows,
            )
            if n:
                # Steps are of 32 bits everywhere; a view would keep all that were drawn.
                found[one] = [_Track(*both[:, row, mine].astype(np.int32)) for row in rows[1:n].tolist()]
        return found

    def _missed(self) -> ImpossibleRequestError:
        return ImpossibleRequestError(
            f"not possible: for too many people no {self.most} dummies or fewer meet the profile, a "
            f"short-term disclosure of {self.sd:g}, a long-term one of {self.ld:g} and {self.dst:g} cells "
            f"away, within the area of the input; allow more dummies ({spelt('most', 2 * self.most)}), ask "
            f"for less, such as {spelt('dst', self.dst / 2)}, or let more people be withheld "
            f"({spelt('withheld', 0.5)})"
        )


class _Track(NamedTuple):
    """Where a dummy is at each moment of its person, in steps: the lower corner of its box."""

    x: Ints
    y: Ints


class _Own(NamedTuple):
    """Where some people are at each of their moments."""

    offsets: Ints
    t: Ints
    x: Ints
    y: Ints


class _Frame(NamedTuple):
    """Everybody's moments, the area in which dummies may be, and how wide a cell is in metres."""

    moments: Moments
    offsets: Ints
    metres: int
    cell: int
    area: tuple[int, int, int, int]

    @classmethod
    def of(cls, trajectories: Trajectories, moments: Moments, cell: int) -> _Frame:
        offsets = np.searchsorted(moments.owner, np.arange(trajectories.n_users + 1))
        low, high = (moments.x0.min(), moments.y0.min()), (moments.x1.max(), moments.y1.max())
        area = int(low[0]), int(low[1]), int(high[0]), int(high[1])
        return cls(moments, offsets, trajectories.grid.metres, cell, area)

    @property
    def lengths(self) -> Ints:
        return np.diff(self.offsets)

    def of_people(self, people: Ints) -> _Own:
        begin, end = int(self.offsets[people[0]]), int(self.offsets[people[-1] + 1])
        rows = np.arange(begin, end)[np.isin(self.moments.owner[begin:end], people)]
        offsets = np.concatenate(([0], np.cumsum(self.lengths[people])))
        return _Own(offsets, self.moments.t[rows], self.moments.x0[rows], self.moments.y0[rows])

    def codes(self, places: Ints) -> Ints:
        """Return a number for the cell of each place."""
        column, row = (np.asarray(side, np.int64) * self.metres // self.cell for side in places)
        code: Ints = column * (1 << 32) + row
        return code

    def holds(self, places: Ints, own: _Own) -> Ints:
        """Return which tracks never leave the area, by track and person."""
        west, south, east, north = self.area
        inside = (west <= places[0]) & (places[0] < east) & (south <= places[1]) & (places[1] < north)
        return np.logical_and.reduceat(inside, own.offsets[:-1], axis=1).astype(np.int64)


def _blocks(lengths: Ints) -> Iterator[Ints]:
    """Yield people in parts that have some moments together."""
    part = np.cumsum(lengths) // BLOCK
    for number in np.unique(part).tolist():
        yield np.flatnonzero(part == number)


def _turned(frame: _Frame, people: Ints, dice: np.random.Generator) -> Ints:
    """Return trajectories turned about one of their places by some angle: x and y, by dummy and moment."""
    own = frame.of_people(people)
    lengths = np.diff(own.offsets)
    tracks = np.empty((2, TRIED, len(own.x)), np.int64)
    for one in range(TRIED):
        about = own.offsets[:-1] + (dice.random(len(people)) * lengths).astype(np.int64)
        angle = np.repeat(dice.uniform(0, 2 * np.pi, len(people)), lengths)
        x, y = (np.repeat(side[about], lengths) for side in (own.x, own.y))
        east, north = own.x - x, own.y - y
        tracks[0, one] = np.rint(x + np.cos(angle) * east - np.sin(angle) * north)
        tracks[1, one] = np.rint(y + np.sin(angle) * east + np.cos(angle) * north)
    return tracks


def _random(frame: _Frame, people: Ints, dice: np.random.Generator) -> Ints:
    """Return ways from somewhere to somewhere, astray, as fast as the person is at some other time."""
    own = frame.of_people(people)
    n = len(people)
    speeds = _speeds(own)
    west, south, east, north = frame.area
    low, high = np.array([west, south]), np.array([east, north])
    place = dice.uniform(low, high, (n, TRIED, 2))
    goal = dice.uniform(low, high, (n, TRIED, 2))
    tracks = np.empty((2, TRIED, len(own.x)), np.int64)
    lengths = np.diff(own.offsets)
    # Invariant: place is where everybody's dummies are at this moment of theirs, the last of who has no more.
    for at in range(int(lengths.max())):
        going = np.flatnonzero(lengths > at)
        if at:
            rows = own.offsets[going] + at
            other = (
                own.offsets[going][:, None]
                + 1
                + (dice.random((len(going), TRIED)) * (lengths[going] - 1)[:, None]).astype(np.int64)
            )
            far = speeds[other] * (own.t[rows] - own.t[rows - 1])[:, None]
            place[going], goal[going] = _stepped(place[going], goal[going], far, (low, high), dice)
        tracks[:, :, own.offsets[going] + at] = np.moveaxis(np.floor(place[going]), 2, 0).swapaxes(1, 2)
    return tracks


def _speeds(own: _Own) -> Floats:
    """Return by how many steps of place a step of time each moment is from the one before, 0 of the first."""
    far = np.hypot(np.diff(own.x, prepend=own.x[:1]), np.diff(own.y, prepend=own.y[:1]))
    speeds = far / np.maximum(np.diff(own.t, prepend=own.t[:1] - 1), 1)
    speeds[own.offsets[:-1]] = 0.0
    return np.asarray(speeds, np.float64)


def _stepped(
    place: Floats, goal: Floats, far: Floats, area: tuple[Ints, Ints], dice: np.random.Generator
) -> tuple[Floats, Floats]:
    """Return dummies so far on towards where they go, and another goal for those that have come to theirs."""
    low, high = area
    ahead = goal - place
    angle = np.arctan2(ahead[..., 1], ahead[..., 0]) + dice.normal(0, ASTRAY, far.shape)
    moved = place + far[..., None] * np.stack([np.cos(angle), np.sin(angle)], axis=-1)
    # Who would leave the area stays for once; standing still is as plausible as anything.
    outside = ((moved < low) | (moved >= high)).any(axis=-1)
    moved = np.where(outside[..., None], place, moved)
    there: Bools = (np.hypot(ahead[..., 0], ahead[..., 1]) <= far) | outside
    return moved, np.where(there[..., None], dice.uniform(low, high, goal.shape), goal)


def _released(
    trajectories: Trajectories, moments: Moments, groups: dict[int, list[_Track]]
) -> TrajectorySolution:
    """Return those who have dummies, and their dummies, whose boxes are as wide as theirs at each moment."""
    begins = np.searchsorted(moments.owner, np.arange(trajectories.n_users + 1))
    people = np.array(sorted(groups))
    many = np.array([1 + len(groups[one]) for one in people.tolist()])
    whose = np.repeat(people, many)
    lengths = np.diff(begins)[whose]
    offsets = np.concatenate(([0], np.cumsum(lengths)))
    # The moment that each sample stands for: of dummies those of their person.
    at = np.arange(offsets[-1]) + np.repeat(begins[whose] - offsets[:-1], lengths)
    west, south = moments.x0[at], moments.y0[at]
    own = np.cumsum(many) - many
    for one, row in zip(people.tolist(), own.tolist(), strict=True):
        for number, track in enumerate(groups[one], start=row + 1):
            mine = slice(offsets[number], offsets[number + 1])
            west[mine], south[mine] = track.x, track.y
    guards = whose.copy()
    guards[own] = -1
    boxes = _as_wide(moments, at, west, south)
    released_of = np.full(trajectories.n_users, -1, np.int64)
    released_of[people] = own
    box_of = np.full(len(moments.t), -1, np.int64)
    true = np.flatnonzero(np.repeat(guards < 0, lengths))
    box_of[at[true]] = true
    facts = {"dummies": len(guards) - len(own), "most_dummies": int(many.max()) - 1}
    return TrajectorySolution(offsets, boxes, released_of, box_of[moments.of_sample], facts, guards=guards)


def _as_wide(moments: Moments, at: Ints, west: Ints, south: Ints) -> Boxes:
    """Return boxes with these corners that last as long, and are as wide, as those of moments."""
    t = moments.t[at]
    east, north = west + (moments.x1 - moments.x0)[at], south + (moments.y1 - moments.y0)[at]
    return Boxes(t, t + 1, west, east, south, north)
