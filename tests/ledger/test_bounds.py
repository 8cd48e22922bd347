"""Bounds on atoms, one at a time: which are looked at, what is proven of them, and from what."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

from tripcloak.ledger import bounds
from tripcloak.ledger.atoms import Atoms
from tripcloak.ledger.bounds import Span, shuttled, tightened
from tripcloak.ledger.facts import Fact, Term

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


def bounded(atoms: Atoms, asked: np.ndarray, k: int) -> list[Fact]:
    return bounds.bounded(atoms, tightened(atoms, shuttled(atoms), asked, k), asked, k)


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


@pytest.mark.parametrize(("wide", "solved"), [(4, [True, True]), (3, [True, True]), (2, [False, False])])
def test_in_parts_that_are_too_wide_nothing_is_looked_at(
    monkeypatch: pytest.MonkeyPatch, wide: int, solved: list[bool]
) -> None:
    monkeypatch.setattr(bounds, "SMALL", 2)
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


def crossing(tables: int, each: int) -> Atoms:
    """Return atoms of two releases whose groups cross two by two, each corner of as many trips."""
    rows, columns = np.repeat(np.arange(2 * tables), 2), np.tile([0, 1], 2 * tables)
    columns += np.repeat(2 * np.arange(tables), 4)
    n = 4 * tables
    return Atoms(
        group=np.column_stack([rows, 2 * tables + columns]),
        trips=np.full(n, each),
        published=np.full(n, 2 * each),
        seen=np.arange(n),
        seen_by=np.arange(n),
        start=np.array([0, 2 * tables, n]),
    )


def rings(number: int, each: int) -> Atoms:
    """Return atoms of two releases, six of as many trips in a ring, of which no two can be for two others."""
    row, column = np.array([[0, 0], [0, 1], [1, 1], [1, 2], [2, 2], [2, 0]]).T
    shift, n = np.repeat(3 * np.arange(number), 6), 6 * number
    row, column = np.tile(row, number) + shift, np.tile(column, number) + shift
    return Atoms(
        group=np.column_stack([row, 3 * number + column]),
        trips=np.full(n, each),
        published=np.full(n, 2 * each),
        seen=np.arange(n),
        seen_by=np.arange(n),
        start=np.array([0, 3 * number, n]),
    )


@pytest.mark.parametrize(
    ("atoms", "k", "programmes"),
    [
        # In whatever corner of its solutions a ring is, three of its atoms are empty and three hold all.
        (rings(2, each=4), 5, [12]),
        # With a k that no corner can hold, the other three of each are still to be seen empty.
        (rings(2, each=4), 9, [12, 12]),
        # Where two may be for two others, exchanges say as much, and nothing is asked for.
        (crossing(tables=3, each=4), 5, []),
        (crossing(tables=3, each=4), 9, []),
    ],
    ids=["rings", "rings-that-hold-too-few", "crossing", "crossing-that-holds-too-few"],
)
def test_what_one_solution_refutes_is_not_asked_for_again(
    atoms: Atoms, k: int, programmes: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked_for = []

    def counted(cost: np.ndarray, **more) -> object:
        asked_for.append(len(cost))
        return linprog(cost, **more)

    monkeypatch.setattr(bounds, "linprog", counted)
    assert bounded(atoms, np.ones(12, dtype=bool), k) == []
    assert asked_for == programmes


def test_parts_are_whole_in_every_programme(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "AT_ONCE", 5)
    atoms = crossing(tables=3, each=4)
    span = tightened(atoms, Span(np.ones(12, dtype=int), np.full(12, 7)), np.ones(12, dtype=bool), 7)
    assert [bound.tolist() for bound in span] == [[1] * 12, [7] * 12]
    inner = tightened(atoms, Span(np.full(12, 0), np.full(12, 5)), np.ones(12, dtype=bool), 6)
    assert [bound.tolist() for bound in inner] == [[3] * 12, [5] * 12]


def test_only_where_fractions_of_trips_fit_best_are_whole_ones_looked_for() -> None:
    # All six of one part hold 17, and some of them 12, 11 and 15: the last holds ten and a half at most, and
    # in whole trips ten. Among them lie the corners of a table, where no fraction is better.
    six, corners = [0, 1, 2, 3, 4, 9], [5, 6, 7, 8]
    group = np.full((10, 6), -1)
    inside = np.array([[1, 0, 0, 1], [1, 0, 1, 0], [1, 0, 1, 1], [1, 1, 0, 0], [1, 1, 0, 1], [1, 1, 1, 1]])
    group[six, :4] = np.where(inside, [0, 1, 2, 3], -1)
    group[corners, 4:] = [[4, 6], [4, 7], [5, 6], [5, 7]]
    atoms = Atoms(
        group=group,
        trips=np.array([2, 1, 2, 1, 3, 5, 4, 5, 4, 8]),
        published=np.array([17, 12, 11, 15, 9, 9, 10, 8]),
        seen=np.arange(10),
        seen_by=np.arange(10),
        start=np.array([0, 1, 2, 3, 4, 6, 8]),
    )
    asked = np.isin(np.arange(10), (5, 9))
    least, most = tightened(atoms, Span(np.zeros(10, dtype=int), np.full(10, 99)), asked, 14)
    assert (least[asked].tolist(), most[asked].tolist()) == ([1, 6], [9, 10])
