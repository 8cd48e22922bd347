"""Passages through zones: who was silent when, and which of them had k people inside at one moment."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tripcloak.ground.arrays import Bools, Ints
from tripcloak.trajectories.methods.moments import Moments


class Passages(NamedTuple):
    """Ways through a zone, by zone and moment: the first and the last moment inside, both included."""

    zone: Ints
    first: Ints
    last: Ints

    def __repr__(self) -> str:
        return f"<Passages: {len(self.zone):,}>"

    def take(self, rows: Ints | Bools) -> Passages:
        """Return some of them."""
        return Passages(self.zone[rows], self.first[rows], self.last[rows])


def passages_through(moments: Moments, zone: Ints, moment: Ints, *, longest: int) -> Passages:
    """Return the whole ways through zones: seen before, silent for so many steps at most, seen afterwards.

    Parameters
    ----------
    zone, moment
        Which moments are inside which zone, by zone and moment.
    longest
        Steps of time for which nothing is told of a person at most.
    """
    owner = moments.owner
    if not len(zone):
        return Passages(zone, moment, moment)
    begins = np.ones(len(zone), dtype=bool)
    begins[1:] = (
        (zone[1:] != zone[:-1]) | (moment[1:] != moment[:-1] + 1) | (owner[moment[1:]] != owner[moment[:-1]])
    )
    at = np.flatnonzero(begins)
    first, last = moment[at], moment[np.append(at[1:], len(zone)) - 1]
    before, after = np.maximum(first - 1, 0), np.minimum(last + 1, len(owner) - 1)
    whole = (before < first) & (after > last)
    whole &= (owner[before] == owner[first]) & (owner[after] == owner[first])
    whole &= moments.t[after] - moments.t[before] - 1 <= longest
    return Passages(zone[at], first, last).take(whole)


def mixed(moments: Moments, passages: Passages, k: int) -> Bools:
    """Return in which passages k people or more had gone in and not yet come out, at one moment.

    Inside is who was recorded there and not yet elsewhere: from the first moment inside until the first one
    outside again. Ways of one person through one zone never overlap, so that ways are people.

    Examples
    --------
    >>> t = np.array([0, 2, 6, 0, 4, 5, 0, 5, 9])
    >>> moments = Moments(np.repeat(np.arange(3), 3), t, *[t] * 5)
    >>> three = Passages(np.zeros(3, int), np.array([1, 4, 7]), np.array([1, 4, 7]))
    >>> mixed(moments, three, 2).tolist(), mixed(moments, three, 3).tolist()
    ([True, True, True], [False, False, False])
    """
    if not len(passages.zone):
        return np.zeros(0, dtype=bool)
    reach = int(moments.t.max()) - int(moments.t.min()) + 2
    _, number = np.unique(passages.zone, return_inverse=True)
    base = number * reach - int(moments.t.min())
    begin, end = base + moments.t[passages.first], base + moments.t[passages.last + 1]
    begins, ends = np.sort(begin), np.sort(end)
    # As many go out of a zone as go in, so that earlier zones cancel out.
    inside = np.searchsorted(begins, begins, "right") - np.searchsorted(ends, begins, "right")
    # The number rises only where somebody goes in: the next such moment with k inside, from each on.
    crowded = np.where(inside >= k, np.arange(len(begins)), len(begins))
    upcoming = np.minimum.accumulate(crowded[::-1])[::-1]
    enough: Bools = upcoming[np.searchsorted(begins, begin)] < np.searchsorted(begins, end)
    return enough
