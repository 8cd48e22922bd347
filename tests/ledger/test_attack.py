"""Whatever follows from several releases is found, nothing else is, and every fact is true."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TypeAlias

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles import differencing as oracle
from oracles.differencing import exposed_sets, few_in_all, plain_atoms, possible_totals
from tripcloak.flows.model import KeyedRecords
from tripcloak.ground.errors import ImpossibleRequestError
from tripcloak.ledger import bounds
from tripcloak.ledger import joint as joint_sets
from tripcloak.ledger._kernels.groups import (
    are_uniform,
    enough_people,
    lying_in,
    people_of_sets,
    places_among,
    sorted_by,
    split,
)
from tripcloak.ledger.atoms import KnownPeople, Splitting, atoms_of
from tripcloak.ledger.attack import attack
from tripcloak.ledger.cells import Cells
from tripcloak.ledger.contraction import contract
from tripcloak.ledger.disclosure import Disclosure, Rounded, with_totals
from tripcloak.ledger.facts import Facts
from tripcloak.ledger.prevention import number_added, refuse_new_facts
from tripcloak.ledger.sets import USUAL, Blocks, determined_sets
from tripcloak.ledger.tying import tied_by_people


def disclosed(
    groups: Sequence[int], people: Sequence[int], weights: Sequence[int] | None = None, **more
) -> Disclosure:
    """Return a release of records numbered from one: -1 is withheld, and -2 not in the input."""
    group, person = np.asarray(groups), np.asarray(people, dtype=np.uint64) + np.uint64(100)
    weight = np.ones(len(group), int) if weights is None else np.asarray(weights)
    here = group > -2
    n = int(group.max(initial=-1)) + 1
    return Disclosure(
        name="one",
        record=np.flatnonzero(here).astype(np.uint64) + 1,
        person=person[here],
        group=group[here].astype(np.int32),
        weight=weight[here],
        trips=np.array([weight[group == one].sum() for one in range(n)], dtype=np.int64),
        **{"k": 3, **more},
    )


@st.composite
def several(draw: st.DrawFn, most: int = 3) -> list[Disclosure]:
    """Draw releases of at most eight records, with at most six groups in all."""
    n = draw(st.integers(1, 8))
    people = draw(st.lists(st.integers(1, 5), min_size=n, max_size=n))
    weights = draw(st.lists(st.integers(1, 3), min_size=n, max_size=n))
    numbers = {2: 3, 3: 2}
    made = []
    for _ in range(count := draw(st.integers(2, most))):
        group = draw(st.lists(st.integers(-2, numbers[count] - 1), min_size=n, max_size=n))
        made.append(disclosed(_without_gaps(group), people, weights))
    return [one for one in made if one.n_groups] or [disclosed([0] * n, people, weights)]


@st.composite
def rounded(draw: st.DrawFn) -> list[Disclosure]:
    """Draw releases of at most six records, some of which are rounded to one of the two multiples around."""
    made = [one for one in draw(several()) if one.n_records <= 6] or [disclosed([0, 0, 1], [1, 2, 3])]
    told = []
    for one in made:
        base = draw(st.integers(1, 4))
        up = draw(st.lists(st.booleans(), min_size=one.n_groups, max_size=one.n_groups))
        low = one.trips // base * base
        trips = np.where(np.array(up) & (low < one.trips), low + base, low)
        floor = draw(st.integers(0, int(one.trips.min())))
        told.append(replace(one, trips=trips, rounded=Rounded(base, floor, False)) if base > 1 else one)
    return told


def sets_of(found: Facts, disclosures: Sequence[Disclosure]) -> set[frozenset[tuple[int, ...]]]:
    """Return the atoms of exact facts, by their groups."""
    names = list(plain_atoms(disclosures))
    return {frozenset(names[atom] for atom in fact.atoms) for fact in found.found if fact.kind == "exact"}


EFFORTS = {"as it is": USUAL, "concluded first": USUAL._replace(narrow=0)}
"""Small inputs are looked at as they are; so the conclusions that large ones need are drawn from them too."""


@pytest.mark.parametrize("effort", EFFORTS)
@given(st.one_of(several(), rounded()))
def test_exact_facts_are_those_of_every_combination(effort: str, disclosures: list[Disclosure]) -> None:
    found = attack(disclosures, effort=EFFORTS[effort])
    assert found.complete
    assert sets_of(found, disclosures) == exposed_sets(disclosures, 3, reach=4)


@given(st.one_of(several(), rounded()))
def test_bounds_hold_the_truth_and_those_of_all_solutions(disclosures: list[Disclosure]) -> None:
    found = attack(disclosures)
    names, possible = list(plain_atoms(disclosures)), possible_totals(disclosures)
    proven = {}
    for fact in found.found:
        if fact.kind == "between" and len(fact.atoms) == 1:
            proven[names[fact.atoms[0]]] = fact.least, fact.most
    for name, (least, most) in proven.items():
        assert (least, most) == possible[name]
    exact = set().union(*sets_of(found, disclosures)) if len(found) else set()
    records = plain_atoms(disclosures)
    for name, (least, most) in possible.items():
        few = len({person for _, person, _ in records[name]}) < 3
        if least >= 1 and (most < 3 or (least == most and few)) and name not in exact:
            assert name in proven, records[name]


def joint(found: Facts, disclosures: Sequence[Disclosure]) -> dict[frozenset[tuple[int, ...]], tuple]:
    """Return what is proven of sets of several atoms."""
    names = list(plain_atoms(disclosures))
    several = [fact for fact in found.found if fact.kind == "between" and len(fact.atoms) > 1]
    return {frozenset(names[at] for at in fact.atoms): (fact.least, fact.most) for fact in several}


@given(st.one_of(several(), rounded()))
def test_sets_that_are_few_in_all_solutions_are_found(disclosures: list[Disclosure]) -> None:
    """Those that share no atom with a number that follows exactly, which is a fact by itself."""
    found = attack(disclosures)
    exact = set().union(*sets_of(found, disclosures))
    plain = {one: span for one, span in few_in_all(disclosures, 3).items() if len(one) > 1}
    proven = joint(found, disclosures)
    assert {one: proven.get(one) for one, span in plain.items() if not one & exact} == {
        one: span for one, span in plain.items() if not one & exact
    }
    for one, (least, most) in proven.items():
        possible = oracle.possible_total(disclosures, one)
        assert 1 <= least <= possible[0] <= possible[1] <= most < 3


CROSSING = {
    "three releases": ((-1, 1, 1, 1, 0, 0, 0, 0), (0, -1, 0, 0, -1, -1, -1, 0), (0, 0, 0, -1, 0, 0, 0, -1)),
    "four releases": (
        (0, 0, -1, 0, -1, 0),
        (-1, 0, 0, 0, 0, -1),
        (-1, 0, 0, 0, -1, 0),
        (-1, -1, -1, 0, 0, 0),
    ),
}


@pytest.mark.parametrize("case", CROSSING)
def test_several_atoms_may_be_few_where_none_is_by_itself(case: str) -> None:
    disclosures = [disclosed(own, range(len(own))) for own in CROSSING[case]]
    found = attack(disclosures)
    assert joint(found, disclosures) == few_in_all(disclosures, 3)
    assert {(fact.least, fact.most, len(fact.atoms)) for fact in found.found} == {(1, 2, 2)}
    with pytest.raises(ImpossibleRequestError, match="facts about fewer than 3 people"):
        refuse_new_facts(disclosures[:-1], disclosures[-1:])


@pytest.mark.parametrize("chained", [False, True], ids=["few atoms", "more than programmes take"])
def test_what_is_left_of_an_exact_number_by_a_rounded_one_is_found_however_much_hangs_together(
    monkeypatch: pytest.MonkeyPatch, chained: bool
) -> None:
    """Ten trips, of which eight are told as eight, a multiple of two: one to three are left, in two atoms."""
    if chained:
        monkeypatch.setattr(bounds, "WIDE", 2)
    people = range(10)
    whole = disclosed([0] * 10, people)
    eight = replace(disclosed([0] * 8 + [-1] * 2, people), rounded=Rounded(2, 3, False))
    third = disclosed([-1] * 4 + [0] * 5 + [-1], people)
    (fact,) = attack([whole, eight, third], k=5).found
    assert (fact.least, fact.most, fact.people, len(fact.atoms)) == (1, 3, 2, 2)
    assert (
        attack([whole, replace(eight, rounded=Rounded(5, 5, False), trips=np.array([10])), third], k=5).found
        == ()
    )


@pytest.mark.parametrize("apart", [False, True], ids=["one atom", "two atoms"])
def test_what_is_left_beside_what_other_releases_narrow_down_is_found(
    monkeypatch: pytest.MonkeyPatch, apart: bool
) -> None:
    """Two rounded flows of three to five make six together, so each is three; two of five trips are left."""
    monkeypatch.setattr(bounds, "WIDE", 0)
    people, out = range(12), [-1] * 4
    three = replace(disclosed([0] * 3 + [1] * 3 + [-1] * 2 + out, people), rounded=Rounded(3, 3, False))
    six, five = disclosed([0] * 6 + [-1] * 2 + out, people), disclosed([-1] * 3 + [0] * 5 + out, people)
    crossing = disclosed([-1] * 5 + [0 if apart else -1, -1] + [0] * 5, people)
    (fact,) = attack([three, six, five, crossing]).found
    assert (fact.least, fact.most, fact.people, len(fact.atoms)) == (2, 2, 2, 2)
    assert not len(attack([three, five, crossing]))


def test_one_number_leaves_one_at_least_and_another_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who is left of three beside two to three is left of three to five beside two."""
    monkeypatch.setattr(bounds, "WIDE", 0)
    people = range(5)
    exact = disclosed([0, 0, 0, 1, 1], people, [1, 1, 1, 1, 1])
    rough = replace(disclosed([0, 0, 1, 1, 1], people), rounded=Rounded(2, 2, False), trips=np.array([2, 4]))
    (fact,) = attack([exact, rough], k=2).found
    assert (fact.least, fact.most, fact.people, len(fact.atoms)) == (1, 1, 1, 1)
    assert len(fact.beside) == 2


