"""Who has what: codes of places, times or samples, by person and by code."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tripcloak.ground.arrays import Floats, Ints
from tripcloak.ground.errors import InputError
from tripcloak.trajectories.model import Trajectories

PRECISIONS = {"year": "Y", "month": "M", "day": "D", "hour": "h", "minute": "m", "second": "s"}


@dataclass(frozen=True, eq=False)
class Index:
    """The codes that each person has, and the people that have each code.

    Attributes
    ----------
    offsets, codes, values
        Codes of person i, ascending, at ``offsets[i]:offsets[i + 1]``, and how many samples have each.
    by_code, whose, theirs
        The same the other way round: people with code c at ``by_code[c]:by_code[c + 1]``.
    """

    offsets: Ints
    codes: Ints
    values: Floats
    by_code: Ints
    whose: Ints
    theirs: Floats

    def of(self, row: int) -> tuple[Ints, Floats]:
        """Return the codes of one person, and how many samples have each."""
        mine = slice(self.offsets[row], self.offsets[row + 1])
        return self.codes[mine], self.values[mine]

    def as_shares(self) -> Index:
        """Return the index with shares of a person's samples in place of their numbers."""
        sums = np.add.reduceat(self.values, self.offsets[:-1])
        return Index(
            self.offsets,
            self.codes,
            self.values / np.repeat(sums, np.diff(self.offsets)),
            self.by_code,
            self.whose,
            self.theirs / sums[self.whose],
        )


def index_of(trajectories: Trajectories, codes: Ints) -> Index:
    """Return who has which of these codes of all samples.

    Examples
    --------
    >>> from tripcloak.trajectories import Grid
    >>> made = Trajectories.of(user=[0, 0, 1], t=[0, 1, 0], x=[7, 7, 7], y=[0, 0, 0], grid=Grid())
    >>> index_of(made, place_codes(made)).theirs.tolist()
    [2.0, 1.0]
    """
    most = int(codes.max()) + 1
    pairs, numbers = np.unique(trajectories.owner * most + codes, return_counts=True)
    people, held = np.divmod(pairs, most)
    order = np.argsort(held, kind="stable")
    values = numbers.astype(np.float64)
    return Index(
        np.searchsorted(people, np.arange(trajectories.n_users + 1)),
        held,
        values,
        np.searchsorted(held[order], np.arange(most + 1)),
        people[order].astype(np.int32),
        values[order],
    )


def place_codes(trajectories: Trajectories) -> Ints:
    """Return a number for the place of each sample, equal where places are."""
    return _numbered(_joined(trajectories.x, trajectories.y))


def sample_codes(trajectories: Trajectories) -> Ints:
    """Return a number for the place and time of each sample."""
    return _numbered(_joined(trajectories.t, place_codes(trajectories)))


def slot_codes(trajectories: Trajectories, precision: str) -> Ints:
    """Return a number for the place of each sample and the hour, day, ... that it is in."""
    return _numbered(_joined(slots(trajectories, precision), place_codes(trajectories)))


def slots(trajectories: Trajectories, precision: str) -> Ints:
    """Return the hour, day, ... since 1970 that each sample begins in (UTC)."""
    if precision not in PRECISIONS:
        raise InputError(f"the precision of times must be one of {', '.join(PRECISIONS)}")
    times = trajectories.grid.times(trajectories.t).astype("datetime64[s]")
    found: Ints = times.astype(f"datetime64[{PRECISIONS[precision]}]").astype(np.int64)
    return found


def _joined(first: Ints, second: Ints) -> Ints:
    low = int(second.min())
    width = int(second.max()) - low + 1
    joined: Ints = np.asarray(first, np.int64) * width + (np.asarray(second, np.int64) - low)
    return joined


def _numbered(keys: Ints) -> Ints:
    return np.unique(keys, return_inverse=True)[1].astype(np.int64)
