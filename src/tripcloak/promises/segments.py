"""Every segment at once: a group is safe when it is safe for each segment of the people in it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from tripcloak.flows.model import Covered, Groups, ODMatrix, Unit
from tripcloak.ground.arrays import Bools, Ints
from tripcloak.ground.errors import InputError
from tripcloak.promises.allof import AllOf
from tripcloak.promises.kanonymity import KAnonymity, Promise


class SegmentPart(NamedTuple):
    """One segment: its name, its own matrix, and the row of each of its flows in the whole matrix."""

    name: str
    matrix: ODMatrix
    row: Ints

    @classmethod
    def of(cls, name: str, matrix: ODMatrix, whole: ODMatrix) -> SegmentPart:
        """Return a segment as a part of a whole matrix; its tiles are found there by their ids."""
        ends = []
        for (tree, tile), (all_of_it, _) in zip(matrix.axes, whole.axes, strict=True):
            known, ids = all_of_it.zones.ids[: all_of_it.n_tiles], tree.zones.ids[: tree.n_tiles]
            place = np.minimum(np.searchsorted(known, ids), len(known) - 1)
            ends.append(np.where(known[place] == ids, place, -1)[tile])
        row = np.full(matrix.n_flows, -1)
        if all((end >= 0).all() for end in ends):
            row = whole.find(*ends)
        if (row < 0).any():
            raise InputError(f"the segment {name} has flows that the whole input has not")
        return cls(name, matrix, row)


@dataclass(frozen=True, kw_only=True, eq=False)
class EverySegment:
    """A promise that must hold for every segment in every group.

    A segment of which nobody is in a group is not safe there either: that nobody of a kind makes a trip
    is told about each of them. So the promise stays monotone, and every released flow tells a safe
    number for every segment.

    Parameters
    ----------
    promise
        What must hold for each segment.
    parts
        The segments.
    by
        What parts people, such as ``sex`` or ``age:10``.
    people_in_several
        Somebody has trips in several segments. Travellers then do not add up over segments, and what
        is too many would tell how few are in two of them: they are not published by segment.

    Examples
    --------
    >>> from tripcloak.promises import KAnonymity
    >>> from tripcloak.hierarchy import Hierarchy
    >>> from tripcloak.flows.model import group_flows
    >>> tree = Hierarchy.from_parents(["a", "b", "ab"], [2, 2, -1])
    >>> whole = ODMatrix.from_trips(tree, tree, np.array([0, 0, 1, 1]), np.zeros(4, dtype=int))
    >>> half = ODMatrix.from_trips(tree, tree, np.array([0, 1]), np.zeros(2, dtype=int))
    >>> parts = tuple(Part.of(name, half, whole) for name in ("sex=F", "sex=M"))
    >>> both = EverySegment(promise=KAnonymity(k=2, unit="trips"), parts=parts)
    >>> both.safe(group_flows(whole, np.array([0, 1]), np.array([0, 0]))).tolist()
    [False, False]
    >>> both.safe(group_flows(whole, np.array([2, 2]), np.array([0, 0]))).tolist()
    [True]
    >>> both.words()
    'at least 2 trips in each of 2 segments'
    """

    promise: Promise
    parts: tuple[SegmentPart, ...] = field(repr=False)
    by: tuple[str, ...] = ()
    people_in_several: bool = False

    def __post_init__(self) -> None:
        if not self.parts:
            raise InputError("there are no segments to protect")

    @property
    def thresholds(self) -> dict[Unit, float]:
        """Return the thresholds that hold for each segment, and so for all of them together."""
        return self.promise.thresholds

    @property
    def floors(self) -> dict[Covered, int]:
        """Return the floors of places."""
        return self.promise.floors

    def resolve(self, matrix: ODMatrix) -> EverySegment:
        """Return the promise with its open choices settled."""
        return replace(self, promise=self.promise.resolve(matrix))

    def safe(self, groups: Groups) -> Bools:
        """Return, for every group, whether it is safe for every segment."""
        safe = self.promise.safe(groups)
        for part in self.parts:
            if part.row.max() >= groups.matrix.n_flows:
                raise InputError("segments in one release do not go together with slots kept apart (--slot)")
            safe = safe & self.of_people.safe(self.part_of(groups, part))
        return safe

    @property
    def of_people(self) -> Promise:
        """Return what must hold of the people in each segment; places are the same for everybody."""
        parts = tuple(KAnonymity(k=k, unit=unit) for unit, k in self.thresholds.items())
        return parts[0] if len(parts) == 1 else AllOf(promises=parts)

    @staticmethod
    def part_of(groups: Groups, part: SegmentPart) -> Groups:
        """Return the same groups with nobody in them but a segment."""
        return Groups(part.matrix, groups.of_flow[part.row], groups.origin, groups.destination)

    def words(self) -> str:
        """Return the promise in words."""
        return f"{self.promise.words()} in each of {len(self.parts):,} segments"
