"""The apriori anonymisation: itemsets of growing size are made safe, the cheapest first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, NamedTuple

import numpy as np

from tripcloak.algorithms.base import Algorithm, Progress, Solution, silent
from tripcloak.algorithms.budget import budget_of, whole_units
from tripcloak.algorithms.km_apriori.itemsets import Items
from tripcloak.algorithms.losses import Loss, LossName, SlotLoss, find_loss
from tripcloak.arrays import Ints
from tripcloak.criteria import Criterion, EverySegment, KMAnonymity
from tripcloak.errors import InputError
from tripcloak.matrix import ODMatrix
from tripcloak.release import Release, main_volume


@dataclass(frozen=True, kw_only=True)
class KMApriori(Algorithm):
    """k^m-anonymity of origin, destination and time, after section 2.5.2 of the ODkAnon thesis.

    Somebody may know up to m items of a trip. For i = 1 to m all itemsets of i items are looked at: what
    is shared by too few is generalised, for good and for all trips, by the cheapest of its lowest safe
    generalisations, the cheapest itemset first, until what is still unsafe fits into the limit. That
    rest is withheld at the end. With a limit of 0 everything is generalised, as in the source.

    Parameters
    ----------
    m
        Items of a trip that somebody may know; all of them by default, which is k-anonymity of flows.
        With fewer a released flow may hold fewer than k, and the release says so.
    loss
        What a generalisation costs: ``tiles`` (the papers' G), ``area`` in km2, or ``metres``.
    time_weight
        Loss of one slot of released time, in the unit of ``loss``.

    Examples
    --------
    >>> from tripcloak.criteria import KAnonymity
    >>> from tripcloak.hierarchy import Hierarchy
    >>> tree = Hierarchy.from_parents(["a", "b", "c", "d", "ab", "cd", "all"], [4, 4, 5, 5, 6, 6, -1])
    >>> matrix = ODMatrix.from_trips(tree, tree, np.array([0, 1, 2, 2]), np.array([2, 2, 0, 1]))
    >>> asked = {"criterion": KAnonymity(k=2), "suppression_limit": 0}
    >>> release = KMApriori(**asked).anonymise(matrix)
    >>> tree.zones.ids[release.group_origin].tolist(), tree.zones.ids[release.group_destination].tolist()
    (['c', 'ab'], ['ab', 'c'])
    >>> KMApriori(m=1, **asked).anonymise(matrix).criterion.words()
    'at least 2 trips for whoever knows any one item of a trip; a single flow may hold fewer'
    """

    name: ClassVar[str] = "km-apriori"
    summary: ClassVar[str] = (
        "k^m-anonymity: generalises rare origins, destinations and times, then rare combinations of them"
    )
    source: ClassVar[str] = "ODkAnon thesis, section 2.5.2"
    handles_time: ClassVar[bool] = True

    m: int | None = None
    loss: LossName = "tiles"
    time_weight: float = field(default=1.0, metadata={"axis": "time"})

    def __post_init__(self) -> None:
        super().__post_init__()
        find_loss(self.loss)
        if self.m is not None:
            KMAnonymity(criterion=self.criterion, m=self.m)
        if not 0 <= self.time_weight < np.inf:
            raise InputError(f"the weight of a slot of time must be 0 or more; got {self.time_weight:g}")

    def anonymise(self, matrix: ODMatrix, progress: Progress = silent) -> Release:
        """Return a release whose criterion is k^m-anonymity where m is less than all items."""
        self.refuse(matrix)
        if self.m is None or self.m == len(matrix.axes):
            return super().anonymise(matrix, progress)
        held_to = replace(self, criterion=KMAnonymity(criterion=self.criterion, m=self.m))
        return super(KMApriori, held_to).anonymise(matrix, progress)

    def refuse(self, matrix: ODMatrix) -> None:
        """Raise if there are fewer than m items, or something is asked for that fewer items cannot keep."""
        super().refuse(matrix)
        items = len(matrix.axes)
        if self.m is not None and self.m > items:
            raise InputError(
                f"m is {self.m}, but a trip has {items} items here, its origin and its destination; "
                "time is a third one with --time-slot"
            )
        weaker = self.m is not None and self.m < items
        if weaker and (self.closeness is not None or isinstance(self.criterion, EverySegment)):
            raise InputError(
                "with m below the number of items a flow may hold few people, so neither t-closeness "
                "nor segments in one release can be had; leave out --m, or --t and the segments"
            )

    def solve(self, matrix: ODMatrix, criterion: Criterion, progress: Progress) -> Solution:
        """Return one cut per axis, and what is still unsafe withheld."""
        held, m = criterion, len(matrix.axes)
        if isinstance(criterion, KMAnonymity):
            held, m = criterion.criterion, criterion.m
        elif self.m not in (None, m):
            raise InputError("k^m-anonymity cannot be had slot by slot; leave out --m, or use --time-slot")
        units = whole_units(matrix.volume(main_volume(held)))
        budget = budget_of(units, self.suppression_limit)
        losses: list[Loss] = [find_loss(self.loss), find_loss(self.loss), SlotLoss(self.time_weight)]
        items = Items(matrix, held, losses, units)
        cuts = items.start()
        for size in range(1, m + 1):
            progress("making itemsets safe", size - 1, m)
            cuts = _Pass(items, size, budget, last=size == m).run(cuts)
        progress("making itemsets safe", m, m)
        zones, released = items.zones(cuts), items.released(m, cuts)
        assert released is not None
        return Solution(
            origin_zone=zones[0],
            destination_zone=zones[1],
            suppressed=~released,
            homogeneous=True,
            time_zone=zones[2] if len(zones) > 2 else None,
        )


class _Pass(NamedTuple):
    """All itemsets of one size."""

    items: Items
    size: int
    budget: float
    last: bool

    def run(self, cuts: Sequence[Ints]) -> list[Ints]:
        """Return cuts at which what is unsafe fits into the budget, as little above these as it takes."""
        from tripcloak.algorithms.km_apriori._kernels import NEVER, cheapest_fixes, generalise_in_order

        items = self.items
        if self._fits(cuts):
            return list(cuts)
        unsafe = items.unsafe(self.size, cuts)
        when, lost = np.full(len(items.parent), NEVER), items.lost(cuts)
        when[items.chosen(cuts)] = 0
        facts = items.parent, items.code, items.safe(self.size), items.whole
        cost = cheapest_fixes(unsafe, *facts, lost)
        order = np.lexsort((*unsafe.T[::-1], cost))
        steps = generalise_in_order(unsafe[order], *facts, lost, when)
        low, high = 1, steps
        # Invariant: what is unsafe after `high` steps fits; before `low` it does not.
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if self._fits(self._after(when, middle)) else (middle + 1, high)
        return self._after(when, high)

    def _after(self, when: Ints, step: int) -> list[Ints]:
        """Return the cuts after this many generalisations."""
        return [
            tree.highest(reached)
            for tree, reached in zip(self.items.trees, self.items.split(when <= step), strict=True)
        ]

    def _fits(self, cuts: Sequence[Ints]) -> bool:
        """Return whether what is unsafe may be withheld; only the last pass asks what that leaves unsafe."""
        return self.items.released(self.size, cuts, self.budget, at_once=not self.last) is not None
