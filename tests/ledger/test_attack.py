"""Whatever follows from several releases is found, nothing else is, and every fact is true."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles.differencing import exposed_sets, plain_atoms, possible_totals
from tripcloak.ground.errors import ImpossibleRequestError
from tripcloak.ledger.atoms import atoms_of
from tripcloak.ledger.attack import attack
from tripcloak.ledger.disclosure import Disclosure
from tripcloak.ledger.facts import Facts
from tripcloak.ledger.prevention import refuse_new_facts


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
        # Groups are numbered without gaps.
        known = {one: at for at, one in enumerate(sorted({one for one in group if one >= 0}))}
        made.append(disclosed([known.get(one, one) for one in group], people, weights))
    return [one for one in made if one.n_groups] or [disclosed([0] * n, people, weights)]


def sets_of(found: Facts, disclosures: Sequence[Disclosure]) -> set[frozenset[tuple[int, ...]]]:
    """Return the atoms of exact facts, by their groups."""
    names = list(plain_atoms(disclosures))
    return {frozenset(names[atom] for atom in fact.atoms) for fact in found.found if fact.kind == "exact"}


@given(several())
def test_exact_facts_are_those_of_every_combination(disclosures: list[Disclosure]) -> None:
    found = attack(disclosures)
    assert found.complete
    assert sets_of(found, disclosures) == exposed_sets(disclosures, 3, reach=4)


@given(several())
def test_bounds_hold_the_truth_and_those_of_all_solutions(disclosures: list[Disclosure]) -> None:
    found = attack(disclosures)
    names, possible = list(plain_atoms(disclosures)), possible_totals(disclosures)
    proven = {}
    for fact in found.found:
        if fact.kind == "between":
            proven[names[fact.atoms[0]]] = fact.least, fact.most
    for name, (least, most) in proven.items():
        assert (least, most) == possible[name]
    exact = set().union(*sets_of(found, disclosures)) if len(found) else set()
    records = plain_atoms(disclosures)
    for name, (least, most) in possible.items():
        if least >= 1 and most < 3 and name not in exact:
            assert name in proven, records[name]


@given(several())
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


def test_what_hangs_together_too_widely_is_said_and_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    people = list(range(1, 21))
    one, other = (disclosed([(at + shift) // 2 for at in range(20)], people) for shift in (0, 1))
    monkeypatch.setattr("tripcloak.ledger.attack.WIDE", 21)
    assert attack([one, other]).complete
    monkeypatch.setattr("tripcloak.ledger.attack.WIDE", 20)
    found = attack([one, other])
    assert not found.complete
    with pytest.raises(ImpossibleRequestError, match="looked at in full"):
        refuse_new_facts([one], [other])


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
