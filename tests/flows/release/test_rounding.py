"""Rounded numbers are multiples around the true ones, and so are their sums; a secret decides which."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from hashlib import shake_256
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles.flows.rounding import all_roundings, turn_cycles
from tripcloak.flows.measures import rounding_error
from tripcloak.flows.methods import ODkAnon
from tripcloak.flows.model import ODMatrix
from tripcloak.flows.release import Release, published_numbers, released_zones
from tripcloak.flows.release import rounding as rounding_module
from tripcloak.flows.release.publication import publication
from tripcloak.flows.release.rounding import (
    RoundTo,
    controlled,
    one_by_one,
    refuse_numbers,
    refuse_rounding,
    rounded_release,
)
from tripcloak.ground.errors import InputError, InternalError
from tripcloak.hierarchy import Hierarchy
from tripcloak.promises import KAnonymity, Promise, Rounding, TCloseness, all_of

TEN = KAnonymity(k=10, unit="trips")
TO_FIVE = RoundTo(5, "a secret of these tests")


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[int], list[int], list[int], int]:
    """Draw numbers with their rows and columns, some of the same, and a base."""
    n = draw(st.integers(0, 14))
    column = st.lists(st.integers(0, 3), min_size=n, max_size=n)
    numbers = draw(st.lists(st.integers(0, 40), min_size=n, max_size=n))
    return numbers, draw(column), draw(column), draw(st.integers(2, 12))


@given(tables(), st.binary(max_size=8))
def test_numbers_and_sums_become_one_of_the_two_multiples_around_them(
    table: tuple[list[int], list[int], list[int], int], key: bytes
) -> None:
    numbers, rows, columns, base = table
    told = controlled(np.array(numbers, int), np.array(rows, int), np.array(columns, int), base, key)
    assert not np.any(told % base)
    error = told - np.array(numbers, int)
    sums = [error, np.bincount(rows, error), np.bincount(columns, error), np.array([error.sum()])]
    assert all(np.abs(one).max(initial=0) < base for one in sums)


@given(tables(), st.binary(max_size=8))
def test_the_compiled_walk_is_the_plain_one(
    table: tuple[list[int], list[int], list[int], int], key: bytes
) -> None:
    numbers, rows, columns, base = table
    residue = np.array([number % base for number in numbers], int)
    graph = rounding_module._Graph.of(residue, np.array(rows, int), np.array(columns, int), base)

    def words() -> Iterator[int]:
        for batch in rounding_module._random_words(key, 1 << 10):
            yield from batch.tolist()

    edges = list(zip(graph.tail.tolist(), graph.head.tolist(), strict=True))
    plain = turn_cycles(edges, graph.residue.tolist(), base, graph.nodes, words())
    graph.settle(key)
    assert graph.residue.tolist() == plain


def test_words_that_run_out_are_followed_by_others(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(5)
    table = rng.integers(10, 90, 300), rng.integers(0, 9, 300), rng.integers(0, 9, 300)
    at_once = controlled(*table, 7, b"key")
    asked = rounding_module._random_words
    calls = []

    def few(key: bytes, number: int) -> Iterator[Any]:
        for batch in asked(key, number):
            for at in range(0, number, 16):
                calls.append(at)
                yield batch[at : at + 16]

    monkeypatch.setattr(rounding_module, "_random_words", few)
    told = controlled(*table, 7, b"key")
    assert len(calls) > 10
    # A walk that is broken off leaves at most one word of a batch unused, so another one comes out.
    error = told - table[0]
    assert max(np.abs(np.bincount(side, error)).max() for side in table[1:]) < 7
    assert not np.any(told % 7)
    assert not np.array_equal(at_once, table[0])


def test_every_rounding_that_fits_comes_out_and_each_number_is_right_on_average() -> None:
    numbers, rows, columns = [12, 13, 14, 11, 16], [0, 0, 1, 1, 1], [0, 1, 0, 1, 2]
    keys = [number.to_bytes(4, "big") for number in range(3000)]
    arrays = [np.array(one) for one in (numbers, rows, columns)]
    told = [tuple(controlled(*arrays, 5, key).tolist()) for key in keys]
    assert set(told) == all_roundings(numbers, rows, columns, 5)
    # The standard error of a mean is below 0.05.
    assert np.abs(np.mean(told, axis=0) - numbers).max() < 0.25


@pytest.fixture(scope="module")
def release() -> Release:
    tree = Hierarchy.from_parents(["a", "b", "c", "ab", "all"], [3, 3, 4, 4, -1])
    rng = np.random.default_rng(2)
    ends = [rng.choice(3, 400, p=(0.5, 0.3, 0.2)) for _ in range(2)]
    matrix = ODMatrix.from_trips(tree, tree, *ends)
    return ODkAnon(promise=TEN, suppression_limit=0).anonymise(matrix)


def test_a_release_tells_multiples_alone_and_sums_of_them(release: Release) -> None:
    made = rounded_release(release, TO_FIVE)
    told = published_numbers(made)
    assert list(told) == ["trips"]
    assert not np.any(told["trips"] % 5)
    assert told["trips"].min() >= 10
    for side in released_zones(made):
        assert side.volumes["trips"].sum() == told["trips"].sum()
    assert (made.trips == release.trips).all(), "the true numbers stay, for measures and audits"
    error = told["trips"] - release.trips
    found = rounding_error(made)
    zones = [np.abs(np.bincount(side, error)).max() for side in (made.group_origin, made.group_destination)]
    assert found == (np.abs(error).mean(), max(zones), abs(error.sum()))


def test_equal_data_and_secret_give_equal_numbers_and_another_secret_others(release: Release) -> None:
    one = rounded_release(release, TO_FIVE).rounded
    assert one is not None
    order = np.arange(release.n_groups)[::-1]
    turned = replace(
        release,
        **{name: getattr(release, name)[order] for name in ("group_origin", "group_destination", "trips")},
    )
    again = rounded_release(turned, TO_FIVE).rounded
    assert again is not None
    assert again[order].tolist() == one.tolist(), "the order of groups does not matter"
    others = [rounded_release(release, RoundTo(5, f"another secret {n}")).rounded for n in range(5)]
    assert any(np.any(other != one) for other in others)
    changed = [rounded_release(replace(release, input_digest=str(n)), TO_FIVE).rounded for n in range(5)]
    assert any(np.any(other != one) for other in changed), "other data are rounded by themselves"
    assert "secret of these" not in repr(TO_FIVE)


def test_a_number_that_was_told_before_stays(release: Release) -> None:
    kept = np.full(release.n_groups, -1)
    kept[0] = release.trips[0] // 5 * 5 + 5
    made = rounded_release(release, TO_FIVE, kept)
    assert made.rounded is not None
    assert made.rounded[0] == kept[0]
    assert made.promise.rounding == Rounding(base=5, sums=False)
    assert np.abs(made.rounded - release.trips)[1:].max() < 5
    assert not np.any(made.rounded % 5)


def test_numbers_that_are_rounded_one_by_one_are_right_on_average() -> None:
    numbers = np.array([10, 11, 12, 13, 14, 15])
    told = np.array([one_by_one(numbers, 5, number.to_bytes(4, "big")) for number in range(3000)])
    assert np.abs(told - numbers).max() == 4
    assert np.abs(told.mean(axis=0) - numbers).max() < 0.25
    assert set(told[:, 0]) == {10}


def test_nothing_is_published_exactly_by_mistake(release: Release) -> None:
    made = rounded_release(release, TO_FIVE)
    with pytest.raises(InternalError):
        made.publication.rounded("trips", made.trips)
    with pytest.raises(InternalError):
        made.published("travellers")
    with pytest.raises(InternalError):
        replace(made, rounded=None).published("trips")


POPULATION = KAnonymity(k=10, unit="population")


@pytest.mark.parametrize(
    ("promise", "base", "words"),
    [
        (TEN, 4, r"Take a base that divides k \(2, 5, 10\): round=2$"),
        (TEN, 20, r"Take a base that divides k \(2, 5, 10\): round=10$"),
        (POPULATION, 5, "population alone is protected"),
        (all_of([TEN, TCloseness(t=0.5)]), 5, "does not go with"),
    ],
    ids=str,
)
def test_what_cannot_be_rounded_is_refused(promise: Promise, base: int, words: str) -> None:
    with pytest.raises(InputError, match=words):
        refuse_rounding(promise, base)
    with pytest.raises(InputError, match=words):
        refuse_numbers(promise, "rounded", RoundTo(base, "secret"))


def test_the_largest_threshold_on_people_or_trips_counts() -> None:
    both = all_of([KAnonymity(k=10, unit="travellers"), KAnonymity(k=12, unit="trips")])
    refuse_rounding(both, 4)
    with pytest.raises(InputError, match="k = 12"):
        refuse_rounding(both, 5)


@pytest.mark.parametrize("base", [1, 10**6 + 1])
def test_bases_are_whole_numbers_within_reason(base: int) -> None:
    with pytest.raises(InputError, match="from 2 to 1,000,000"):
        RoundTo(base, "a secret")


@pytest.mark.parametrize(("publish", "words"), [("both", "trips alone"), ("travellers", "trips alone")])
def test_other_numbers_are_not_told_beside_rounded_ones(publish: Any, words: str) -> None:
    people = KAnonymity(k=10, unit="travellers")
    promise = all_of([people, Rounding(base=5)])
    with pytest.raises(InputError, match=words):
        publication(promise, "trips", publish)
    assert publication(promise, "trips", "rounded").columns == ("trips",)
    weighed = all_of([people, POPULATION, Rounding(base=5)])
    with pytest.raises(InputError, match="leaves the population out"):
        publication(weighed, "trips", "rounded")
    assert publication(weighed, "trips", "trips").columns == ("trips",)


def test_every_number_has_a_word_of_its_own_that_follows_from_the_key() -> None:
    numbers = np.arange(100, 140)
    words = np.frombuffer(shake_256(b"key" + bytes(8)).digest(160), dtype="<u4").astype(object)
    expected = [
        int(n) - int(n) % 5 + (5 if int(word) * 5 // 2**32 < int(n) % 5 else 0)
        for n, word in zip(numbers, words, strict=True)
    ]
    assert one_by_one(numbers, 5, b"key").tolist() == expected
    assert one_by_one(numbers[:0], 5, b"key").tolist() == []


@pytest.mark.parametrize(("base", "allowed"), [(1, False), (2, True), (10**6, True), (10**6 + 1, False)])
def test_numbers_are_rounded_to_two_and_up_to_a_million(base: int, allowed: bool) -> None:
    if allowed:
        assert RoundTo(base, "a secret that nobody knows").base == base
        return
    with pytest.raises(InputError, match="from 2 to 1,000,000"):
        RoundTo(base, "a secret that nobody knows")
