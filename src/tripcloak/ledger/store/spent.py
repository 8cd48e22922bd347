"""Who is in which noisy releases at once: what a ledger knows of it, person by person."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from tripcloak.flows.methods.noise.composing import Spending
from tripcloak.ground.arrays import Bools, Ints
from tripcloak.ledger.account import Account, Cap, Spent, read_together
from tripcloak.ledger.disclosure import ABSENT
from tripcloak.ledger.store.chain import Entry
from tripcloak.ledger.store.columns import KnownRecords
from tripcloak.ledger.store.releases import RecordedRelease
from tripcloak.promises import Promise

MOST_SETS = 1000
"""Different sets of releases that people are in, up to which each is looked at."""


class Charge(NamedTuple):
    """What noise costs everybody in an input, of which method it is, and who is hidden by it.

    A unit is a person with everything, or a single trip where nobody knows whose it is.
    """

    method: str
    spending: Spending
    unit: str

    @classmethod
    def of(cls, method: str, promise: Promise) -> Charge:
        """Return what a promise of differential privacy costs, if that is what it hides."""
        unit = promise.noise_facts()["differential_privacy"]["unit"]
        return cls(method, Spending.of(promise), str(unit))


def cap_of(entries: Sequence[Entry]) -> Cap | None:
    """Return the cap that stands: the last one that was set."""
    told = None
    for entry in entries:
        if entry.kind in ("init", "capped"):
            told = entry.content.get("cap")
    return None if told is None else Cap(told["epsilon"], told["delta"])


def account_of(entries: Sequence[Entry], releases: Sequence[RecordedRelease]) -> Account:
    """Return the account of a chain. Noise that was drawn counts, whatever became of the release."""
    drawn = [entry for entry in entries if entry.kind == "spent"]
    of = {one.facts["spent"]: one for one in releases if one.facts.get("spent") is not None}
    spent = tuple(
        Spent(
            entry=entry.sequence,
            time=entry.time,
            method=entry.content["method"],
            spending=spending_of(entry),
            release=of[entry.sequence].number if entry.sequence in of else None,
            name=of[entry.sequence].name if entry.sequence in of else None,
        )
        for entry in drawn
    )
    together = read_together(drawn[-1].content["together"]) if drawn else ()
    return Account(cap_of(entries), spent, together)


def spending_of(entry: Entry) -> Spending:
    """Return what an entry says was spent."""
    told = entry.content["spending"]
    return Spending(told["epsilon"], told["delta"], told["rho"])


@dataclass(frozen=True, eq=False)
class Charges:
    """How often each known person was charged with what.

    A person is who is hidden: somebody with all their records, or a single record where it is nobody's in
    particular.

    Attributes
    ----------
    people : array of uint64
        Their digests, ascending, each once.
    kinds : tuple of Spending
        What was spent, each amount once.
    times : array (people, kinds)
        How often each person was in a release of that cost.

    Examples
    --------
    >>> records = np.array([[1, 2, 3], [7, 7, 8], [1, 1, 1]], dtype=np.uint64)
    >>> known = KnownRecords(*records)
    >>> charges = Charges.of(known, iter([(Spending(1.0), np.array([-1, ABSENT, -1]))]))
    >>> charges.charged(Spending(1.0), charges.those(np.array([7], dtype=np.uint64))).together()
    [(Spending(epsilon=1.0, delta=0.0, rho=None), Spending(epsilon=1.0, delta=0.0, rho=None))]
    """

    people: Ints
    kinds: tuple[Spending, ...]
    times: Ints

    @classmethod
    def of(cls, known: KnownRecords, drawn: Iterator[tuple[Spending, Ints]]) -> Charges:
        """Return the charges of noisy releases.

        Parameters
        ----------
        drawn
            What each cost, and the group of every record that was known then, ABSENT where it was not in it.
        """
        people, whose = np.unique(known.person, return_inverse=True)
        charges = cls(people, (), np.zeros((len(people), 0), dtype=np.int32))
        for spending, column in drawn:
            inside = np.zeros(len(people), dtype=bool)
            inside[whose[: len(column)][column != ABSENT]] = True
            charges = charges.charged(spending, inside)
        return charges

    def those(self, person: Ints) -> Bools:
        """Return which people are among some."""
        found: Bools = np.isin(self.people, person)
        return found

    def charged(self, spending: Spending, inside: Bools) -> Charges:
        """Return the charges after one more release, given who is in it."""
        kinds, times = self.kinds, self.times
        if spending not in kinds:
            kinds = (*kinds, spending)
            times = np.concatenate([times, np.zeros((len(times), 1), dtype=np.int32)], axis=1)
        times = times.copy()
        times[inside, kinds.index(spending)] += 1
        return Charges(self.people, kinds, times)

    def together(self, among: Bools | None = None) -> list[tuple[Spending, ...]]:
        """Return what somebody is in at once, without what others are in besides more.

        Parameters
        ----------
        among
            Which people are looked at; all by default.
        """
        rows = _distinct(self.times if among is None else self.times[among])
        if len(rows) > MOST_SETS:
            # As if somebody were in each kind as often as anybody is: never too little.
            rows = rows.max(axis=0, keepdims=True)
        largest = [row for row in rows if np.count_nonzero((rows >= row).all(axis=1)) == 1]
        return [
            tuple(kind for kind, n in zip(self.kinds, row.tolist(), strict=True) for _ in range(n))
            for row in largest
        ]


def told_together(together: Sequence[Sequence[Spending]]) -> list[list[dict[str, Any]]]:
    """Return what somebody is in at once as an entry of the chain tells it."""
    return [
        [{**kind._asdict(), "times": times} for kind, times in sorted(Counter(one).items(), key=_in_order)]
        for one in together
    ]


def _in_order(item: tuple[Spending, int]) -> tuple[float, float, float]:
    kind, _ = item
    return kind.epsilon, kind.delta, kind.rho or 0.0


def _distinct(rows: Ints) -> Ints:
    """Return the rows of a table, each once.

    >>> _distinct(np.array([[1, 0], [0, 2], [1, 0]])).tolist()
    [[0, 2], [1, 0]]
    """
    code = np.zeros(len(rows), dtype=np.int64)
    for column in rows.T:
        # Codes are made small again after every column, so that no number of columns makes them overflow.
        code = np.unique(code * (int(column.max(initial=0)) + 1) + column, return_inverse=True)[1]
    _, first = np.unique(code, return_index=True)
    return rows[first]
