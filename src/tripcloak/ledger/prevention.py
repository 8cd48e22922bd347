"""Prevention: the best release that adds no fact to what earlier releases tell."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from tripcloak.flows.methods import FlowMethod
from tripcloak.flows.methods.fixed_zones import FixedZones
from tripcloak.flows.methods.kept_products import keeping_products
from tripcloak.flows.methods.method import Settled
from tripcloak.flows.model import KeyedRecords, ODMatrix
from tripcloak.flows.model.kept import AXES, KeptZones
from tripcloak.flows.release import Release, build_release
from tripcloak.ground.arrays import Bools, Ints
from tripcloak.ground.errors import ImpossibleRequestError
from tripcloak.ground.masking import mask_small
from tripcloak.ground.progress import Progress, silent
from tripcloak.ground.spelling import spelt
from tripcloak.hierarchy import Hierarchy
from tripcloak.ledger.attack import attack
from tripcloak.ledger.attacked import Attacks
from tripcloak.ledger.disclosure import WITHHELD, Disclosure
from tripcloak.ledger.facts import Fact, Facts
from tripcloak.ledger.limits import facts_of_limits
from tripcloak.ledger.remainders import EarlierGroups, Remainders
from tripcloak.ledger.waiting import are_alike, share_in_common
from tripcloak.promises import Promise
from tripcloak.promises.allof import all_of

TRIES = 4
"""How often a method is asked, each time with less of the limit, so that the rest is left for mending."""

LESS = 0.8
"""The share of what it was allowed before that a method is allowed at most when it is asked again."""

ROOM_TO_MEND = 0.98
"""The share of the limit that a method is allowed first: mending takes some, and asking again takes long."""

AMPLE = 1.5
"""How much more is left for mending than mending took."""

NEARLY_ALL = 0.999
"""What zones that are kept may withhold; whether it is within the limit is seen afterwards."""

STANDING = (0.01, 0.02, 0.05)
"""By how much a limit may be passed for flows whose old number stands; in steps, which tell little."""

NEARLY_THE_SAME, NOT_FAR = 0.999, 0.99
"""Shares of records in common with an earlier release, and with the first one that has its zones, from which
on those zones are kept without looking for others."""

SPENT = 0.9
"""The share of the limit that kept zones spend at least, if they were found for such a limit."""

THEN = 3
"""Earlier releases whose zones are tried."""

UNPUBLISHED = "0" * 64
"""Stands for the digest of zones that no manifest names."""

WORTHWHILE = 0.001
"""By which share a road must begin finer than what was found to be gone as well: two attacks take long."""

ROUNDS = 40
"""How often an answer is attacked and mended before a method starts anew with less of the limit."""

Disclosing = Callable[[Release], tuple[Disclosure, ...]]
"""Gives what a release would tell."""


class Cost(NamedTuple):
    """What it took to add no fact: trips withheld for it, attacks, and what keeping earlier zones does.

    ``limit`` is the one that is stated, where it is more than was asked for because old numbers stand.
    """

    withheld: int
    attacks: int
    kept: bool = False
    finer_with: float | None = None
    limit: float | None = None

    def note(self, earlier: int) -> str:
        """Return what to know of it.

        >>> Cost(0, 1).note(1)
        'with 1 release of the ledger, nothing about few people follows from this one'
        """
        releases = "1 release" if earlier == 1 else f"{earlier:,} releases"
        more = f"; {mask_small(self.withheld, 'trips')} more are withheld for it" if self.withheld else ""
        zones = "; its zones are those of an earlier one of much the same records" if self.kept else ""
        words = f"with {releases} of the ledger, nothing about few people follows from this one{more}{zones}"
        if self.limit is not None:
            words += (
                "; flows that few people left or joined are not told anew, and their numbers in that one "
                f"stand: keep it published. With them {100 * self.limit:g} % may be withheld"
            )
        if self.finer_with is None:
            return words
        limit = f"{math.ceil(1000 * self.finer_with) / 10:g}%"
        return f"{words}. It would be finer in the zones of before, which takes {spelt('suppress', limit)}"


@dataclass(frozen=True, eq=False)
class Prevention:
    """Makes releases that add no fact to earlier ones.

    A product of zones may be released only if what remains of it against every earlier release is nothing,
    or of k people: that goes into the method, which stays as good as it is. Its answer is attacked; of every
    fact that is left, one new flow is withheld, the smallest first, until the attack finds nothing.

    Attributes
    ----------
    attacks : Attacks
        Attacks beside what is published already.
    records : KeyedRecords
        The records of the new input.
    disclosing
        Gives what a release would tell.
    coarsens : bool
        Whether the method looks for zones under the rule on what remains; otherwise it finds its own, and all
        that follows is withheld.
    asked : mapping, optional
        How the release is to be made, as the ledger notes it of earlier ones.
    """

    attacks: Attacks
    records: KeyedRecords
    disclosing: Disclosing
    coarsens: bool = True
    asked: Mapping[str, Any] | None = None

    @property
    def earlier(self) -> Sequence[Disclosure]:
        """Return what is published already."""
        return self.attacks.earlier

    def anonymise(
        self, method: FlowMethod, matrix: ODMatrix, progress: Progress = silent
    ) -> tuple[Release, Cost]:
        """Return the release, and what it took; an error where nothing is left to release.

        Where much the same records were released before, as after somebody was erased, the zones of then
        are tried too: with them only flows that changed are withheld.
        """
        promise, limit = method.promise.resolve(matrix), method.suppression_limit
        then = self._zones_of_then(method, matrix)
        for zones, before in then:
            road = _Road(FixedZones(zones=zones, promise=promise), limit, NEARLY_ALL, 1, before)
            if self._is_still_best(before) and (found := self._gone(road, matrix, progress)) is not None:
                return self._answered(method, matrix, promise, found, kept=True)
        ruled = self._ruled(method, promise, matrix)
        # Where nothing is ruled, most follows from what is withheld, and all of the limit may be needed.
        own = _Road(ruled, limit, limit if ruled is method else ROOM_TO_MEND * limit, TRIES)
        kept = [
            _Road(FixedZones(zones=zones, promise=ruled.promise), limit, NEARLY_ALL, 1, before)
            for zones, before in then
        ]
        with keeping_products():
            self._search((own, *kept), matrix, progress)
            if ruled is not method and not any(road.found.is_within for road in (own, *kept)):
                # What is left is to withhold alone, and to spend hardly anything before that.
                own.tries, plain = TRIES, _Road(method, limit, limit, 2 * TRIES)
                self._search((own, plain), matrix, progress)
                own.found = min(own.found, plain.found, key=lambda one: (not one.is_within, one.mean_tiles))
        roads = [road.found for road in (own, *kept)]
        within = [one for one in roads if one.is_within]
        if not within:
            raise ImpossibleRequestError(self._impossible(min(one.share for one in roads)))
        best = min(within, key=lambda one: one.mean_tiles)
        finer = [one.share for one in roads[1:] if one.mean_tiles < best.mean_tiles]
        kept_zones = best is not own.found
        release, cost = self._answered(method, matrix, promise, best, kept=kept_zones)
        return release, cost._replace(finer_with=min(finer, default=None))

    def _answered(
        self, method: FlowMethod, matrix: ODMatrix, promise: Promise, best: _Answer, *, kept: bool
    ) -> tuple[Release, Cost]:
        """Return an answer as the release, and what it took."""
        assert best.answer is not None
        cost = Cost(
            withheld=int(matrix.flows.trips[best.suppressed & ~best.answer.suppressed].sum()),
            attacks=best.attacks,
            kept=kept,
            limit=best.limit if best.limit > method.suppression_limit else None,
        )
        within_limit = replace(method, suppression_limit=best.limit)
        return self._built(within_limit, matrix, promise, best.answer, best.suppressed), cost

    def _is_still_best(self, before: Disclosure) -> bool:
        """Return whether the zones of an earlier release are as good now as they were when they were found.

        They are if it was made in the same way of nearly the same records, and so was the first release that
        has them: nobody would see the difference, and after an erasure it is better that zones stay.
        """
        if self.asked is None or before.made is None or before.made != self.asked or not self.coarsens:
            return False
        records = self.records.record
        if share_in_common(before, records) < NEARLY_THE_SAME:
            return False
        first = next(one for one in self.earlier if one is before or _same_zones(one, before))
        return first is before or share_in_common(first, records) >= NOT_FAR

    def _gone(self, road: _Road, matrix: ODMatrix, progress: Progress) -> _Answer | None:
        """Return what adds no fact at the end of a road, where that spends about what it may withhold."""
        road.ask(matrix, progress)
        if road.settled is None:
            return None
        answer = road.answer
        mended = self._mended(matrix, answer, progress)
        found = None if mended is None else _Answer.of(matrix, answer, *mended, road.limit)
        about = found is not None and SPENT * road.limit <= found.share <= road.limit
        return found if about else None

    def _search(self, roads: Sequence[_Road], matrix: ODMatrix, progress: Progress) -> None:
        """Go along roads, the finest first, until none begins much finer than what was found."""
        finest = math.inf
        for road in roads:
            road.ask(matrix, progress)
        while (road := min(roads, key=lambda one: one.begins)).begins < (1 - WORTHWHILE) * finest:
            answer = road.answer
            most, mended = LESS * road.allowed, self._mended(matrix, answer, progress)
            if mended is not None:
                found = _Answer.of(matrix, answer, *mended, road.limit)
                if road.before is not None:
                    found = found._replace(limit=self._limit_beside(road.before, found, road.limit, matrix))
                road.found = min(road.found, found, key=lambda one: one.share)
                if found.share <= found.limit:
                    finest = min(finest, found.mean_tiles)
                    road.tries = 0
                most = road.allowed - AMPLE * (found.share - road.limit)
            road.allow(most)
            road.ask(matrix, progress)

    def _limit_beside(self, before: Disclosure, found: _Answer, limit: float, matrix: ODMatrix) -> float:
        """Return the limit for an answer in the zones of an earlier release, whose numbers stand meanwhile.

        What is withheld there of flows that the earlier release tells is not lost to readers, so the limit is
        passed for it, if all else is within it.
        """
        if found.answer is None or found.share <= limit:
            return limit
        volume = np.asarray(matrix.volume(found.answer.volume), dtype=float)
        lost = found.suppressed & ~self._told_by(before, matrix.n_flows)
        if volume[lost].sum() > limit * volume.sum():
            return limit
        more = (round(limit + step, 6) for step in STANDING)
        return next((one for one in more if found.share <= one < 1), limit)

    def _told_by(self, before: Disclosure, n_flows: int) -> Bools:
        """Return the flows with records that an earlier release published."""
        same = before.groups_of(self.records.record) >= 0
        told = np.zeros(n_flows, dtype=bool)
        told[self.records.flow[same]] = True
        return told

    def _zones_of_then(self, method: FlowMethod, matrix: ODMatrix) -> list[tuple[KeptZones, Disclosure]]:
        """Return the zones of earlier releases of much the same records with what they tell, latest first."""
        if method.draws_zones:
            return []
        if isinstance(method, FixedZones):
            # Zones that were asked for are not exchanged, but numbers of before stand beside them as well.
            alike = [one for one in reversed(self.earlier) if are_alike(one, self.records.record)]
            return [(method.zones, one) for one in alike[:THEN]]
        found: list[tuple[KeptZones, Disclosure]] = []
        axes = tuple(axis for axis, _ in zip(AXES, matrix.axes, strict=False))
        for one in reversed(self.earlier):
            if len(found) == THEN:
                break
            much = are_alike(one, self.records.record)
            if much and tuple(one.zones) == axes and one.n_groups:
                trees = dict(zip(axes, (tree for tree, _ in matrix.axes), strict=True))
                # What tables count of withheld flows is in no pair of zones that could be kept.
                kept = np.logical_and.reduce(
                    [_among(one.zones[axis], trees[axis].zones.ids) for axis in axes], axis=0
                )
                names = {axis: zones[kept].tolist() for axis, zones in one.zones.items()}
                cut = all(_apart(tree, one.zones[axis]) for axis, tree in trees.items())
                if kept.any():
                    found.append((KeptZones.of_pairs(names, digest=UNPUBLISHED, homogeneous=cut), one))
        return found

    def _ruled(self, method: FlowMethod, promise: Promise, matrix: ODMatrix) -> FlowMethod:
        """Return the method with the rule on what remains, where it can look at it."""
        exact = any(one.rounded is None for one in self.earlier)
        if promise.segments or promise.by_release or not exact or not self.coarsens:
            return method
        people = any(one.counted == "travellers" for one in self.earlier)
        groups = EarlierGroups.of(self.records, matrix.n_flows, self.attacks.before, people=people)
        k = min(one.k for one in self.earlier) if promise.k is None else self._k(promise.k)
        return replace(method, promise=all_of([promise, Remainders(least=k, earlier=groups)]))

    def _k(self, own: float) -> int:
        return min(math.ceil(own), *(one.k for one in self.earlier))

    def _mended(self, matrix: ODMatrix, answer: Release, progress: Progress) -> tuple[Bools, int] | None:
        """Return the flows to withhold so that the attack finds nothing; None where nothing would be left."""
        suppressed = answer.suppressed.copy()
        for number in range(ROUNDS):
            left = replace(answer, group_of_flow=np.where(suppressed, -1, answer.group_of_flow))
            new = self.disclosing(left)
            facts = self.attacks.on(new, progress)
            if not facts.complete:
                # What could not be looked at may tell anything.
                return None
            if not len(facts):
                return suppressed, number + 1
            barred = smallest(facts, len(self.earlier), new, answer)
            more = np.isin(answer.group_of_flow, barred) & ~suppressed
            if not more.any():
                # If they follow from the earlier releases alone, no new one can take them back.
                return None if number_added(facts, self.earlier) else (suppressed, number + 1)
            suppressed |= more
            if suppressed.all():
                return None
        return None

    def _built(
        self, method: FlowMethod, matrix: ODMatrix, promise: Promise, answer: Release, suppressed: Bools
    ) -> Release:
        group = np.maximum(answer.group_of_flow, 0)
        return build_release(
            matrix,
            method=method.released_as,
            parameters=method.parameters(matrix),
            promise=promise,
            suppression_limit=method.suppression_limit,
            origin_zone=answer.group_origin[group],
            destination_zone=answer.group_destination[group],
            time_zone=None if answer.group_time is None else answer.group_time[group],
            suppressed=suppressed,
            homogeneous=answer.homogeneous,
            bound=answer.bound if np.array_equal(suppressed, answer.suppressed) else None,
            # Those of the hierarchies, or boxes: drawn by the method, or kept.
            zones=(answer.origins, answer.destinations),
            seed=answer.seed,
            seconds=answer.seconds,
        )

    def _impossible(self, least: float) -> str:
        percent = math.ceil(100 * least)
        rounded = f"publish rounded numbers ({spelt('ledger_mode', 'round')})"
        do = f"Withholding {percent} % would do ({spelt('suppress')}); or" if percent < 100 else "You may"
        way = f"{do} {rounded}, keep"
        return (
            "not possible: with the releases that the ledger knows, no release within the limit leaves "
            f"nothing about few people to be told by subtraction. {way} the zones of an earlier release "
            f"({spelt('zones_from', 'DIR')}), or wait until enough people were added or erased"
        )


class _Answer(NamedTuple):
    """What a method found that adds no fact: what is withheld, what share that is, how fine the rest is.

    ``limit`` is the share that may be withheld.
    """

    answer: Release | None
    suppressed: Bools
    share: float
    mean_tiles: float
    attacks: int
    limit: float

    @property
    def is_within(self) -> bool:
        """Return whether no more is withheld than may be."""
        return self.share <= self.limit

    @classmethod
    def of(cls, matrix: ODMatrix, answer: Release, suppressed: Bools, attacks: int, limit: float) -> _Answer:
        volume = np.asarray(matrix.volume(answer.volume), dtype=float)
        group = answer.group_of_flow[~suppressed]
        ends = ((answer.origins, answer.group_origin), (answer.destinations, answer.group_destination))
        tiles = sum(np.asarray(zones.tiles[column][group], dtype=float) for zones, column in ends)
        released = volume[~suppressed]
        mean = float(tiles @ released / released.sum())
        return cls(answer, suppressed, float(volume[suppressed].sum() / volume.sum()), mean, attacks, limit)


@dataclass(eq=False)
class _Road:
    """One way to look for a release: a method, what it may withhold, and what was found so far.

    Attributes
    ----------
    limit, allowed : float
        The share that a release may withhold; what the method is allowed, so that the rest is for mending.
        Zones that are kept may withhold nearly all, and whether it is within the limit is seen afterwards.
    tries : int
        How often the method may still be asked.
    before : Disclosure, optional
        What the earlier release tells whose zones are kept.
    settled, begins
        What the method decided, and its mean tiles; infinitely many where there is nothing more to look at.
        As a method is no finer with less of the limit, it need not be asked again where others are finer.
    found : _Answer
        What adds no fact, withholding least.
    """

    solver: FlowMethod
    limit: float
    allowed: float
    tries: int
    before: Disclosure | None = None
    settled: Settled | None = field(default=None, init=False)
    begins: float = field(default=math.inf, init=False)
    found: _Answer = field(init=False)

    def __post_init__(self) -> None:
        self.found = _Answer(None, np.empty(0, dtype=bool), 1.0, math.inf, 0, self.limit)

    def ask(self, matrix: ODMatrix, progress: Progress) -> None:
        """Let the method answer, with less while that is impossible."""
        self.settled, self.begins = None, math.inf
        while self.tries and self.settled is None:
            self.tries -= 1
            try:
                one = replace(self.solver, suppression_limit=self.allowed)
                self.settled = one.settled(matrix, progress)
                self.begins = self.settled.mean_tiles
            except ImpossibleRequestError:
                self.allow(LESS * self.allowed)

    @property
    def answer(self) -> Release:
        """Return what the method decided as a release, which is made only where the road is gone."""
        assert self.settled is not None
        return self.settled.release()

    def allow(self, share: float) -> None:
        """Allow the method so much, or something at least."""
        self.allowed = share if share > 0 else LESS / 2 * self.allowed


def _apart(tree: Hierarchy, names: Ints) -> bool:
    """Return whether no zone of some names holds another one of them."""
    known = _among(tree.zones.ids, names)
    for zone in np.flatnonzero(known):
        above = tree.parent[zone]
        while above >= 0:
            if known[above]:
                return False
            above = tree.parent[above]
    return True


def _same_zones(one: Disclosure, other: Disclosure) -> bool:
    """Return whether two releases have the same pairs of zones, but for those of which nothing is told."""
    if tuple(one.zones) != tuple(other.zones) or one.total_of or other.total_of:
        return False
    pairs = [
        set(zip(*(names.tolist() for names in each.zones.values()), strict=True)) for each in (one, other)
    ]
    return len(pairs[0] & pairs[1]) >= NOT_FAR * max(len(each) for each in pairs)


def _among(some: Ints, names: Ints) -> Bools:
    """Return which names are among others; numpy's own way takes their product where names are objects."""
    known = set(names.tolist())
    return np.fromiter(map(known.__contains__, some.tolist()), dtype=bool, count=len(some))


