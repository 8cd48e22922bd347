"""k^m-anonymity: enough people whichever m items of a trip somebody knows, its other items aside."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from tripcloak.ground.arrays import Bools
from tripcloak.ground.errors import InputError
from tripcloak.promises.promise import Covered, FlowGroups, Input, Promise, Unit


@dataclass(frozen=True, kw_only=True)
class KMAnonymity:
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

    promise: Promise
    m: int

    def __post_init__(self) -> None:
        if not 1 <= self.m <= 3 or self.m != int(self.m):
            raise InputError(
                f"m counts the items of a trip that somebody may know, from 1 to 3; got {self.m:g}"
            )

    @property
    def thresholds(self) -> dict[Unit, float]:
        """Return the smallest support of what shares m items; a single group may have less."""
        return self.promise.thresholds

    @property
    def floors(self) -> dict[Covered, int]:
        """Return how much a released zone covers at least."""
        return self.promise.floors

    def resolve(self, matrix: Input) -> KMAnonymity:
        """Return the same with the promise's open choices settled."""
        return replace(self, promise=self.promise.resolve(matrix))

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

    def words(self) -> str:
        """Return the promise in words."""
        items = "any one item" if self.m == 1 else f"any {self.m} items"
        return f"{self.promise.words()} for whoever knows {items} of a trip; a single flow may hold fewer"
