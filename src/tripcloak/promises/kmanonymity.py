"""k^m-anonymity: enough people whichever m items of a trip somebody knows, its other items aside."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, ClassVar, Self

import numpy as np

from tripcloak.ground.arrays import Bools
from tripcloak.ground.errors import InputError
from tripcloak.promises.promise import (
    FlowGroups,
    Input,
    Passages,
    Promise,
    PromiseOnPromise,
    Unit,
    Volume,
    before_more,
)

ITEMS = ("origin", "destination", "time")


@dataclass(frozen=True, kw_only=True)
class KMAnonymity(PromiseOnPromise):
    """A promise that holds for every choice of ``m`` items: origin, destination and, if any, time.

    A weaker promise than the promise itself. Released flows with the same m items are safe together,
    so somebody who knows no more than m items of a trip finds no fewer people than asked for. A single
    released flow may hold fewer, down to one person, and somebody who knows all its items finds them.

    Whether a group is safe depends on the groups beside it: more of them never make it less safe, and
    neither do coarser zones.

    Parameters
    ----------
    promise
        What must hold for the flows that share m items.
    m
        How many items of a trip somebody may know. With all of them it is the promise itself.
    of
        The items of a trip; time is one where the input has slots.

    Examples
    --------
    >>> from tripcloak.promises import KAnonymity
    >>> from tripcloak.hierarchy import Hierarchy
    >>> from tripcloak.flows.model import ODMatrix, group_flows
    >>> tree = Hierarchy.from_parents(["a", "b", "all"], [2, 2, -1])
    >>> matrix = ODMatrix.from_trips(tree, tree, np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]))
    >>> groups = group_flows(matrix, matrix.flows.origin, matrix.flows.destination)
    >>> either = KMAnonymity(promise=KAnonymity(k=2, unit="trips"), m=1)
    >>> either.safe(groups).tolist(), either.promise.safe(groups).tolist()
    ([True, True, True, True], [False, False, False, False])
    """

    kind: ClassVar[str] = "k^m-anonymity"
    brief: ClassVar[str] = "k^m"
    meaning: ClassVar[str] = (
        "Whoever knows up to m facts of a trip (origin, destination, time) still finds at least "
        "k trips that fit. Knowing more than m facts may single one out."
    )
    of_every_group: ClassVar[bool] = False
    tells_withheld: ClassVar[bool] = False

    m: int
    of: tuple[str, ...] = ITEMS[:2]

    def __post_init__(self) -> None:
        if not 1 <= self.m <= 3 or self.m != int(self.m):
            raise InputError(
                f"m counts the items of a trip that somebody may know, from 1 to 3; got {self.m:g}"
            )
        if self.of not in (ITEMS[:2], ITEMS):
            raise InputError(f"a trip has the items {', '.join(ITEMS[:2])} and, if any, {ITEMS[2]}")

    @property
    def segments(self) -> tuple[Any, ...]:
        """Return the promise's segments."""
        return self.promise.segments

    def of_items(self, items: int) -> tuple[Promise, int]:
        """Return what must hold of flows that share m items, and m."""
        return self.promise, self.m

    def resolve(self, matrix: Input) -> Promise:
        """Return the same with its open choices settled; the promise itself where m is all items."""
        items, promise = ITEMS[: len(matrix.axes)], self.promise.resolve(matrix)
        return promise if self.m >= len(items) else replace(self, promise=promise, of=items)

    def safe(self, groups: FlowGroups) -> Bools:
        """Return, for every group, whether all that shares any m of its items is safe together."""
        axes = 2 if groups.time is None else 3
        if self.m >= axes:
            return self.promise.safe(groups)
        safe = np.ones(len(groups), dtype=bool)
        for known in combinations(range(axes), self.m):
            shared, place = groups.sharing(known)
            safe &= self.promise.safe(shared)[place]
        return safe

    def published(self, volume: Volume) -> tuple[Unit, ...]:
        """Return the volume, which is the table itself: a flow may be small, so nothing else is told."""
        return (volume,)

    def to_manifest(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {"kind": self.kind, "m": self.m, "of": list(self.of), "promise": self.promise.to_manifest()}

    @classmethod
    def _read(cls, told: dict[str, Any]) -> Self:
        inner, of = told.pop("promise"), told.pop("of")
        return cls(promise=Promise.from_manifest(inner), of=tuple(of), **told)

    def headline(self) -> tuple[str, str]:
        """Return the heading and the value that a map's facts begin with."""
        items = "item" if self.m == 1 else "items"
        return f"All flows that share {self.m} known {items} hold at least", self._least()

    def further(self) -> tuple[str, ...]:
        """Return what else the promise says, and whom the thresholds protect against, and whom not."""
        return (
            *self.promise.further(),
            f"the threshold holds for readers who know at most {self.m} of the {self._items} of a trip; a "
            "single flow may hold fewer, down to one person, and whoever knows all about a trip may find it",
        )

    def in_full(self) -> Passages:
        """Return what is promised to readers who know some items of a trip only, and what is not."""
        least = self._least(" and ")
        shared = f"{('one', 'two')[self.m - 1]} of {self._items}"
        return Passages(
            f"""\
**All released flows together that share {shared} hold at least {least}.**
A single flow may hold fewer, down to one person. Places were made coarser until that was true, and
a share of the trips was withheld, within the stated limit, so that the others can stay finer.
""",
            f"""\
A reader who knows no more than {shared} of somebody's trip finds at least {least}
who fit. """,
            (
                """\
Nothing is promised against a reader who knows more: that reader may find the one trip, and
learn the rest of it. """,
                """\
The promise is about this release alone: it does not cover comparing it with
another release of the same people, and it does not hide that something is true of everybody.
""",
            ),
        )

    @property
    def _items(self) -> str:
        return f"{', '.join(self.of[:-1])} and {self.of[-1]}"

    def sentence(self) -> str:
        """Return the promise in words."""
        items = "any one item" if self.m == 1 else f"any {self.m} items"
        least = before_more(self.promise.sentence())
        return f"{least} for whoever knows {items} of a trip; a single flow may hold fewer"