@given(st.one_of(several(), rounded()))
def test_what_is_found_where_much_hangs_together_is_true(disclosures: list[Disclosure]) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(bounds, "WIDE", 0)
        proven = joint(attack(disclosures), disclosures)
    for one, (least, most) in proven.items():
        possible = oracle.possible_total(disclosures, one)
        assert 1 <= least <= possible[0] <= possible[1] <= most < 3


def test_a_search_that_is_cut_off_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    disclosures = [disclosed(own, range(len(own))) for own in CROSSING["three releases"]]
    monkeypatch.setattr(joint_sets, "STEPS", 1)
    assert not attack(disclosures).complete
    monkeypatch.setattr(joint_sets, "STEPS", 100)
    assert attack(disclosures).complete


@given(st.one_of(several(), rounded()))
def test_every_fact_is_true_and_follows_from_its_terms(disclosures: list[Disclosure]) -> None:
    atoms = atoms_of(disclosures)
    for fact in attack(disclosures).found:
        truth = int(atoms.trips[fact.atoms].sum())
        assert fact.least <= truth <= fact.most
        assert 1 <= fact.people < 3 or fact.kind == "people"
        for term in fact.terms:
            assert disclosures[term.release].trips[term.group] == term.published
        if fact.kind == "exact":
            assert sum(term.factor * term.published for term in fact.terms) == fact.divisor * truth


