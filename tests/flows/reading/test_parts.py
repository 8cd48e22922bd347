"""Rows are dealt out so that no pair and person is parted, and parts of a pair add up to what it is."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tripcloak.flows.model import Flows, TripEnds, flows_from_trips
from tripcloak.flows.reading.cluster.counting import FlowsPart, _weight_runs
from tripcloak.flows.reading.cluster.dealing import Parts
from tripcloak.flows.reading.cluster.merging import ascending_people, joined_flows
from tripcloak.flows.reading.cluster.parting import RowsOfRange, _flow_of
from tripcloak.flows.reading.cluster.seen import SAMPLED, Seen


@given(st.lists(st.integers(0, 6), min_size=1, max_size=60), st.integers(1, 9))
def test_parts_follow_the_order_of_pairs_and_keep_people_whole(pairs: list[int], each: int) -> None:
    pair = np.array(pairs)
    who = np.arange(len(pair)) * 7 % 5
    parts = Parts.of(pair, len(pair), each)
    part = parts.place(pair, who)
    assert part.min() >= 0
    assert part.max() < len(parts)
    among = parts.shared[part]
    order = np.argsort(pair, kind="stable")
    assert (np.diff(among[order]) >= 0).all(), "ranges ascend as pairs do"
    for number in range(len(parts)):
        here = np.unique(pair[part == number])
        widths = np.count_nonzero(parts.shared == parts.shared[number])
        assert widths == 1 or len(here) <= 1, "only a pair that is alone is shared out"
    together = {(p, w): {n} for p, w, n in zip(pairs, who.tolist(), part.tolist(), strict=True)}
    assert all(together[(p, w)] == {n} for p, w, n in zip(pairs, who.tolist(), part.tolist(), strict=True))


def test_a_crowded_pair_gets_as_many_parts_as_it_fills() -> None:
    pair = np.repeat([1, 2, 3], [100, 800, 100])
    parts = Parts.of(pair, len(pair), 100)
    sizes = np.bincount(parts.place(pair, np.arange(1000)), minlength=len(parts))
    assert len(parts) >= 10
    assert sizes.max() <= 200


@pytest.mark.parametrize("slots", [1, 3])
def test_a_pair_in_several_parts_adds_up_to_the_same_bits(slots: int) -> None:
    draw = np.random.default_rng(slots)
    n = 500
    person, weight = draw.integers(0, 60, n).astype(np.int32), draw.lognormal(0, 9, n)
    slot = draw.integers(0, slots, n).astype(np.int32) if slots > 1 else None
    ends, kept = np.zeros(n, np.int32), {"repeats": True, "weights": True}
    whole = flows_from_trips(ends, ends, slot=slot, person=person, weight=weight, **kept)
    parts = []
    for share in range(3):
        mine = person % 3 == share
        here = None if slot is None else slot[mine]
        flows = flows_from_trips(
            ends[mine], ends[mine], slot=here, person=person[mine], weight=weight[mine], **kept
        )
        runs, values, times = _weight_runs(weight[mine], here)
        made = FlowsPart(range=0, flows=flows, people=np.arange(60), runs=runs, values=values, times=times)
        parts.append(ascending_people(made, np.arange(60, dtype=np.int32)))
    (found,) = joined_flows(iter(parts))
    for name in ("origin", "destination", "slot", "trips", "population", "repeats", "weights"):
        assert np.array_equal(getattr(found, name), getattr(whole, name)), name
    assert np.array_equal(found.travellers.offsets, whole.travellers.offsets)
    assert np.array_equal(found.travellers.people, whole.travellers.people)


def test_people_get_their_numbers_in_ascending_order() -> None:
    flows = flows_from_trips(np.zeros(3, int), np.zeros(3, int), person=np.array([0, 1, 1]), repeats=True)
    part = FlowsPart(range=0, flows=flows, people=np.array([70, 50]))
    found = ascending_people(part, np.array([9, 4], dtype=np.int32)).flows
    assert (found.travellers.people.tolist(), found.repeats.tolist()) == ([4, 9], [2, 1])


def test_what_tasks_saw_is_joined_whatever_the_order() -> None:
    def seen(rows: int, step: int) -> Seen:
        keys = np.arange(rows, dtype=np.uint64)
        return Seen(
            tally=np.full((1, 3), rows),
            broken=np.array([rows]),
            rows=rows * step,
            origins=keys,
            people={3: keys},
            pairs=np.column_stack([keys, keys]),
            step=step,
            failed=(f"file {rows}",) if rows == 4 else (),
        )

    one, other = seen(SAMPLED, 2), seen(4, 1)
    for joined in (one.join(other), other.join(one)):
        assert joined.rows == 2 * SAMPLED + 4
        assert joined.tally.tolist() == [[SAMPLED + 4] * 3]
        assert joined.failed == ("file 4",)
        assert len(joined.people[3]) == len(joined.origins) == SAMPLED
        assert joined.step == 4
        assert abs(len(joined.pairs) - joined.rows / joined.step) <= 2


def test_trips_find_their_flow_in_a_part_with_and_without_slots() -> None:
    flows = Flows(np.array([0, 0, 2]), np.array([1, 1, 0]), np.array([1, 1, 1]), slot=np.array([3, 7, 3]))
    nowhere = np.zeros(4)
    ends = np.array([2, 0, 0, 0]), np.array([0, 1, 1, 1]), nowhere, nowhere, nowhere, nowhere, None
    slots = np.array([3, 7, 3, 7])
    assert _flow_of(flows, TripEnds(*ends, slots)).tolist() == [2, 1, 0, 1]
    without = replace(flows.only(np.array([0, 2])), slot=None)
    assert _flow_of(without, TripEnds(*ends, None)).tolist() == [1, 0, 0, 0]


def test_rows_of_a_range_that_several_parts_hold_go_by_slot() -> None:
    flows = Flows(np.array([4, 4]), np.array([4, 4]), np.array([1, 1]), slot=np.array([2, 9]))
    assert RowsOfRange(10, np.array([2, 5, 9])).rows(flows).tolist() == [10, 12]
    assert RowsOfRange(10, None).rows(flows).tolist() == [10, 11]
    assert RowsOfRange(10, np.zeros(1, np.int32)).rows(
        replace(flows.only(np.array([0])), slot=None)
    ).tolist() == [10]
