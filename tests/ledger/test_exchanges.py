"""Exchanges: what is met without any programme is possible, and what tables leave possible is met."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.ledger.test_bounds import crossing
from tests.ledger.test_rooms import K, Part, a_part, atoms_of_parts

from oracles import differencing as oracle
from tripcloak.ledger import bounds
from tripcloak.ledger._kernels import exchanging
from tripcloak.ledger.atoms import Atoms
from tripcloak.ledger.bounds import Parts, Together, shuttled


def exchanged(atoms: Atoms, asked: np.ndarray, k: int = K) -> tuple[Together, np.ndarray]:
    span = shuttled(atoms)
    together = Together(atoms, Parts.of(atoms, span), asked, span)
    return together, together.exchange(asked, k)


def are_possible(atoms: Atoms, asked: np.ndarray, k: int = K) -> bool:
    """Return whether whatever was met is in some solution, of all that there are."""
    together, empty = exchanged(atoms, asked, k)
    solutions = oracle.met_by_exchanges(atoms)
    inside = np.all((solutions.min(axis=0) <= together.low) & (together.high <= solutions.max(axis=0)))
    at_once = [
        np.any(np.all(solutions[:, (together.part == part) & asked & (together.high < k)] == 0, axis=1))
        for part in np.unique(together.part[empty])
    ]
    return bool(inside) and all(at_once) and not np.any(empty & ~asked)


@given(a_part(), st.data())
def test_only_what_fits_all_sums_is_met(part: Part, data: st.DataObject) -> None:
    n = len(part.trips)
    asked = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    assert are_possible(atoms_of_parts([part]), asked)


@given(a_part())
def test_numbers_that_are_alike_by_chance_prove_nothing(part: Part) -> None:
    with pytest.MonkeyPatch.context() as patched:
        # Now every pair of atoms seems to be in the groups of every other.
        patched.setattr(bounds, "numbers_of_unknowns", lambda n: np.zeros(n, dtype=np.uint64))
        assert are_possible(atoms_of_parts([part]), np.ones(len(part.trips), dtype=bool))


@pytest.mark.parametrize("rounded", [False, True])
@pytest.mark.parametrize("trips", [(2, 1, 1, 2), (1, 1, 1, 1), (3, 1, 2, 1), (1, 3, 3, 1)])
def test_whatever_two_by_two_sums_leave_possible_is_met(trips: tuple[int, ...], rounded: bool) -> None:
    slack = (1,) * 6 if rounded else (0,) * 6
    part = Part(((0, 0, -1), (0, 1, -1), (1, 0, -1), (1, 1, -1)), (*trips,), slack)
    atoms = atoms_of_parts([part])
    together, _ = exchanged(atoms, np.ones(4, dtype=bool), 9)
    exact = atoms_of_parts([part._replace(slack=(0,) * 6)])
    solutions = oracle.met_by_exchanges(exact)
    assert together.low.tolist() == solutions.min(axis=0).tolist()
    assert together.high.tolist() == solutions.max(axis=0).tolist()


def test_those_of_a_part_that_can_be_empty_at_once_are_told() -> None:
    # The diagonal of the first table is asked for, of the second both of a row: those are never empty.
    asked = np.array([1, 0, 0, 1, 1, 1, 0, 0], dtype=bool)
    _, empty = exchanged(crossing(tables=2, each=1), asked, 3)
    assert empty.tolist() == [True, False, False, True] + [False] * 4


def test_one_that_holds_enough_somewhere_need_not_be_empty() -> None:
    asked = np.array([1, 1, 0, 0], dtype=bool)
    together, empty = exchanged(crossing(tables=1, each=1), asked, 2)
    assert (together.high.tolist(), empty.tolist()) == ([2, 2, 2, 2], [True, True, False, False])


@pytest.mark.parametrize("n", [3, exchanging.MANY, bounds.WIDE])
def test_atoms_of_the_same_sums_hold_all_or_nothing_however_many(n: int) -> None:
    # One release tells what they hold in all; the other tells no trips.
    atoms = Atoms(
        group=np.column_stack([np.zeros(n, dtype=int), np.arange(1, n + 1)]),
        trips=np.ones(n, dtype=int),
        published=np.append(n, np.zeros(n, dtype=int)),
        adds_up=np.array([True, False]),
        seen=np.arange(n),
        seen_by=np.arange(n),
        start=np.array([0, 1, n + 1]),
    )
    asked = np.zeros(n, dtype=bool)
    asked[:2] = True
    together, _ = exchanged(atoms, asked, n)
    assert (together.low[:2].tolist(), together.high[:2].tolist()) == ([0, 0], [n, n])