def test_what_remains_of_k_people_is_none_and_of_one_fewer_is_one() -> None:
    people = list(range(1, 11))
    whole = disclosed([0] * 10, people)
    for withheld, facts in ((3, 0), (2, 1)):
        part = disclosed([0] * (10 - withheld) + [-1] * withheld, people)
        assert len(attack([whole, part])) == facts
    again = attack([whole, disclosed([0] * 8 + [-2] * 2, people)])
    assert (again.found[0].least, again.people) == (2, 2)


def test_many_trips_of_few_people_are_a_fact() -> None:
    people = [*range(1, 10), 7, 7, 7, 8, 8]
    whole = disclosed([0] * 14, people)
    part = disclosed([0] * 9 + [-1] * 5, people)
    (fact,) = attack([whole, part]).found
    assert (fact.least, fact.people) == (5, 2)


def test_three_releases_tell_what_no_two_do() -> None:
    # Women and men of a flow, and all of it but one trip in a third release.
    people = list(range(1, 13))
    all_of_them = disclosed([0] * 12, people)
    women = disclosed([0] * 5 + [-2] * 7, people)
    men = disclosed([-2] * 6 + [0] * 6, people)
    for two in ([all_of_them, women], [all_of_them, men], [women, men]):
        assert not len(attack(two))
    (fact,) = attack([all_of_them, women, men]).found
    assert (fact.words(), [term.factor for term in fact.terms]) == ("exactly 1 trips", [1, -1, -1])


