"""Prevention: the best release that adds no fact to what earlier releases tell."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from tripcloak.flows.methods import FlowMethod
from tripcloak.flows.model import KeyedRecords, ODMatrix
from tripcloak.flows.release import Release, build_release
from tripcloak.ground.arrays import Bools, Ints
from tripcloak.ground.errors import ImpossibleRequestError
from tripcloak.ground.masking import mask_small
from tripcloak.ground.progress import Progress, silent
from tripcloak.ground.spelling import spelt
from tripcloak.ledger.attack import attack
from tripcloak.ledger.disclosure import Disclosure
from tripcloak.ledger.facts import Facts
from tripcloak.ledger.remainders import EarlierGroups, Remainders
from tripcloak.promises import Promise
from tripcloak.promises.allof import all_of

SHARES = (1.0, 0.8, 0.5, 0.2)
"""Shares of the limit that a method may use, so that the rest is left for what has to be withheld besides."""

ROUNDS = 40
"""How often an answer is attacked and mended before a method starts anew with less of the limit."""

Disclosing = Callable[[Release], tuple[Disclosure, ...]]
"""Gives what a release would tell."""


class Cost(NamedTuple):
    """What it took to add no fact: trips withheld for it, and how often the answer was attacked."""

    withheld: int
    attacks: int

    def note(self, earlier: int) -> str:
        """Return what to know of it.

        >>> Cost(0, 1).note(1)
        'with 1 release of the ledger, nothing about few people follows from this one'
        """
        releases = "1 release" if earlier == 1 else f"{earlier:,} releases"
        more = f"; {mask_small(self.withheld, 'trips')} more are withheld for it" if self.withheld else ""
        return f"with {releases} of the ledger, nothing about few people follows from this one{more}"


@dataclass(frozen=True, eq=False)
class Prevention:
    """Makes releases that add no fact to earlier ones.

    A product of zones may be released only if what remains of it against every earlier release is nothing,
    or of k people: that goes into the method, which stays as good as it is. Its answer is attacked; of every
    fact that is left, one new flow is withheld, the smallest first, until the attack finds nothing.

    Attributes
    ----------
    earlier : sequence of Disclosure
        What is published already.
    records : KeyedRecords
        The records of the new input.
    disclosing
        Gives what a release would tell.
    """

    earlier: Sequence[Disclosure]
    records: KeyedRecords
    disclosing: Disclosing

    def anonymise(
        self, method: FlowMethod, matrix: ODMatrix, progress: Progress = silent
    ) -> tuple[Release, Cost]:
        """Return the release, and what it took; an error where nothing is left to release."""
        promise = method.promise.resolve(matrix)
        ruled = self._ruled(method, matrix, promise)
        least = 1.0
        for share in SHARES:
            with suppress(ImpossibleRequestError):
                limited = replace(ruled, suppression_limit=share * method.suppression_limit)
                answer = limited.anonymise(matrix, progress)
                mended = self._mended(matrix, answer, progress)
                if mended is None:
                    continue
                suppressed, attacks = mended
                volume = matrix.volume(answer.volume)
                least = min(least, float(volume[suppressed].sum() / volume.sum()))
                if volume[suppressed].sum() <= method.suppression_limit * volume.sum():
                    withheld = int(matrix.flows.trips[suppressed & ~answer.suppressed].sum())
                    return self._built(method, matrix, promise, answer, suppressed), Cost(withheld, attacks)
        raise ImpossibleRequestError(self._impossible(least))

    def _ruled(self, method: FlowMethod, matrix: ODMatrix, promise: Promise) -> FlowMethod:
        """Return the method with the rule on what remains, where it can look at it."""
        if promise.segments or promise.by_release:
            return method
        people = any(one.counted == "travellers" for one in self.earlier)
        known = EarlierGroups.of(self.records, matrix.n_flows, self.earlier, people=people)
        k = min(one.k for one in self.earlier) if promise.k is None else self._k(promise.k)
        return replace(method, promise=all_of([promise, Remainders(least=k, earlier=known)]))

    def _k(self, own: float) -> int:
        return min(math.ceil(own), *(one.k for one in self.earlier))

    def _mended(self, matrix: ODMatrix, answer: Release, progress: Progress) -> tuple[Bools, int] | None:
        """Return the flows to withhold so that the attack finds nothing; None where nothing would be left."""
        suppressed = answer.suppressed.copy()
        for number in range(ROUNDS):
            left = replace(answer, group_of_flow=np.where(suppressed, -1, answer.group_of_flow))
            facts = attack([*self.earlier, *self.disclosing(left)], progress=progress)
            if not len(facts):
                return suppressed, number + 1
            barred = _smallest(facts, len(self.earlier), answer)
            more = np.isin(answer.group_of_flow, barred) & ~suppressed
            if not more.any():
                # They follow from the earlier releases alone; no new one can take them back.
                return suppressed, number + 1
            suppressed |= more
            if suppressed.all():
                return None
        return None

    def _built(
        self, method: FlowMethod, matrix: ODMatrix, promise: Promise, answer: Release, suppressed: Bools
    ) -> Release:
        group = np.maximum(answer.group_of_flow, 0)
        drawn = method.draws_zones
        return build_release(
            matrix,
            method=answer.method,
            parameters=method.parameters(matrix),
            promise=promise,
            suppression_limit=method.suppression_limit,
            origin_zone=answer.group_origin[group],
            destination_zone=answer.group_destination[group],
            time_zone=None if answer.group_time is None else answer.group_time[group],
            suppressed=suppressed,
            homogeneous=answer.homogeneous,
            bound=answer.bound if np.array_equal(suppressed, answer.suppressed) else None,
            zones=(answer.origins, answer.destinations) if drawn else None,
            seed=answer.seed,
            seconds=answer.seconds,
        )

    def _impossible(self, least: float) -> str:
        percent = math.ceil(100 * least)
        way = f"Withholding {percent} % would do ({spelt('suppress')}); or keep" if percent < 100 else "Keep"
        return (
            "not possible: with the releases that the ledger knows, no release within the limit leaves "
            f"nothing about few people to be told by subtraction. {way} the zones of an earlier release "
            f"({spelt('zones_from', 'DIR')}), or wait until enough people were added or erased"
        )


def _smallest(facts: Facts, first_new: int, answer: Release) -> Ints:
    """Return new groups without which no fact stands: of each the one that most need, then the smallest."""
    needed: Counter[int] = Counter()
    for fact in facts.found:
        needed.update({term.group for term in fact.terms if term.release >= first_new})
    chosen: set[int] = set()
    for fact in facts.found:
        new = sorted({term.group for term in fact.terms if term.release >= first_new})
        if new and not chosen & set(new):
            chosen.add(min(new, key=lambda group: (-needed[group], int(answer.trips[group]), group)))
    return np.array(sorted(chosen), dtype=np.int64)


def refuse_new_facts(earlier: Sequence[Disclosure], new: Sequence[Disclosure]) -> None:
    """Raise where a new release would tell, with earlier ones, what those do not tell by themselves."""
    if not earlier or not new:
        return
    facts = attack([*earlier, *new])
    added = [fact for fact in facts.found if fact.releases[-1] >= len(earlier)]
    if added:
        raise ImpossibleRequestError(
            f"not possible: together with what the ledger knows, this release would tell {len(added):,} "
            f"facts about fewer than {facts.k:,} people each. Another release was added meanwhile: run the "
            "same again, and one will be looked for that adds none"
        )
