"""Scores against brute force over pairs and permutations, and against numpy's own."""

from __future__ import annotations

from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from numpy.typing import NDArray

from tripcloak.analysis import AgreementSpread, adjusted_rand, best_match, contingency, correlations, cosines

LABELS = st.integers(2, 9).flatmap(
    lambda n: st.tuples(*(st.lists(st.integers(0, 3), min_size=n, max_size=n) for _ in range(2)))
)
SHARES = st.floats(0, 1, width=32)


def plain_adjusted_rand(one: list[int], other: list[int]) -> float:
    """Return the index from all pairs of things and, for chance, all orders of one of the clusterings."""
    pairs = list(combinations(range(len(one)), 2))

    def together(first: list[int], second: list[int]) -> int:
        return sum(first[i] == first[j] and second[i] == second[j] for i, j in pairs)

    sizes = [together(labels, labels) for labels in (one, other)]
    expected = sizes[0] * sizes[1] / len(pairs)
    if sum(sizes) / 2 == expected:
        return 1.0
    return (together(one, other) - expected) / (sum(sizes) / 2 - expected)


@given(LABELS)
def test_the_adjusted_rand_index_is_that_of_all_pairs(labels: tuple[list[int], list[int]]) -> None:
    found = adjusted_rand(*map(np.array, labels))
    assert found == pytest.approx(plain_adjusted_rand(*labels))


@given(
    st.lists(st.integers(0, 2), min_size=4, max_size=6), st.lists(st.integers(0, 2), min_size=6, max_size=6)
)
def test_by_chance_the_index_is_zero_on_average(one: list[int], other: list[int]) -> None:
    """Over all orders of one clustering, which is what chance means here."""
    other = other[: len(one)]
    if len(set(one)) == 1 or len(set(other)) == 1 or len(one) in (len(set(one)), len(set(other))):
        return
    scores = [adjusted_rand(np.array(one), np.array(order)) for order in permutations(other)]
    assert np.mean(scores) == pytest.approx(0, abs=1e-9)


@given(LABELS, st.permutations(range(4)))
def test_the_index_does_not_look_at_names(labels: tuple[list[int], list[int]], names: list[int]) -> None:
    one, other = map(np.array, labels)
    assert adjusted_rand(one, np.array(names)[other]) == pytest.approx(adjusted_rand(one, other))
    assert adjusted_rand(one, np.array(names)[one]) == pytest.approx(1)


@given(LABELS)
def test_contingency_counts_things(labels: tuple[list[int], list[int]]) -> None:
    table = contingency(*map(np.array, labels), (4, 4))
    both = list(zip(*labels, strict=True))
    assert table.tolist() == [[both.count((i, j)) for j in range(4)] for i in range(4)]


@given(
    st.integers(1, 5).flatmap(
        lambda n: st.integers(n, 5).flatmap(lambda m: arrays.arrays(np.float64, (n, m), elements=SHARES))
    )
)
def test_the_match_is_the_best_of_all(similarity: NDArray[np.float64]) -> None:
    n, m = similarity.shape
    match = best_match(similarity)
    assert len(set(match.tolist())) == n
    best = max(sum(similarity[i, order[i]] for i in range(n)) for order in permutations(range(m), n))
    assert sum(similarity[i, match[i]] for i in range(n)) == pytest.approx(best)


def test_rows_that_are_too_many_stay_unmatched() -> None:
    assert sorted(best_match(np.array([[0.9], [0.1], [0.5]])).tolist()) == [-1, -1, 0]


@given(
    arrays.arrays(np.float64, (3, 6), elements=st.integers(0, 9)),
    arrays.arrays(np.float64, (3, 6), elements=st.integers(0, 9)),
)
def test_correlations_and_cosines_are_numpys(one: NDArray[np.float64], other: NDArray[np.float64]) -> None:
    found, angles = correlations(one, other), cosines(one, other)
    for row in range(3):
        if one[row].std() > 0 and other[row].std() > 0:
            assert found[row] == pytest.approx(np.corrcoef(one[row], other[row])[0, 1])
        else:
            assert found[row] == 0
        lengths = np.linalg.norm(one[row]) * np.linalg.norm(other[row])
        assert angles[row, row] == pytest.approx(one[row] @ other[row] / lengths if lengths else 0)


def test_a_profile_that_never_changes_says_nothing_whatever_its_last_digits() -> None:
    flat = np.full((1, 24), 0.1) + np.linspace(0, 1e-17, 24)
    assert correlations(flat, np.arange(24.0)[None, :]).tolist() == [0.0]


@given(st.lists(st.tuples(st.integers(-5, 5), st.integers(1, 4)), min_size=1, max_size=8))
def test_a_weighted_spread_is_that_of_repeated_values(pairs: list[tuple[int, int]]) -> None:
    values, weight = (np.array(column, dtype=float) for column in zip(*pairs, strict=True))
    found = AgreementSpread.of(values, weight)
    repeated = np.repeat(values, weight.astype(int))
    assert found.mean == pytest.approx(repeated.mean())
    exact = np.quantile(repeated, (0.05, 0.25, 0.5, 0.75, 0.95), method="inverted_cdf")
    assert found.quantiles == pytest.approx(tuple(exact))
