"""Numbering: one number a key, whatever the batches."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from oracles.flows import kernels as oracle
from tripcloak.flows.model import Numbering

NO_KEY = 2**64 - 1

key = st.one_of(st.integers(0, 30), st.integers(0, NO_KEY), st.just(NO_KEY))


@given(batches=st.lists(st.lists(key, max_size=40), max_size=6))
def test_keys_keep_their_numbers_from_batch_to_batch(batches: list[list[int]]) -> None:
    numbering = Numbering()
    known: list[int] = []
    for batch in batches:
        expected, known = oracle.number_into([-1 if one == NO_KEY else one for one in batch], known)
        assert numbering.add(np.array(batch, dtype=np.uint64)).tolist() == expected
        assert numbering.keys.tolist() == known
        assert len(numbering) == len(known)
        wanted = [key for batch in batches for key in batch]
        expected = oracle.look_up(wanted, known)
        assert numbering.find(np.array(wanted, dtype=np.uint64)).tolist() == expected


def test_a_large_batch_after_a_small_one_makes_room() -> None:
    numbering = Numbering()
    assert numbering.add(np.array([5], dtype=np.uint64)).tolist() == [0]
    many = np.arange(100_000, dtype=np.uint64)[::-1]
    number = numbering.add(many)
    assert len(numbering) == 100_000
    np.testing.assert_array_equal(numbering.keys[number], many)


def test_before_the_first_batch_there_is_no_key() -> None:
    numbering = Numbering()
    assert (len(numbering), numbering.keys.tolist()) == (0, [])
    assert numbering.find(np.array([3, NO_KEY], dtype=np.uint64)).tolist() == [-1, -1]
    assert numbering.add(np.array([], dtype=np.uint64)).tolist() == []
