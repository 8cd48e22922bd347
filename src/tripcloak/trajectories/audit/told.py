"""What is told of each person, all pieces together, and which samples are neither in it nor in a silence."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tripcloak.ground.arrays import Bools, Floats, Ints
from tripcloak.trajectories.audit.screening import BoxSpans, Samples


class Told(NamedTuple):
    """Released boxes by person and time, and where another pseudonym begins."""

    owner: Ints
    sides: tuple[Floats, ...]
    changes: Ints
    """Rows of the first box of a later piece."""
    overlaps: bool
    returns: bool


def by_person(spans: BoxSpans, whose: Ints) -> Told:
    """Return the boxes of people, by person and time; those of trajectories of nobody are left out."""
    released = np.repeat(np.arange(len(whose)), np.diff(spans.offsets))
    order = np.lexsort((spans.t0, whose[released]))
    order = order[np.searchsorted(whose[released[order]], 0) :]
    released = released[order]
    owner, sides = whose[released], tuple(np.asarray(side)[order] for side in spans[1:])
    same = owner[1:] == owner[:-1]
    changes = 1 + np.flatnonzero(same & (released[1:] != released[:-1]))
    overlaps = bool((same & (sides[0][1:] < sides[1][:-1])).any())
    # Every piece but a person's first begins with a change: more changes are returns to an older one.
    return Told(owner, sides, changes, overlaps, len(changes) + len(np.unique(owner)) != (whose >= 0).sum())


class Where(NamedTuple):
    """What became of samples: the change in whose silence each one is, -1 where it is told."""

    change: Ints
    outside: Bools
    """Samples that are neither in a box of their person nor in a silence."""
    empty: int
    """Boxes that hold no sample of their person."""

    @property
    def astray(self) -> int:
        """Return how many samples are outside."""
        return int(self.outside.sum())


def where_samples_are(samples: Samples, told: Told) -> Where:
    """Return in which silence each sample is; who is in none must be in a box of the same person."""
    people = len(samples.offsets) - 1
    owner = np.repeat(np.arange(people), np.diff(samples.offsets))
    # The last box of the same person that begins no later; -1 where there is none.
    starts = np.searchsorted(told.owner, np.arange(people + 1))
    at = np.full(len(owner), -1, np.int64)
    both = np.concatenate([told.sides[0], np.asarray(samples.t)])
    which = np.concatenate([told.owner, owner])
    rank = np.lexsort((np.concatenate([np.zeros(len(told.owner)), np.ones(len(owner))]), both, which))
    seen = np.cumsum(rank < len(told.owner))
    sample = rank >= len(told.owner)
    at[rank[sample] - len(told.owner)] = seen[sample] - 1
    own = at >= starts[owner]
    box = np.maximum(at, 0)
    held = own & (np.asarray(samples.t) < told.sides[1][box])
    inside = held.copy()
    for axis, column in enumerate((samples.x, samples.y), start=1):
        inside &= (told.sides[2 * axis][box] <= column) & (column < told.sides[2 * axis + 1][box])
    number = np.full(len(told.owner) + 1, -1, np.int64)
    number[told.changes] = np.arange(len(told.changes))
    change = np.where(own & ~held, number[box + 1], -1)
    filled = np.zeros(len(told.owner), dtype=bool)
    filled[box[inside]] = True
    return Where(change, ~inside & (change < 0), int((~filled).sum()))
