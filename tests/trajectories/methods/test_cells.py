"""Cells and slots: visits are those of a plain count, in any order of cells and at any length of a slot."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles.trajectories import visits as plain
from tripcloak.ground.errors import InputError
from tripcloak.trajectories.methods.cells import Lattice, check_lengths, codes_of, visits
from tripcloak.trajectories.model import Grid, Trajectories


@given(st.integers(0, 10**6), st.integers(1, 40), st.sampled_from([1, 3, 1000, 2**20]))
@settings(max_examples=60, deadline=None)
def test_visits_are_those_of_a_plain_count(seed: int, samples: int, reach: int) -> None:
    dice = np.random.default_rng(seed)
    t = np.sort(dice.integers(0, 60, (3, samples)), axis=1).ravel()
    x, y = dice.integers(-reach, reach, (2, 3 * samples))
    made = Trajectories.of(user=np.repeat(np.arange(3), samples), t=t, x=x, y=y, grid=Grid())
    lattice = Lattice(cell=2, slot=20, first=7)
    found = visits(made, lattice, of_samples=True)
    slot, *cells = (lattice.slots(made.t), lattice.cells(made.x), lattice.cells(made.y))
    expected, of_sample = plain.most_visited(*(column.tolist() for column in (made.owner, slot, *cells)))
    assert list(zip(*(column.tolist() for column in found[:4]), strict=True)) == expected
    assert found.of_sample.tolist() == of_sample


def test_of_cells_with_as_many_samples_the_first_one_counts_though_another_had_as_many_sooner() -> None:
    made = Trajectories.of(user=[0] * 5, t=range(5), x=[1, 9, 9, 1, 5], y=[0] * 5, grid=Grid())
    found = visits(made, Lattice(cell=1, slot=60, first=0), of_samples=True)
    assert (found.x.tolist(), found.of_sample.tolist()) == ([1], [0, -1, -1, 0, -1])


@given(st.integers(0, 10**6), st.lists(st.sampled_from([1, 2, 2**31, 2**62]), min_size=1, max_size=4))
@settings(max_examples=60, deadline=None)
def test_equal_rows_have_one_code_and_no_others_however_far_apart(seed: int, reach: list[int]) -> None:
    dice = np.random.default_rng(seed)
    columns = [dice.choice(dice.integers(-far, far, 3), 20) for far in reach]
    rows = list(zip(*(column.tolist() for column in columns), strict=True))
    expected = {row: code for code, row in enumerate(sorted(set(rows)))}
    assert codes_of(*columns).tolist() == [expected[row] for row in rows]


def test_cells_wider_than_the_earth_and_slots_of_centuries_are_refused_in_words() -> None:
    check_lengths(40_000_000, 1_000_000_000)
    for lengths in ((40_000_001, 60), (100, 1_000_000_001)):
        with pytest.raises(InputError, match="once around the earth"):
            check_lengths(*lengths)
