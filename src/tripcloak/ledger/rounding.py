"""Rounding in place of coarser zones: numbers so rough that subtracting them proves nothing of few people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from tripcloak.flows.methods import FlowMethod
from tripcloak.flows.model import KeyedRecords, ODMatrix
from tripcloak.flows.release import Release
from tripcloak.flows.release.rounding import RoundTo, rounded_release
from tripcloak.ground.arrays import Bools, Ints
from tripcloak.ground.progress import Progress
from tripcloak.ledger.disclosure import WITHHELD, Disclosure
from tripcloak.ledger.prevention import ROUNDS, Prevention, number_added, smallest
from tripcloak.promises import Promise


@dataclass(frozen=True, eq=False)
class RoundingPrevention(Prevention):
    """Makes releases of rounded numbers that add no fact to earlier ones.

    The zones are those that the method finds by itself. What a set of records was told as before, it is told
    as again. Where facts follow all the same, flows are withheld until none does.

    Attributes
    ----------
    secret : str
        What decides which way numbers go.
    base : int, optional
        What they are multiples of; the least that will do, if not given.
    """

    secret: str = field(default="", repr=False)
    base: int | None = None

    def _ruled(self, method: FlowMethod, promise: Promise, matrix: ODMatrix) -> FlowMethod:
        return method

    def _mended(self, matrix: ODMatrix, answer: Release, progress: Progress) -> tuple[Bools, int] | None:
        """Return the flows to withhold so that the attack finds nothing; None where nothing would be left."""
        suppressed = answer.suppressed.copy()
        for number in range(ROUNDS):
            draft = self._rounded(_without(answer, suppressed))
            new = self.disclosing(draft)
            facts = self.attacks.on(new, progress)
            if not facts.complete:
                return None
            barred = smallest(facts, len(self.earlier), new, draft)
            if not len(barred):
                return None if number_added(facts, self.earlier) else (suppressed, number + 1)
            suppressed |= np.isin(draft.group_of_flow, barred)
            if suppressed.all():
                return None
        return None

    def _built(
        self, method: FlowMethod, matrix: ODMatrix, promise: Promise, answer: Release, suppressed: Bools
    ) -> Release:
        return self._rounded(super()._built(method, matrix, promise, answer, suppressed))

    def _rounded(self, exact: Release) -> Release:
        base = least_base(exact.promise, self.earlier) if self.base is None else self.base
        kept = told_before(self.earlier, self.records, exact, base)
        return rounded_release(exact, RoundTo(base, self.secret), kept)


def _without(answer: Release, suppressed: Bools) -> Release:
    """Return an answer without some of its groups, whatever the limit."""
    left = np.unique(answer.group_of_flow[~suppressed])
    place = np.full(answer.n_groups + 1, WITHHELD, dtype=np.int32)
    place[left] = np.arange(len(left))
    columns = ("group_origin", "group_destination", "group_time", "trips", "travellers", "population")
    told = {name: column[left] for name in columns if (column := getattr(answer, name)) is not None}
    return replace(answer, group_of_flow=np.where(suppressed, WITHHELD, place[answer.group_of_flow]), **told)


def least_base(promise: Promise, earlier: Sequence[Disclosure]) -> int:
    """Return the least base with which no difference of two numbers proves anything of few people.

    A rounded number leaves at least as many true ones possible as the base, one next to the other: those from
    it to its next multiple, as it is no less than k. A difference to any exact number leaves as many; where
    they are k or more, one is zero or less, or k or more. The base divides the k of the release itself.

    Examples
    --------
    >>> from tripcloak.promises import KAnonymity
    >>> least_base(KAnonymity(k=10, unit="trips"), ())
    10
    """
    own = max(int(k) for unit, k in promise.thresholds.items() if unit != "population")
    k = min(own, *(one.k for one in earlier)) if earlier else own
    return next(base for base in range(k, own + 1) if own % base == 0)


def told_before(
    earlier: Sequence[Disclosure], records: KeyedRecords, release: Release, base: int
) -> Ints | None:
    """Return what every group was told as before, -1 where it was not; None where none was.

    A group is the same where it holds the very same records: were it told as another multiple now, both
    together would narrow down what it can be.
    """
    known: dict[tuple[int, int], int] = {}
    for one in earlier:
        if one.rounded is not None and one.rounded.base == base and one.total_of is None:
            rows = one.rows()
            marks = _marks(rows.record, rows.group, one.n_groups)
            known |= dict(zip(marks, one.trips.tolist(), strict=True))
    if not known:
        return None
    group = release.group_of_flow[records.flow]
    numbers = [known.get(mark, -1) for mark in _marks(records.record, group, release.n_groups)]
    kept = np.array(numbers, dtype=np.int64)
    return kept if np.any(kept >= 0) else None


def _marks(record: Ints, group: Ints, n: int) -> list[tuple[int, int]]:
    """Return a mark of every group's records: how many there are, and the sum of their keyed digests."""
    inside = group >= 0
    order = np.argsort(group[inside], kind="stable")
    number = np.bincount(group[inside], minlength=n)
    # Sums of 64 bits, which run over as they may: digests are as good as random.
    running = np.append(np.uint64(0), np.cumsum(record[inside][order], dtype=np.uint64))
    last = np.cumsum(number)
    total = running[last] - running[last - number]
    return list(zip(number.tolist(), total.tolist(), strict=True))
