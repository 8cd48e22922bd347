"""The compiled loops of the attacks, one by one, against their plain twins."""

from __future__ import annotations

from itertools import accumulate
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles.trajectories import attacks as oracle
from tripcloak.ground.arrays import to_read
from tripcloak.trajectories.attacks._kernels import originals, releases

HELD = st.dictionaries(st.integers(0, 4), st.integers(1, 3).map(float), min_size=1)
PEOPLE = st.lists(HELD, min_size=1, max_size=7)
SEQUENCES = st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=5), min_size=1, max_size=7)
FEW = settings(max_examples=80, deadline=None)


def holders(people: list[oracle.Held]) -> tuple[Any, Any, Any]:
    """Return where the people with each place begin, who they are, and what they have of it."""
    having = [[(i, held[place]) for i, held in enumerate(people) if place in held] for place in range(5)]
    rows = [row for some in having for row in some]
    bounds = np.array([0, *accumulate(map(len, having))])
    return bounds, np.array([i for i, _ in rows], np.int32), np.array([value for _, value in rows])


def columns_of(held: oracle.Held) -> tuple[Any, Any]:
    return np.array(sorted(held)), np.array([held[place] for place in sorted(held)])


def sets_in(rows: Any) -> list[set[int]]:
    """Return the bits that are set, row by row."""
    whole = [sum(int(word) << 64 * w for w, word in enumerate(row)) for row in rows]
    return [{bit for bit in range(number.bit_length()) if number >> bit & 1} for number in whole]


@given(PEOPLE, st.integers(1, 6), st.sampled_from([-2.0, -1.0, 0.0, 0.4]))
@FEW
def test_everybody_who_has_an_item_is_marked(people: list[oracle.Held], known: int, tolerance: float) -> None:
    mine = dict(sorted(people[0].items()))
    told, seats = holders(people), np.full(len(people), -1, np.int32)
    rows, starts = originals.mark_having(*columns_of(mine), *told, known, tolerance, seats)
    assert (seats == -1).all()
    # People are numbered as they come up, place by place.
    number = dict.fromkeys(i for place in mine for i, held in enumerate(people) if place in held)
    numbered = {who: at for at, who in enumerate(number)}
    expected = oracle.mark_having(mine, people, known, tolerance)
    assert starts.tolist() == [0, *accumulate(map(len, expected))]
    assert sets_in(rows) == [{numbered[i] for i in some} for item in expected for some in item]


@st.composite
def nested_sets(draw: st.DrawFn) -> list[list[set[int]]]:
    """Return the sets of some items, each set within the one before; of up to 70 people, so two words."""
    some = st.sets(st.sampled_from([0, 1, 2, 3, 63, 64, 69]))
    items = draw(st.lists(st.lists(some, min_size=1, max_size=3), min_size=1, max_size=5))
    return [[set.intersection(*sets[: n + 1]) for n in range(len(sets))] for sets in items]


@given(nested_sets(), st.integers(1, 6))
@FEW
def test_the_fewest_in_common_are_found(items: list[list[set[int]]], known: int) -> None:
    known = min(known, sum(map(len, items)))
    rows = np.array(
        [[sum(1 << b % 64 for b in some if b // 64 == w) for w in (0, 1)] for sets in items for some in sets],
        np.uint64,
    )
    starts = np.array([0, *accumulate(map(len, items))])
    assert originals.least_common(rows, starts, known) == oracle.least_common(items, known)


@given(PEOPLE, st.integers(1, 4), st.sampled_from([0.0, 0.25, 0.5]))
@FEW
def test_the_fewest_in_proportion_are_found(people: list[oracle.Held], known: int, tolerance: float) -> None:
    mine = people[0]
    known = min(known, len(mine))
    seats = np.full(len(people), -1, np.int32)
    found = originals.least_proportional(*columns_of(mine), *holders(people), known, tolerance, seats)
    assert found == oracle.least_proportional(mine, people, known, tolerance)
    assert (seats == -1).all()


@given(SEQUENCES, st.integers(1, 4))
@FEW
def test_the_fewest_who_follow_are_found(people: list[list[int]], known: int) -> None:
    offsets = to_read(np.array([0, *accumulate(map(len, people))]))
    keys = [sorted(place * originals.WIDTH + at + 1 for at, place in enumerate(one)) for one in people]
    by_code, whose, _ = holders([dict.fromkeys(one, 1.0) for one in people])
    mine, known = people[0], min(known, len(people[0]))
    told = (offsets, np.concatenate([np.array(one) for one in people]), np.concatenate(keys), by_code, whose)
    found = originals.least_following(0, np.array(sorted(set(mine))), *told, known)
    assert found == oracle.least_following(mine, people, known)


@given(PEOPLE, st.lists(st.lists(st.integers(0, 4), min_size=1, max_size=4), min_size=1, max_size=5))
@FEW
def test_those_who_have_everything_are_counted(people: list[oracle.Held], queries: list[list[int]]) -> None:
    by_code, whose, _ = holders(people)
    found = originals.count_having(
        np.array([0, *accumulate(map(len, queries))]),
        np.concatenate([np.array(query) for query in queries]),
        by_code,
        whose,
        np.array([0, *accumulate(map(len, people))]),
        np.concatenate([np.array(sorted(held)) for held in people]),
    )
    assert found.tolist() == oracle.count_having(queries, [set(held) for held in people])


@st.composite
def released(draw: st.DrawFn) -> list[list[tuple[int, ...]]]:
    """Return the boxes of some released trajectories, by time and apart from each other."""
    edges = st.tuples(st.integers(0, 4), st.integers(1, 3)).map(lambda side: (side[0], sum(side)))
    made = []
    for _ in range(draw(st.integers(1, 5))):
        times = sorted(draw(st.sets(st.integers(0, 20), min_size=2, max_size=7)))
        spans = list(zip(times[::2], times[1::2], strict=False))
        made.append([(*span, *draw(edges), *draw(edges)) for span in spans])
    return made


def boxes_of(release: list[list[tuple[int, ...]]]) -> tuple[Any, Any, Any]:
    """Return where each trajectory's boxes begin, the boxes, and the frame around them."""
    starts = to_read(np.array([0, *accumulate(map(len, release))]))
    boxes = np.array([box for one in release for box in one], np.int32)
    frames = [[f(box[side] for box in one) for side, f in enumerate((min, max) * 3)][2:] for one in release]
    return starts, boxes, np.array(frames)


PLACE = st.tuples(st.integers(0, 6), st.integers(0, 6))


@given(released(), st.lists(st.tuples(PLACE, st.integers(0, 20), st.integers(1, 9)), min_size=1, max_size=6))
@FEW
def test_boxes_over_what_is_known_are_marked(release: list[list[tuple]], drawn: list[tuple]) -> None:
    known = [(*place, begin, begin + length) for place, begin, length in drawn]
    starts, boxes, frames = boxes_of(release)
    rows = releases.mark_covering(np.array(known), starts, boxes, frames)
    assert sets_in(rows) == oracle.mark_covering(known, release)


@given(released(), st.lists(PLACE, min_size=1, max_size=5), st.integers(1, 4))
@FEW
def test_the_fewest_who_may_pass_are_found(release: list[list[tuple]], mine: list[tuple], known: int) -> None:
    known = min(known, len(mine))
    different = sorted(set(mine))
    x, y = np.array(different).T.copy()
    starts, boxes, _ = boxes_of(release)
    order = np.array([different.index(place) for place in mine])
    found = releases.least_passing(x, y, order, starts, boxes, np.arange(len(release)), known)
    assert found == oracle.least_passing(mine, release, known)