def smallest(facts: Facts, first_new: int, new: Sequence[Disclosure], answer: Release) -> Ints:
    """Return new groups without which no fact stands: of each the one that most need, then the smallest."""
    needs = [_needed(fact, first_new, new) for fact in facts.found]
    needed = Counter(group for groups in needs for group in groups)
    chosen: set[int] = set()
    for groups in needs:
        if groups and not chosen & groups:
            chosen.add(min(groups, key=lambda group: (-needed[group], int(answer.trips[group]), group)))
    return np.array(sorted(chosen), dtype=np.int64)


def _needed(fact: Fact, first_new: int, new: Sequence[Disclosure]) -> set[int]:
    """Return the new groups that a fact takes: those that it names, or else all of a total that it names."""
    groups: set[int] = set()
    in_totals: set[int] = set()
    for term in (*fact.terms, *fact.beside):
        if term.release >= first_new:
            one = new[term.release - first_new]
            if one.total_of is None:
                groups.add(term.group)
            else:
                # A total is of the same records as the flows; a segment, above, of some of them.
                in_totals |= set(new[0].group[one.group == term.group].tolist()) - {WITHHELD}
    return groups or in_totals


def refuse_new_facts(
    earlier: Sequence[Disclosure], new: Sequence[Disclosure], facts: Facts | None = None
) -> None:
    """Raise where a new release would tell, with earlier ones, what those do not tell by themselves.

    Parameters
    ----------
    facts
        What all of them tell, where the very same were attacked already.
    """
    if not earlier or not new:
        return
    facts = attack([*earlier, *new]) if facts is None else facts
    if not facts.complete:
        raise ImpossibleRequestError(
            "not possible: the releases that the ledger knows and this one cross in so many ways that what "
            "they tell together could not be looked at in full. Keep earlier zones "
            f"({spelt('zones_from', 'DIR')})"
        )
    _refuse_tight_limits(earlier, new, facts.k)
    added = number_added(facts, earlier)
    if added:
        raise ImpossibleRequestError(
            f"not possible: together with what the ledger knows, this release would tell {added:,} "
            f"facts about fewer than {facts.k:,} people each. Another release was added meanwhile: run the "
            "same again, and one will be looked for that adds none"
        )


