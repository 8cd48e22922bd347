"""Bounds on atoms, one at a time: which are looked at, what is proven of them, and from what."""

from __future__ import annotations

import numpy as np
import pytest

from tripcloak.ledger import bounds
from tripcloak.ledger.atoms import Atoms
from tripcloak.ledger.bounds import Span, bounded, tightened
from tripcloak.ledger.facts import Term

ATOMS = Atoms(
    group=np.array([[0, 2], [0, 3], [1, 3]]),
    trips=np.array([7, 1, 9]),
    published=np.array([8, 9, 7, 10]),
    seen=np.repeat([0, 1, 2], [5, 1, 9]),
    seen_by=np.arange(15),
    start=np.array([0, 2, 4]),
)
"""Three atoms in a row, of 5, 1 and 9 people in two releases: their sums leave one solution."""
ALL = np.ones(3, dtype=bool)


def told(least: list[int], most: list[int], asked: np.ndarray = ALL, k: int = 3) -> list[tuple[int, int]]:
    span = tightened(ATOMS, Span(np.array(least), np.array(most)), asked, k)
    return list(zip(span.least.tolist(), span.most.tolist(), strict=True))


def test_programmes_find_the_one_solution_of_what_is_asked_and_leave_the_rest() -> None:
    assert told([0, 0, 0], [100, 100, 100]) == [(7, 7), (1, 1), (9, 9)]
    asked = np.array([False, True, False])
    assert told([0, 0, 0], [100, 100, 100], asked) == [(0, 100), (1, 1), (0, 100)]


@pytest.mark.parametrize(("least", "most", "found"), [(1, 2, (1, 2)), (1, 3, (1, 1)), (0, 2, (1, 1))])
def test_what_is_proven_to_be_few_already_is_left_as_it_is(
    least: int, most: int, found: tuple[int, int]
) -> None:
    assert told([7, least, 9], [7, most, 9], np.array([False, True, False]))[1] == found


@pytest.mark.parametrize(
    ("small", "wide", "solved"), [(3, 0, [True, True]), (2, 3, [False, True]), (2, 2, [False, False])]
)
def test_in_wide_parts_only_what_is_few_is_looked_at_and_in_wider_ones_nothing(
    monkeypatch: pytest.MonkeyPatch, small: int, wide: int, solved: list[bool]
) -> None:
    monkeypatch.setattr(bounds, "SMALL", small)
    monkeypatch.setattr(bounds, "WIDE", wide)
    found = told([0, 0, 0], [100, 2, 100])
    assert [(one, two) in {(7, 7), (1, 1)} for one, two in found[:2]] == solved


def test_a_fact_names_every_sum_that_its_atom_is_in() -> None:
    (fact,) = bounded(ATOMS, ALL, 3)
    assert (fact.least, fact.most, fact.people, fact.atoms.tolist()) == (1, 1, 1, [1])
    assert fact.terms == (Term(1, 0, 0, 8), Term(1, 1, 1, 10))
    # Where k is larger, seven are a fact too, and the first groups are named as any other.
    first, _ = bounded(ATOMS, ALL, 8)
    assert first.terms == (Term(1, 0, 0, 8), Term(1, 1, 0, 7))
    assert bounded(ATOMS, ~ALL, 8) == []


@pytest.mark.parametrize(
    ("k", "few"), [(1, []), (2, [1]), (5, [1]), (6, [0, 1]), (9, [0, 1]), (10, [0, 1, 2])]
)
def test_trips_are_few_below_k_and_exact_ones_are_a_fact_of_few_people(k: int, few: list[int]) -> None:
    assert [fact.atoms.tolist() for fact in bounded(ATOMS, ALL, k)] == [[atom] for atom in few]
