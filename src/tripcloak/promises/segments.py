"""Segments of the people: every one safe in every group, or told where it is safe."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from tripcloak.ground.arrays import Bools, Ints
from tripcloak.ground.errors import InputError
from tripcloak.promises.promise import (
    FlowGroups,
    Input,
    Promise,
    PromiseOnPromise,
    Unit,
    Volume,
    before_more,
)


class SegmentName(NamedTuple):
    """A segment of which a manifest tells no more than its name."""

    name: str


@dataclass(frozen=True, kw_only=True, eq=False)
class EverySegment(PromiseOnPromise):
    """A promise that must hold for every segment in every group.

    A segment of which nobody is in a group is not safe there either: that nobody of a kind makes a trip
    is told about each of them. So the promise stays monotone, and every released flow tells a safe
    number for every segment.

    Parameters
    ----------
    promise
        What must hold for each segment.
    parts
        The segments: parts of the matrix, or names alone where a manifest is read, which decide nothing.
    by
        What parts people, such as ``sex`` or ``age:10``.
    people_in_several
        Somebody has trips in several segments. Travellers then do not add up over segments, and what
        is too many would tell how few are in two of them: they are not published by segment.

    Examples
    --------
    >>> import numpy as np
    >>> from tripcloak.promises import KAnonymity
    >>> from tripcloak.hierarchy import Hierarchy
    >>> from tripcloak.flows.model import ODMatrix, SegmentPart, group_flows
    >>> tree = Hierarchy.from_parents(["a", "b", "ab"], [2, 2, -1])
    >>> whole = ODMatrix.from_trips(tree, tree, np.array([0, 0, 1, 1]), np.zeros(4, dtype=int))
    >>> half = ODMatrix.from_trips(tree, tree, np.array([0, 1]), np.zeros(2, dtype=int))
    >>> parts = tuple(SegmentPart.of(name, half, whole) for name in ("sex=F", "sex=M"))
    >>> both = EverySegment(promise=KAnonymity(k=2, unit="trips"), parts=parts)
    >>> both.safe(group_flows(whole, np.array([0, 1]), np.array([0, 0]))).tolist()
    [False, False]
    >>> both.safe(group_flows(whole, np.array([2, 2]), np.array([0, 0]))).tolist()
    [True]
    >>> both.sentence()
    "at least 2 trips, which may be one person's, in each of 2 segments"
    """

    kind: ClassVar[str] = "every segment"

    parts: tuple[Any, ...] = field(repr=False)
    by: tuple[str, ...] = ()
    people_in_several: bool = False

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.promise!r}, by={self.by!r}, {len(self.parts):,} segments)"

    def __post_init__(self) -> None:
        if not self.parts:
            raise InputError("there are no segments to protect")

    @property
    def of_people(self) -> EverySegment:
        """Return the same of people alone."""
        return replace(self, promise=self.promise.of_people)

    @property
    def of_everybody(self) -> Promise:
        """Return the promise, segments aside."""
        return self.promise

    @property
    def segments(self) -> tuple[Any, ...]:
        """Return the segments."""
        return self.parts

    @property
    def segmented_by(self) -> tuple[str, ...]:
        """Return what parts people."""
        return self.by

    @property
    def family(self) -> str:
        """Return that of the promise."""
        return self.promise.family

    def resolve(self, matrix: Input) -> EverySegment:
        """Return the promise with its open choices settled."""
        return replace(self, promise=self.promise.resolve(matrix))

    def safe(self, groups: FlowGroups) -> Bools:
        """Return, for every group, whether it is safe for every segment."""
        safe = self.promise.safe(groups)
        for part in self.parts:
            safe = safe & self.promise.of_people.safe(groups.of_segment(part))
        return safe

    def published_by_segment(self, volume: Volume) -> tuple[Unit, ...]:
        """Return the numbers told by segment: no travellers where some are in several; sums would tell."""
        units = self.published(volume)
        return tuple(unit for unit in units if unit != "travellers" or not self.people_in_several)

    def to_manifest(self) -> dict[str, Any]:
        """Return plain values for JSON, with the segments by name."""
        return {
            "kind": self.kind,
            "by": list(self.by),
            "names": [part.name for part in self.parts],
            "promise": self.promise.to_manifest(),
        }

    @classmethod
    def _read(cls, told: dict[str, Any]) -> Self:
        by, names, inner = (told.pop(name) for name in ("by", "names", "promise"))
        if not all(
            isinstance(one, list) and all(isinstance(name, str) for name in one) for one in (by, names)
        ):
            raise ValueError("segments are named one by one")
        parts = tuple(SegmentName(name) for name in names)
        return cls(promise=Promise.from_manifest(inner), parts=parts, by=tuple(by), **told)

    def further(self) -> tuple[str, ...]:
        """Return what else the promise says, and that it holds for segments."""
        return (*self.promise.further(), "the same holds for every one of the segments on its own")

    def limits(self) -> tuple[str, ...]:
        """Return what the promise does not cover, and which segments are not."""
        return (
            *self.promise.limits(),
            "It is promised of these segments; people may be parted in other ways, of which nothing is said.",
        )

    def sentence(self) -> str:
        """Return the promise in words."""
        return f"{before_more(self.promise.sentence())} in each of {len(self.parts):,} segments"


@dataclass(frozen=True, kw_only=True, eq=False)
class SegmentsWhereSafe(EverySegment):
    """A promise that must hold in every group, and for every segment that is told of it.

    Zones are those that suit everybody. Of a group those segments are told that are safe in it. The others
    are told in its total alone, together with the smallest that is safe: so what is left when all that is
    told is subtracted holds enough people, and is never one segment's.

    Examples
    --------
    Of three segments of 4, 3 and 1 people the last is too small; with the second it is not:

    >>> import numpy as np
    >>> from tripcloak.promises import KAnonymity
    >>> names = tuple(map(SegmentName, "abc"))
    >>> promise = SegmentsWhereSafe(promise=KAnonymity(k=3, unit="trips"), parts=names)
    >>> trips = [np.array([n]) for n in (4, 3, 1)]
    >>> [told.tolist() for told in promise.tells([n >= 3 for n in trips], trips)]
    [[True], [False], [False]]
    >>> promise.sentence()
    "at least 3 trips, which may be one person's, and in each of 3 segments where it is told"
    """

    kind: ClassVar[str] = "segments where safe"

    def safe(self, groups: FlowGroups) -> Bools:
        """Return, for every group, whether it is safe for everybody together."""
        return self.promise.safe(groups)

    def tells(self, safe: Sequence[Bools], trips: Sequence[Ints]) -> list[Bools]:
        """Return, for every segment, the groups that its number is told of."""
        alone = np.array(safe)
        company = np.where(alone, np.array(trips), np.iinfo(np.int64).max).argmin(axis=0)
        hidden = ~alone
        some = ~alone.all(axis=0)
        hidden[company[some], np.flatnonzero(some)] = True
        return list(~hidden)

    def further(self) -> tuple[str, ...]:
        """Return what else the promise says, and what is told of segments."""
        return (
            *self.promise.further(),
            "the same holds for every segment that is told of a flow, and for those that are not, together",
        )

    def sentence(self) -> str:
        """Return the promise in words."""
        told = before_more(self.promise.sentence())
        return f"{told} and in each of {len(self.parts):,} segments where it is told"