def _refuse_tight_limits(earlier: Sequence[Disclosure], new: Sequence[Disclosure], k: int) -> None:
    """Raise where limits on what is withheld leave too little room beside the numbers of other releases."""
    if len(facts_of_limits([*earlier, *new], k)) > len(facts_of_limits(earlier, k)):
        raise ImpossibleRequestError(
            "not possible: limits on what is withheld are so tight, here or in an earlier release, that they "
            f"would prove that at least one trip, and fewer than {k:,}, are withheld or left the input. "
            f"Withhold more ({spelt('suppress')}), so that {k:,} trips or more may be withheld here"
        )


def number_added(facts: Facts, earlier: Sequence[Disclosure]) -> int:
    """Return how many of the facts of all releases the earlier ones do not tell by themselves."""
    old = sum(fact.releases[-1] < len(earlier) for fact in facts.found)
    # How little room there is for somebody may be due to numbers far away, which no fact names.
    before = len(attack(earlier, k=facts.k)) if old else 0
    return len(facts) - min(old, before)


def adds_facts(earlier: Sequence[Disclosure], new: Sequence[Disclosure]) -> bool:
    """Return whether a new release would tell what earlier ones do not, or that could not be looked at."""
    facts = attack([*earlier, *new])
    return not facts.complete or number_added(facts, earlier) > 0


ROOM = 0.95
"""Share of the limit that the first release of a ledger may use: the rest is for later erasures."""


def with_room(method: FlowMethod, matrix: ODMatrix, progress: Progress = silent) -> Release:
    """Return a release that leaves some of the limit to later ones of the same zones, where it can.

    Whoever is erased later takes the flows along that would tell of it; without room for them all zones
    would have to change.
    """
    try:
        less = replace(method, suppression_limit=ROOM * method.suppression_limit).anonymise(matrix, progress)
    except ImpossibleRequestError:
        return method.anonymise(matrix, progress)
    return replace(less, suppression_limit=method.suppression_limit)
