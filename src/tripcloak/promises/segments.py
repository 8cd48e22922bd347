"""Every segment at once: a group is safe when it is safe for each segment of the people in it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from tripcloak.ground.arrays import Bools
from tripcloak.ground.errors import InputError
from tripcloak.promises.allof import AllOf
from tripcloak.promises.kanonymity import KAnonymity
from tripcloak.promises.promise import Covered, FlowGroups, Input, Promise, Unit


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
    >>> from tripcloak.flows.model import ODMatrix, SegmentPart, group_flows
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
    parts: tuple[Any, ...] = field(repr=False)
    by: tuple[str, ...] = ()
    people_in_several: bool = False

    def __repr__(self) -> str:
        return f"EverySegment({self.promise!r}, by={self.by!r}, {len(self.parts):,} segments)"

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

    def resolve(self, matrix: Input) -> EverySegment:
        """Return the promise with its open choices settled."""
        return replace(self, promise=self.promise.resolve(matrix))

    def safe(self, groups: FlowGroups) -> Bools:
        """Return, for every group, whether it is safe for every segment."""
        safe = self.promise.safe(groups)
        for part in self.parts:
            safe = safe & self.of_people.safe(groups.of_segment(part))
        return safe

    @property
    def of_people(self) -> Promise:
        """Return what must hold of the people in each segment; places are the same for everybody."""
        parts = tuple(KAnonymity(k=k, unit=unit) for unit, k in self.thresholds.items())
        return parts[0] if len(parts) == 1 else AllOf(promises=parts)

    def words(self) -> str:
        """Return the promise in words."""
        return f"{self.promise.words()} in each of {len(self.parts):,} segments"
