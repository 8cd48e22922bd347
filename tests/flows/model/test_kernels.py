"""The compiled loops of the matrix room: compiled, uncompiled and plain agree."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles.flows import kernels as oracle
from tripcloak.flows.model import _kernels
from tripcloak.ground.arrays import to_read

# Keys that collide in a small table, keys at the ends of 64 bits, and the one value that is no key.
keys = st.lists(
    st.one_of(
        st.integers(-1, 12),
        st.integers(0, 40).map(lambda i: i << 40),
        st.sampled_from([2**63 - 1, -(2**63), -2]),
        st.integers(-(2**63), 2**63 - 1),
    ),
    max_size=60,
)


def forms(name: str) -> pytest.MarkDecorator:
    """Run a test with the compiled kernel and with the same code uncompiled."""
    kernel = getattr(_kernels, name)
    return pytest.mark.parametrize("kernel", [kernel, kernel.py_func], ids=["compiled", "uncompiled"])


@forms("number_into")
@given(batches=st.lists(keys, max_size=4), size=st.sampled_from([256, 512]))
def test_number_into_goes_on_where_it_stopped(kernel: Any, batches: list[list[int]], size: int) -> None:
    slot_key, slot_number = np.full(size, -1, np.int64), np.empty(size, np.int32)
    found, n = np.empty(size - 1, np.int64), 0
    known: list[int] = []
    for batch in batches:
        number = np.empty(len(batch), np.int32)
        with np.errstate(over="ignore"):
            n = kernel(np.array(batch, dtype=np.int64), slot_key, slot_number, found, n, number)
        expected, known = oracle.number_into(batch, known)
        assert (number.tolist(), found[:n].tolist()) == (expected, known)


@forms("look_up")
@given(known=keys, wanted=keys)
def test_look_up_finds_what_was_numbered(kernel: Any, known: list[int], wanted: list[int]) -> None:
    slot_key, slot_number = np.full(64, -1, np.int64), np.empty(64, np.int32)
    found, number = np.empty(63, np.int64), np.empty(len(known), np.int32)
    n = _kernels.number_into(np.array(known, dtype=np.int64), slot_key, slot_number, found, 0, number)
    with np.errstate(over="ignore"):
        answer = kernel(np.array([*known, *wanted], dtype=np.int64), slot_key, slot_number)
    assert answer.tolist() == oracle.look_up([*known, *wanted], found[:n].tolist())


@forms("number_into")
def test_number_into_fills_the_table_to_the_last_free_slot(kernel: Any) -> None:
    slot_key, slot_number = np.full(8, -1, np.int64), np.empty(8, np.int32)
    found, number = np.empty(7, np.int64), np.empty(7, np.int32)
    with np.errstate(over="ignore"):
        assert kernel(np.arange(7), slot_key, slot_number, found, 0, number) == 7
        assert number.tolist() == found.tolist() == list(range(7))
        assert kernel(np.array([99]), slot_key, slot_number, found, 7, number[:1]) == -1


@st.composite
def people_in_groups(draw: st.DrawFn) -> tuple[list[int], int, list[list[int]]]:
    """Return the group of every flow, how many groups there are, and the people of every flow."""
    n_groups = draw(st.integers(1, 5))
    flow = st.tuples(
        st.integers(-1, n_groups - 1), st.lists(st.integers(0, 12), unique=True, max_size=8).map(sorted)
    )
    flows = draw(st.lists(flow, max_size=12))
    return [group for group, _ in flows], n_groups, [people for _, people in flows]


@forms("distinct_up_to")
@given(drawn=people_in_groups(), cap=st.integers(1, 12))
def test_distinct_up_to(kernel: Any, drawn: tuple[list[int], int, list[list[int]]], cap: int) -> None:
    group, n_groups, people = drawn
    offsets = np.concatenate(([0], np.cumsum([len(some) for some in people]))).astype(np.int64)
    everyone = np.array([person for some in people for person in some], dtype=np.int32)
    found = kernel(np.array(group, dtype=np.int32), n_groups, offsets, everyone, cap)
    assert found.tolist() == oracle.distinct_up_to(group, n_groups, people, cap)


@forms("people_up_to")
@given(drawn=people_in_groups(), cap=st.integers(1, 12))
def test_people_up_to(kernel: Any, drawn: tuple[list[int], int, list[list[int]]], cap: int) -> None:
    group, n_groups, people = drawn
    offsets = np.concatenate(([0], np.cumsum([len(some) for some in people]))).astype(np.int64)
    everyone = np.array([person for some in people for person in some], dtype=np.int32)
    whose, who = kernel(np.array(group, dtype=np.int32), n_groups, offsets, everyone, cap)
    found = list(zip(whose.tolist(), who.tolist(), strict=True))
    assert found == oracle.people_up_to(group, n_groups, people, cap)


@given(drawn=people_in_groups(), edge=st.integers(0, 12))
@pytest.mark.parametrize("compiled", [True, False], ids=["compiled", "uncompiled"])
def test_people_of_groups_are_counted(
    compiled: bool, drawn: tuple[list[int], int, list[list[int]]], edge: int
) -> None:
    kernels = _kernels.people_met, _kernels.people_of_groups, _kernels.count_sorted
    met, listed, count = kernels if compiled else [kernel.py_func for kernel in kernels]
    group, n_groups, people = drawn
    edge = min(edge, n_groups)
    of_flow = np.array(group, dtype=np.int32)
    offsets = np.concatenate(([0], np.cumsum([len(some) for some in people]))).astype(np.int64)
    everyone = np.array([person for some in people for person in some], dtype=np.int32)
    sizes = met(of_flow, offsets, n_groups)
    assert sizes.tolist() == oracle.people_met(group, n_groups, people)
    found = np.zeros(n_groups, dtype=np.int64)
    for first, last in ((0, edge), (edge, n_groups)):
        keys = listed(of_flow, offsets, everyone, first, last, int(sizes[first:last].sum()))
        members = oracle.people_of_groups(group, people, first, last)
        assert keys.tolist() == [number << 32 | person for number, person in members]
        count(np.sort(keys), first, found)
        assert found[first:last].tolist() == oracle.count_sorted(members, last - first)


@forms("distinct_in_runs")
@given(drawn=people_in_groups(), cap=st.integers(1, 12), seed=st.integers(0, 99))
def test_distinct_in_runs(
    kernel: Any, drawn: tuple[list[int], int, list[list[int]]], cap: int, seed: int
) -> None:
    group, n_groups, people = drawn
    offsets = np.concatenate(([0], np.cumsum([len(some) for some in people]))).astype(np.int64)
    everyone = np.array([person for some in people for person in some], dtype=np.int32)
    # Flows of no group stand between the runs.
    order = np.random.default_rng(seed).permutation(len(group)).astype(np.int32)
    order = order[np.argsort(np.array(group, dtype=np.int64)[order], kind="stable")]
    first, last = (np.searchsorted(np.sort(group), np.arange(n_groups), side) for side in ("left", "right"))
    with np.errstate(over="ignore"):
        found = kernel(order, first, last, offsets, everyone, cap)
    runs = [order[a:b].tolist() for a, b in zip(first, last, strict=True)]
    assert found.tolist() == oracle.distinct_in_runs(runs, people, cap)


@forms("largest_in_runs")
@given(drawn=people_in_groups(), seed=st.integers(0, 99))
def test_largest_in_runs(kernel: Any, drawn: tuple[list[int], int, list[list[int]]], seed: int) -> None:
    group, n_groups, people = drawn
    offsets = np.concatenate(([0], np.cumsum([len(some) for some in people]))).astype(np.int64)
    everyone = np.array([person for some in people for person in some], dtype=np.int32)
    dice = np.random.default_rng(seed)
    order = dice.permutation(len(group)).astype(np.int32)
    order = order[np.argsort(np.array(group, dtype=np.int64)[order], kind="stable")]
    first, last = (np.searchsorted(np.sort(group), np.arange(n_groups), side) for side in ("left", "right"))
    parts = dice.integers(0, 5, len(everyone)).astype(np.float64)
    with np.errstate(over="ignore"):
        most, next_most = kernel(order, first, last, offsets, everyone, parts)
    runs = [order[a:b].tolist() for a, b in zip(first, last, strict=True)]
    of_flow = [parts[a:b].tolist() for a, b in pairwise(offsets)]
    assert (most.tolist(), next_most.tolist()) == oracle.largest_in_runs(runs, people, of_flow)


@forms("find_pairs")
@given(
    table=st.sets(st.tuples(st.integers(0, 6), st.integers(0, 6))).map(sorted),
    wanted=st.lists(st.tuples(st.integers(0, 6), st.integers(-1, 8))),
)
def test_find_pairs(kernel: Any, table: list[tuple[int, int]], wanted: list[tuple[int, int]]) -> None:
    firsts = np.array([first for first, _ in table], dtype=np.int64)
    offsets = np.searchsorted(firsts, np.arange(8))
    second = np.array([second for _, second in table], dtype=np.int32)
    a, b = map(to_read, np.array(wanted, dtype=np.int32).reshape(-1, 2).T)
    assert kernel(offsets, second, a, b).tolist() == oracle.find_pairs(table, wanted)


weights = st.lists(
    st.one_of(
        st.sampled_from([0.0, 0.1, 0.2, 0.3, 1.1, 2.7, 2674.2, 1e9 / 3]),
        st.integers(0, 10**6).map(float),
        st.floats(1e-3, 1e9),
    ),
    min_size=1,
    max_size=60,
)


@forms("sum_runs")
@given(values=weights, data=st.data())
def test_sums_of_runs_are_the_true_ones_rounded_down(kernel: Any, values: list[float], data: Any) -> None:
    starts = sorted({0, *data.draw(st.lists(st.integers(0, len(values) - 1), max_size=8))})
    assert kernel(np.array(values), np.array(starts)).tolist() == oracle.sum_runs(values, starts)


@forms("sum_runs")
@given(values=st.lists(st.floats(0, 1e300), min_size=1, max_size=20), data=st.data())
def test_a_sum_of_a_run_does_not_depend_on_the_order(kernel: Any, values: list[float], data: Any) -> None:
    other = data.draw(st.permutations(values))
    sums = [kernel(np.array(some), np.zeros(1, np.int64)).tolist() for some in (values, other)]
    assert sums[0] == sums[1] == kernel(np.array(sorted(values)), np.zeros(1, np.int64)).tolist()


@forms("starts_of_runs")
@given(rows=st.lists(st.integers(0, 40), max_size=30), bits=st.integers(0, 4))
def test_starts_of_runs(kernel: Any, rows: list[int], bits: int) -> None:
    found = kernel(np.array(sorted(rows), dtype=np.uint64), bits)
    assert found.tolist() == oracle.starts_of_runs(sorted(rows), bits)


@forms("people_of_runs")
@given(rows=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4)), max_size=30))
def test_people_of_runs_are_there_once(kernel: Any, rows: list[tuple[int, int]]) -> None:
    keys = sorted(pair << 3 | person for pair, person in rows)
    starts = oracle.starts_of_runs(keys, 3)
    found = kernel(np.array(keys, dtype=np.uint64), np.array(starts, dtype=np.int64), 3)
    assert tuple(column.tolist() for column in found) == oracle.people_of_runs(keys, starts, 3)


@forms("pieces_of")
@given(sizes=st.lists(st.integers(0, 4), max_size=6), picked=st.sets(st.integers(0, 5)))
def test_pieces_of_people(kernel: Any, sizes: list[int], picked: set[int]) -> None:
    offsets, rows = np.cumsum([0, *sizes]), [row for row in sorted(picked) if row < len(sizes)]
    first, edges = offsets[rows], np.cumsum([0, *(sizes[row] for row in rows)])
    values = np.arange(offsets[-1], dtype=np.int32) * 3
    expected = oracle.pieces_of(values.tolist(), first.tolist(), edges.tolist())
    assert kernel(values, first, edges).tolist() == expected


@forms("members_of")
@given(group=st.lists(st.integers(-1, 4), max_size=30))
def test_members_of_groups(kernel: Any, group: list[int]) -> None:
    found = kernel(np.array(group, dtype=np.int32), 5)
    assert tuple(column.tolist() for column in found) == oracle.members_of(group, 5)


@forms("sort_keys")
@given(found=st.lists(st.one_of(st.integers(0, 5), st.integers(0, 2**64 - 1)), max_size=60))
def test_keys_are_sorted_and_equal_ones_stay_in_their_order(kernel: Any, found: list[int]) -> None:
    bits = max(found, default=0).bit_length()
    ordered, row = kernel(np.array(found, dtype=np.uint64), bits)
    assert (ordered.tolist(), row.tolist()) == oracle.sort_keys(found)


@forms("sum_groups")
@given(values=weights, data=st.data())
def test_sums_of_groups_are_the_true_ones_rounded_down(kernel: Any, values: list[float], data: Any) -> None:
    size = len(values)
    group = data.draw(st.lists(st.integers(-1, 4), min_size=size, max_size=size))
    found = kernel(np.array(group, dtype=np.int32), np.array(values), 5)
    assert found.tolist() == oracle.sum_groups(group, values, 5)


@forms("sum_runs")
def test_a_sum_that_reaches_k_by_rounding_alone_does_not_reach_it(kernel: Any) -> None:
    """Nearly ten, eleven times: adding up in doubles gives the whole number, the truth is less."""
    values = np.array([10.0, *[2**-54] * 3, 1 - 2**-53, 9.0])
    assert values[4:].sum() == 10.0
    assert kernel(values, np.array([0, 4])).tolist() == [10.0, math.nextafter(10.0, 0.0)]


@forms("sum_groups")
@given(values=st.lists(st.floats(0, 1e300), min_size=1, max_size=20))
def test_no_sum_is_ever_too_large(kernel: Any, values: list[float]) -> None:
    """However far apart the values are: parts too small for any double are dropped, never made up."""
    (found,) = kernel(np.zeros(len(values), dtype=np.int32), np.array(values), 1)
    true = sum(map(Fraction, values))
    assert found <= true
    assert math.nextafter(math.nextafter(found, math.inf), math.inf) > true