@pytest.mark.parametrize(("outer", "facts"), [((9, 9), 0), ((8, 8), 1), ((8, 13), 0)])
def test_people_of_a_flow_who_are_not_in_one_inside_it(outer: tuple[int, int], facts: int) -> None:
    # Everybody travels three times inside, so that what remains is of enough people by trips.
    people = [*(list(range(1, 7)) * 3), *range(1, outer[0] + 1)]
    inner = disclosed([0] * 18 + [-1] * outer[0], people, travellers=np.array([[6], [6]]))
    whole = disclosed([0] * len(people), people, travellers=np.array(outer)[:, None])
    assert len(attack([inner, whole])) == facts


def test_more_choices_than_can_be_tried_are_searched() -> None:
    # A long chain of crossing flows: each of its links is a fact, whatever end one begins at.
    n = 15
    people = list(range(1, 2 * n + 1))
    one = disclosed([at // 2 for at in range(2 * n)], people)
    other = disclosed([(at + 1) // 2 for at in range(2 * n)], people)
    found = attack([one, other])
    assert found.complete
    assert sorted(atom for fact in found.found for atom in fact.atoms) == list(range(2 * n))
    assert all(fact.least == fact.most == 1 for fact in found.found)


Row: TypeAlias = dict[int, int]


def blocks_of(blocks: Sequence[tuple[list[Row], list[Row]]], people: Sequence[set[int]]) -> Blocks:
    """Return blocks of ties and columns as the arrays that they are searched in."""
    rows = [row for ties, columns in blocks for row in (*ties, *columns)]
    terms = [term for row in rows for term in row.items()]
    unknown, coefficient = np.array(terms, dtype=np.int64).reshape(-1, 2).T.copy()
    own = iter(people)
    who = [sorted(next(own)) if tied else [] for ties, columns in blocks for tied in _columns(ties, columns)]
    return Blocks(
        np.cumsum([0, *(len(ties) + len(columns) for ties, columns in blocks)]),
        np.array([len(ties) for ties, _ in blocks]),
        (np.cumsum([0, *map(len, rows)]), unknown, coefficient),
        (np.cumsum([0, *map(len, who)]), np.array([one for each in who for one in each], dtype=np.int64)),
    )


def _columns(ties: Sequence[Row], columns: Sequence[Row]) -> list[bool]:
    return [False] * len(ties) + [True] * len(columns)


@st.composite
def block(draw: st.DrawFn, first: int) -> tuple[list[Row], list[Row]]:
    """Draw ties and columns of a few unknowns."""
    unknowns = st.integers(first, first + 4)
    rows = st.dictionaries(unknowns, st.sampled_from([1, -1, 2, 3]), min_size=1, max_size=4)
    return draw(st.lists(rows, max_size=3)), draw(st.lists(rows, min_size=1, max_size=6))


@given(st.data(), st.integers(1, 4))
def test_known_sets_are_those_that_a_plain_search_finds(data: st.DataObject, below: int) -> None:
    drawn = [data.draw(block(first)) for first in (0, 5)]
    n = sum(len(columns) for _, columns in drawn)
    people = [data.draw(st.sets(st.integers(0, 5), min_size=1, max_size=3)) for _ in range(n)]
    sets, complete = determined_sets(blocks_of(drawn, people), below)
    assert complete
    expected, row, at = set(), 0, 0
    for ties, columns in drawn:
        row += len(ties)
        own = oracle.known_sets(ties, columns, people[at : at + len(columns)], below)
        expected |= {frozenset(row + column for column in one) for one in own}
        row, at = row + len(columns), at + len(columns)
    assert {frozenset(one.columns.tolist()) for one in sets} == expected
    rows = [each for ties, columns in drawn for each in (*ties, *columns)]
    for one in sets:
        value = dict(zip(one.unknowns.tolist(), one.factors.tolist(), strict=True))
        totals = [sum(factor * value.get(unknown, 0) for unknown, factor in each.items()) for each in rows]
        assert totals == [one.divisor * (at in one.columns) for at in range(len(rows))]


@pytest.mark.parametrize("name", ["terms", "steps"])
def test_what_takes_too_much_is_said(name: str) -> None:
    # A ring of unknowns, of which each column is the sum of two.
    ring = blocks_of([([], [{at: 1, (at + 1) % 6: 1} for at in range(6)])], [{at} for at in range(6)])

    def complete(most: int) -> bool:
        return determined_sets(ring, 3, USUAL._replace(**{name: most}))[1]

    least = min(most for most in range(200) if complete(most))
    assert least > 1
    assert complete(10 * least)
    assert not complete(least - 1)


def test_what_was_not_looked_at_in_full_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = (disclosed([(at + shift) // 2 for at in range(8)], list(range(1, 9))) for shift in (0, 1))
    monkeypatch.setattr("tripcloak.ledger.attack.determined_sets", lambda *_: ([], False))
    assert not attack([one, other]).complete
    with pytest.raises(ImpossibleRequestError, match="looked at in full"):
        refuse_new_facts([one], [other])


@st.composite
def crowds(draw: st.DrawFn) -> list[Disclosure]:
    """Draw releases of one place by two marks of sixty people, whose flows cross in many ways."""
    n = 60
    people = draw(st.lists(st.integers(1, 60), min_size=n, max_size=n))
    places = draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
    marks = [draw(st.lists(st.integers(0, 1), min_size=n, max_size=n)) for _ in range(2)]
    merged = {0: 0, 1: 0, 2: 1, 3: 1}
    groups = [
        places,
        [merged[place] for place in places],
        *([merged[place] if mark else -2 for place, mark in zip(places, own, strict=True)] for own in marks),
    ]
    return [disclosed(_without_gaps(group), people) for group in groups if max(group) >= 0]


def _without_gaps(group: Sequence[int]) -> list[int]:
    """Return groups numbered without gaps."""
    known = {one: at for at, one in enumerate(sorted({one for one in group if one >= 0}))}
    return [known.get(one, one) for one in group]


@given(crowds())
def test_what_is_concluded_first_changes_no_fact(disclosures: list[Disclosure]) -> None:
    plain, concluded = (attack(disclosures, effort=effort) for effort in EFFORTS.values())
    assert plain.complete
    assert concluded.complete
    assert sets_of(concluded, disclosures) == sets_of(plain, disclosures)


@given(several())
def test_atoms_are_those_of_plain_sets(disclosures: list[Disclosure]) -> None:
    atoms, plain = atoms_of(disclosures), plain_atoms(disclosures)
    shifted = atoms.group - np.where(atoms.group >= 0, atoms.start[:-1], 0)
    assert [tuple(row) for row in shifted.tolist()] == list(plain)
    assert atoms.trips.tolist() == [sum(weight for _, _, weight in own) for own in plain.values()]
    assert atoms.people.tolist() == [len({person for _, person, _ in own}) for own in plain.values()]
    # Split by the first alone, and by the others later, they are the same.
    known = KnownPeople([one.record for one in disclosures])
    later = Splitting.of(known).by(disclosures[0]).by(*disclosures[1:]).atoms()
    for name in ("group", "trips", "seen", "seen_by"):
        assert np.array_equal(getattr(later, name), getattr(atoms, name))


@given(several(), st.integers(1, 4), st.data())
def test_atoms_made_of_cells_are_the_same(
    disclosures: list[Disclosure], enough: int, data: st.DataObject
) -> None:
    """Whatever the flows of the new input are, and whether releases keep them whole or not."""
    *earlier, new = disclosures if len(disclosures) > 1 else [*disclosures, *disclosures]
    flow = data.draw(st.lists(st.integers(0, 2), min_size=new.n_records, max_size=new.n_records))
    records = KeyedRecords(record=new.record, person=new.person, flow=np.array(flow, dtype=np.int32))
    known = KnownPeople([new.record, *(one.record for one in earlier)])
    cells, atoms = Cells(Splitting.of(known).by(*earlier), records, enough), atoms_of([*earlier, new])
    withheld = replace(new, group=np.where(new.group == 0, -1, new.group).astype(np.int32))
    cells.atoms([withheld])
    found = cells.atoms([new])
    for name in ("group", "trips", "published", "start"):
        assert np.array_equal(getattr(found, name), getattr(atoms, name))
    few = atoms.people < enough
    assert np.array_equal(found.people[few], atoms.people[few])
    assert np.all(found.people[~few] >= enough)
    assert np.all(found.people <= atoms.people)


@pytest.mark.parametrize("way", ["compiled", "plain"])
@given(st.lists(st.tuples(st.integers(-1, 2), st.integers(-1, 2)), max_size=9))
def test_groups_lie_in_others_as_sets_do(way: str, both: list[tuple[int, int]]) -> None:
    kernel = {"compiled": lying_in, "plain": lying_in.py_func}[way]
    mine, theirs = np.array(both, dtype=np.int32).reshape(-1, 2).T.copy()
    shifted = (np.where(one >= 0, one + first, -1) for one, first in ((mine, 4), (theirs, 7)))
    found = kernel(*shifted, 4, 7, 7, 10)
    told = list(zip(*(side.tolist() for side in found), strict=True))
    assert told == oracle.lying_in(mine.tolist(), theirs.tolist())


@pytest.mark.parametrize("way", ["compiled", "plain"])
@given(st.sets(st.integers(0, 9)), st.sets(st.integers(0, 9)))
def test_places_are_found_among_ascending_numbers(way: str, some: set[int], others: set[int]) -> None:
    kernel = {"compiled": places_among, "plain": places_among.py_func}[way]
    one, other = (np.array(sorted(numbers), dtype=np.uint64) for numbers in (some, others))
    assert kernel(one, other).tolist() == oracle.places_among(one.tolist(), other.tolist())


@pytest.mark.parametrize("way", ["compiled", "plain"])
@given(st.lists(st.tuples(st.integers(-1, 3), st.integers(0, 2), st.integers(-1, 2)), max_size=8))
def test_records_are_sorted_and_split_as_plain_sets_are(way: str, rows: list[tuple[int, int, int]]) -> None:
    chosen = {"compiled": lambda kernel: kernel, "plain": lambda kernel: kernel.py_func}[way]
    code, other, person = np.array(rows, dtype=np.int32).reshape(-1, 3).T.copy()
    start, order = chosen(sorted_by)(code, 4)
    runs = [order[a:b].tolist() for a, b in pairwise(start)]
    assert runs == oracle.sorted_by(code.tolist(), 4)
    split_order, ends, before, told = chosen(split)(order, start, other, 3)
    found = [
        (int(was), int(now), split_order[a:b].tolist())
        for was, now, (a, b) in zip(before, told, pairwise(ends), strict=True)
    ]
    assert found == oracle.split(runs, other.tolist())
    assert chosen(are_uniform)(split_order, ends, other)
    sets = [own for _, _, own in found]
    assert chosen(are_uniform)(split_order, ends, person) == oracle.are_uniform(sets, person.tolist())
    each = np.arange(len(person) + 1), person
    who = {most: chosen(people_of_sets)(split_order, ends[:-1], ends[1:], each, 3, most) for most in (-1, 1)}
    pairs = {most: list(zip(*(side.tolist() for side in both), strict=True)) for most, both in who.items()}
    assert sorted(pairs[-1]) == oracle.people_of_sets(sets, person.tolist())
    # One of each set that has anybody is enough, if one is asked for.
    assert set(pairs[1]) <= set(pairs[-1])
    assert [at for at, _ in pairs[1]] == sorted({at for at, _ in pairs[-1]})


def test_conclusions_leave_nothing_of_what_many_people_tie() -> None:
    # Twenty people in every corner of place, sex and day: all flows hang together by the lone person.
    n = 160
    place, sex, day = ([at // 20 >> bit & 1 for at in range(n)] for bit in range(3))
    lone = [0]
    told = [
        disclosed([*values, *lone], [*range(1, n + 1), 999], k=10)
        for values in (place, [2 * p + s for p, s in zip(place, sex, strict=True)], day)
    ]
    atoms = atoms_of(told)
    contraction = contract(atoms, atoms.people >= 30)
    tied = tied_by_people(atoms, contraction, np.ones(contraction.n_unknowns, dtype=bool), 30)
    assert (contraction.n_unknowns, tied.n_unknowns) == (8, 5)


@pytest.mark.parametrize("way", ["compiled", "plain"])
@given(st.data())
def test_enough_people_are_those_of_sets(way: str, data: st.DataObject) -> None:
    def runs(n: int, most: int) -> tuple[list[int], list[int]]:
        sizes = data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
        total = sum(sizes)
        values = data.draw(st.lists(st.integers(0, most - 1), min_size=total, max_size=total))
        return [0, *np.cumsum(sizes).tolist()], values

    segments, kinds, seen = runs(3, 3), runs(3, 4), runs(4, 6)
    sure, k = data.draw(st.lists(st.booleans(), min_size=3, max_size=3)), data.draw(st.integers(1, 4))
    counted = {"compiled": enough_people, "plain": enough_people.py_func}[way]
    arrays = [tuple(np.array(part, dtype=np.int64) for part in pair) for pair in (segments, kinds, seen)]
    found = counted(arrays[0], (*arrays[1], np.array(sure)), arrays[2], 6, k)
    assert found.tolist() == oracle.enough_people(segments, (*kinds, sure), seen, k)


def test_a_set_that_takes_another_one_apart_is_found_too() -> None:
    # Two flows of one release, and one of another that has a trip of each: three sets of two atoms.
    people = [1, 2, 3, 4]
    one = disclosed([0, 0, 1, 1], people)
    other = disclosed([-1, 0, 0, -1], people)
    found = sets_of(attack([one, other]), [one, other])
    assert found == exposed_sets([one, other], 3, reach=4)
    assert len(found) == 4


def test_where_trips_are_counted_every_trip_of_a_record_is_one() -> None:
    whole, part = ([0, 0, 0], [0, 0, -1])
    for weight, facts in ((2, 1), (3, 0)):
        told = [disclosed(groups, [1, 2, 3], [5, 5, weight], counted="trips") for groups in (whole, part)]
        assert len(attack(told)) == facts


def test_travellers_alone_do_not_add_up() -> None:
    people = list(range(1, 11))
    counts = {"travellers": np.array([[10], [10]])}, {"travellers": np.array([[8], [8]])}
    whole = disclosed([0] * 10, people, tells_trips=False, **counts[0])
    part = disclosed([0] * 8 + [-1] * 2, people, tells_trips=False, **counts[1])
    (fact,) = attack([whole, part]).found
    assert (fact.kind, fact.words(), fact.people) == ("people", "exactly 2 people", 2)


def about(one: Disclosure, base: int, *trips: int, sums: bool = False, **more) -> Disclosure:
    """Return the same release with rounded numbers."""
    return replace(one, trips=np.array(trips), rounded=Rounded(base, 4, sums), **more)


@pytest.mark.parametrize(("base", "told", "facts"), [(2, 10, 1), (3, 9, 0), (3, 12, 0)])
def test_a_difference_to_a_rounded_number_is_a_fact_where_all_that_fits_is_few(
    base: int, told: int, facts: int
) -> None:
    # Of twelve people ten are told about. Three numbers that fit are all below four, five are not.
    people = list(range(1, 13))
    whole, part = (disclosed(groups, people, k=4) for groups in ([0] * 12, [0] * 10 + [-1] * 2))
    found = attack([whole, about(part, base, told)])
    assert len(found) == facts
    for fact in found.found:
        assert (fact.kind, fact.least, fact.most, fact.people) == ("between", 1, 3, 2)


def test_two_roundings_of_one_flow_narrow_it_and_are_attacked_together() -> None:
    people = list(range(1, 13))
    whole, part = (disclosed(groups, people, k=4) for groups in ([0] * 12, [0] * 10 + [-1] * 2))
    low, high = about(part, 3, 9), about(part, 3, 12)
    assert not len(attack([whole, low]))
    assert not len(attack([whole, high]))
    (fact,) = attack([whole, low, high]).found
    assert (fact.least, fact.most) == (1, 2)


def test_the_total_of_a_zone_bounds_its_last_flow_once_more() -> None:
    people = list(range(1, 18))
    exact = disclosed([0] * 5 + [1] * 6 + [2] * 4 + [-1] * 2, people, k=4)
    zones = {"origin": np.array(["a", "a", "a"]), "destination": np.array(["a", "b", "c"])}
    flows = about(disclosed([0] * 5 + [1] * 6 + [2] * 6, people, k=4), 4, 8, 8, 4, sums=True, zones=zones)
    assert not len(attack([exact, flows]))
    told = with_totals(flows)
    assert [one.total_of for one in told] == [None, "origin", "destination", "all"]
    (fact,) = attack([exact, *told]).found
    # 20 - 3 less all that is known besides; and 4 + 3 less the four of the same flow.
    assert (fact.least, fact.most) == (2, 3)
    assert len(with_totals(replace(flows, rounded=Rounded(4, 4, False)))) == 1


def test_a_bound_names_what_is_told_of_the_others_too() -> None:
    # Two of twelve are erased; what is told of the other ten, rounded, leaves little room for the two.
    people = list(range(1, 13))
    whole, part = disclosed([0] * 12, people, k=4), disclosed([0] * 10 + [-2] * 2, people, k=4)
    (fact,) = attack([whole, about(part, 2, 10)]).found
    assert [term.release for term in fact.terms] == [0]
    assert [term.release for term in fact.beside] == [1]
    assert fact.releases == (0, 1)
    with pytest.raises(ImpossibleRequestError, match="would tell 1 facts"):
        refuse_new_facts([whole], [about(part, 2, 10)])


def test_what_numbers_far_away_leave_no_room_for_is_new_too() -> None:
    """Bounds that come over several sums: nobody is named by the new release, and still it is what tells."""
    people = list(range(1, 12))
    one = disclosed([0] * 6 + [1] * 5, people, k=4)
    other = disclosed([0] * 4 + [1] * 4 + [-1] * 3, people, k=4)
    old = Facts(found=(), complete=True, k=4, people=0, groups=0, atoms=0)
    assert number_added(old, [one, other]) == 0
    facts = attack([one, other])
    assert number_added(facts, [one, other]) == 0
    assert number_added(facts, [one]) == len(facts)
