"""Travellers scaled anew: what each may have counted for under the stated norms, from the raw records."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from tripcloak.flows.audit.noise import NoisyNumbers
from tripcloak.flows.audit.privacy import Privacy
from tripcloak.ground.arrays import Floats, Ints


class ZonesAbove(NamedTuple):
    """A tree of zones as arrays: the parent of every zone, -1 for none, and its height."""

    parent: Ints
    height: Ints

    def at_most(self, zones: Ints, height: int) -> Ints:
        """Return, for every zone, the highest of itself and those above it that is at most this high.

        >>> tree = ZonesAbove(np.array([2, 2, 3, -1]), np.array([0, 0, 1, 5]))
        >>> tree.at_most(np.array([0, 1, 2]), 4).tolist(), tree.at_most(np.array([0]), 5).tolist()
        ([2, 2, 2], [3])
        """
        here = zones.copy()
        while True:
            above = self.parent[here]
            climbs = (above >= 0) & (self.height[above] <= height)
            if not climbs.any():
                return here
            here = np.where(climbs, above, here)


class Rows(NamedTuple):
    """A row for what one person does in one flow: the person, both ends' tiles, trips, the released group.

    ``group`` is -1 for what lies in no released group.
    """

    person: Ints
    origin: Ints
    destination: Ints
    trips: Ints
    group: Ints


def scaled_numbers(
    privacy: Privacy,
    rows: Rows,
    trees: tuple[ZonesAbove, ZonesAbove],
    published: Ints,
    recount: Ints,
    *,
    one_height: bool,
) -> NoisyNumbers:
    """Return published numbers beside those of travellers who are scaled to the stated norms.

    Nothing that the release says of its own scaling is taken over but the norms and the heights they are
    of.
    """
    people, person = np.unique(rows.person, return_inverse=True)
    factor = np.ones(len(people))
    for norm, length in zip(privacy.norms, _lengths(privacy, rows, person, trees), strict=True):
        factor = np.minimum(factor, norm / np.maximum(length, norm))
    parts = rows.trips * factor[person]
    here = (rows.group >= 0) & (rows.group < len(published))
    counted = np.bincount(rows.group[here], parts[here], minlength=len(published))
    none = np.zeros(len(published), dtype=bool)
    return NoisyNumbers(published, recount, recount, none, scaled=counted, one_height=one_height)


def _lengths(
    privacy: Privacy, rows: Rows, person: Ints, trees: tuple[ZonesAbove, ZonesAbove]
) -> Iterator[Floats]:
    """Yield how long every traveller is at the height of every norm.

    With Laplace noise that is the number of their trips, whatever the height.
    """
    if privacy.noise == "Laplace":
        yield np.bincount(person, rows.trips).astype(float)
        return
    for height in privacy.norm_heights:
        ends = [tree.at_most(tiles, height) for tree, tiles in zip(trees, rows[1:3], strict=True)]
        yield _euclidean(person, ends, rows.trips)


def _euclidean(person: Ints, ends: Sequence[Ints], trips: Ints) -> Floats:
    """Return the Euclidean norm of every person's trips, those between the same two zones added up."""
    order = np.lexsort((ends[1], ends[0], person))
    who, origin, destination = person[order], ends[0][order], ends[1][order]
    new = np.append(True, (np.diff(who) != 0) | (np.diff(origin) != 0) | (np.diff(destination) != 0))
    first = np.flatnonzero(new)
    sums = np.add.reduceat(trips[order].astype(float), first) if len(first) else np.zeros(0)
    squares: Floats = np.bincount(who[first], sums**2, minlength=int(person.max(initial=-1)) + 1)
    return np.sqrt(squares)
