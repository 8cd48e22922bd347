"""Slot by slot: every slot gets what the method gives it alone, and the limit holds over all."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tripcloak.flows.audit import audit_matrix
from tripcloak.flows.methods import (
    METHODS,
    FlowMethod,
    Mondrian,
    NestedCut,
    ODkAnon,
    SlotBySlot,
    Suppression,
    TwinCut,
)
from tripcloak.flows.methods import slots as slots_module
from tripcloak.flows.methods.method import Solution
from tripcloak.flows.model import ODMatrix, by_slot
from tripcloak.flows.release import Release
from tripcloak.ground.errors import ImpossibleRequestError, InputError
from tripcloak.ground.progress import Progress
from tripcloak.hierarchy import Hierarchy, time_hierarchy
from tripcloak.promises import AllOf, KAnonymity, Promise, TCloseness
from worlds.depth import size
from worlds.matrices import hierarchy_of
from worlds.sending import Sending

TREE = {"all": None, "ab": "all", "cd": "all", "a": "ab", "b": "ab", "c": "cd", "d": "cd"}
HOURS = 5


@st.composite
def timed(draw: st.DrawFn) -> ODMatrix:
    """Return a matrix of some hours between four tiles, with people."""
    n = draw(st.integers(1, 120))
    seed = draw(st.integers(0, 2**31))
    return made(n, seed)


def made(n: int, seed: int, tree: Hierarchy | None = None) -> ODMatrix:
    tree = tree or hierarchy_of(TREE)
    random = np.random.default_rng(seed)
    origin, destination = random.integers(0, 4, (2, n))
    slot = random.integers(0, HOURS, n)
    hours, slot = np.unique(slot, return_inverse=True)
    return ODMatrix.from_trips(
        tree,
        tree,
        origin,
        destination,
        person=random.integers(0, 30, n),
        times=time_hierarchy(hours + 8, 60),
        slot=slot,
    )


@given(matrix=timed())
def test_the_slots_make_up_the_matrix(matrix: ODMatrix) -> None:
    rows = np.concatenate([slot.rows for slot in by_slot(matrix)])
    assert sorted(rows.tolist()) == list(range(matrix.n_flows))
    for slot in by_slot(matrix):
        flows, part = matrix.flows, slot.matrix.flows
        assert flows.slot is not None
        assert (flows.slot[slot.rows] == slot.tile).all()
        np.testing.assert_array_equal(part.trips, flows.trips[slot.rows])
        assert flows.travellers is not None
        assert part.travellers is not None
        for at, row in enumerate(slot.rows):
            ours = part.travellers.people[part.travellers.offsets[at] : part.travellers.offsets[at + 1]]
            whole = flows.travellers.people[flows.travellers.offsets[row] : flows.travellers.offsets[row + 1]]
            np.testing.assert_array_equal(ours, whole)


def pairs(release: Release, rows: np.ndarray) -> list[tuple[int, int] | None]:
    """Return the pair of zones of every flow, None where it is withheld."""
    group = release.group_of_flow[rows]
    return [
        None if g < 0 else (int(release.group_origin[g]), int(release.group_destination[g])) for g in group
    ]


@settings(max_examples=size(1, 2) * settings().max_examples // 2)
@given(
    matrix=timed(),
    method=st.sampled_from([ODkAnon, NestedCut, TwinCut]),
    limit=st.sampled_from([0, 0.1, 0.3]),
)
def test_each_slot_gets_what_it_gets_alone(matrix: ODMatrix, method: type[FlowMethod], limit: float) -> None:
    promise = KAnonymity(k=2)
    alone = method(promise=promise, suppression_limit=limit)
    try:
        release = SlotBySlot.of(alone).anonymise(matrix)
    except ImpossibleRequestError:
        assume(False)
    assert release.method == method.name
    assert audit_matrix(matrix, release).safe
    if not any((release.group_of_flow[slot.rows] < 0).all() for slot in by_slot(matrix)):
        for slot in by_slot(matrix):
            single = alone.anonymise(slot.matrix)
            assert pairs(release, slot.rows) == pairs(single, np.arange(slot.matrix.n_flows))


def test_hopeless_slots_are_withheld_within_the_limit() -> None:
    tree, ends = hierarchy_of(TREE), np.zeros(101, dtype=int)
    slot = np.append(np.zeros(100, dtype=int), 1)
    times = {"times": time_hierarchy(np.array([8, 9]), 60), "slot": slot}
    matrix = ODMatrix.from_trips(tree, tree, ends, ends, **times)
    release = SlotBySlot.of(ODkAnon(promise=KAnonymity(k=10), suppression_limit=0.01)).anonymise(matrix)
    assert release.suppressed.tolist() == [False, True]
    with pytest.raises(
        ImpossibleRequestError, match=r"some slots of time.* at least 10 trips.* 1 % of"
    ) as told:
        SlotBySlot.of(ODkAnon(promise=KAnonymity(k=10), suppression_limit=0.009)).anonymise(matrix)
    assert "fold=" in str(told.value)


def test_more_processes_give_the_same_release(monkeypatch: pytest.MonkeyPatch) -> None:
    matrix = made(400, seed=3)
    method = NestedCut(promise=KAnonymity(k=3))
    one = SlotBySlot.of(method).anonymise(matrix)
    monkeypatch.setattr(slots_module, "WORTH_A_PROCESS", 0)
    two = SlotBySlot.of(method, jobs=2).anonymise(matrix)
    np.testing.assert_array_equal(one.group_of_flow, two.group_of_flow)
    np.testing.assert_array_equal(one.trips, two.trips)
    assert one.parameters == two.parameters


@pytest.mark.parametrize("method", [NestedCut, TwinCut, ODkAnon])
def test_other_machines_give_the_same_release(monkeypatch: pytest.MonkeyPatch, method: Any) -> None:
    matrix = made(400, seed=3)
    by_slots = SlotBySlot.of(method(promise=KAnonymity(k=3)))
    one = by_slots.anonymise(matrix)
    machines = Sending()
    monkeypatch.setattr(slots_module, "WORTH_A_PROCESS", 0)
    two = by_slots.anonymise(replace(matrix, parts=machines))
    assert machines.jobs[0] == HOURS
    np.testing.assert_array_equal(one.group_of_flow, two.group_of_flow)
    np.testing.assert_array_equal(one.travellers, two.travellers)


def test_what_cannot_be_run_slot_by_slot_says_so() -> None:
    matrix = made(50, seed=1)
    with pytest.raises(InputError, match="no slots of time"):
        SlotBySlot.of(NestedCut()).anonymise(next(by_slot(matrix)).matrix)
    with pytest.raises(InputError, match="t-closeness"):
        SlotBySlot.of(NestedCut(promise=AllOf(promises=(KAnonymity(), TCloseness(t=0.5))))).anonymise(matrix)
    with pytest.raises(InputError, match="mondrian cannot be run slot by slot"):
        SlotBySlot.of(Mondrian()).anonymise(matrix)
    with pytest.raises(InputError, match="jobs must be 1 or more"):
        SlotBySlot.of(NestedCut(), jobs=0)
    assert "slot by slot" not in METHODS


def in_slots(*slots: tuple[int, int]) -> ODMatrix:
    """Return hours with so many trips from a to a, and so many others alone between tiles of their own."""
    ends = [(0, 0, hour) for hour, (many, _) in enumerate(slots) for _ in range(many)]
    ends += [(1 + i % 3, i // 3, hour) for hour, (_, alone) in enumerate(slots) for i in range(alone)]
    origin, destination, slot = np.array(ends).T
    tree, hours = hierarchy_of(TREE), np.arange(len(slots))
    return ODMatrix.from_trips(
        tree, tree, origin, destination, times=time_hierarchy(hours + 8, 60), slot=slot
    )


def withheld(matrix: ODMatrix, limit: float, jobs: int = 1) -> list[int]:
    """Return how many trips suppression withholds in every hour."""
    method = Suppression(promise=KAnonymity(k=5), suppression_limit=limit)
    release = SlotBySlot.of(method, jobs=jobs).anonymise(matrix)
    assert audit_matrix(matrix, release).safe
    return [
        int(slot.matrix.flows.trips[release.group_of_flow[slot.rows] < 0].sum()) for slot in by_slot(matrix)
    ]


@pytest.mark.parametrize("jobs", [1, 2, 0])
def test_what_one_slot_does_not_need_another_may_use(monkeypatch: pytest.MonkeyPatch, jobs: int) -> None:
    monkeypatch.setattr(slots_module, "WORTH_A_PROCESS", 0)
    matrix = in_slots((100, 0), (84, 6), (50, 10))
    if not jobs:
        # Nobody here, but other machines.
        jobs, matrix = 1, replace(matrix, parts=Sending())
    assert withheld(matrix, 16 / 250, jobs) == [0, 6, 10]
    with pytest.raises(ImpossibleRequestError, match=r"more than all slots together.*fold=.*taken alone"):
        withheld(matrix, 15 / 250, jobs)


class Unwilling(Suppression):
    """A method that cannot work on more than one flow."""

    def solve(self, matrix: ODMatrix, promise: Promise, progress: Progress) -> Solution:
        if matrix.n_flows > 1:
            raise ImpossibleRequestError("not possible: too many flows")
        return super().solve(matrix, promise, progress)


def test_a_slot_that_no_limit_helps_is_withheld_whole_while_that_fits() -> None:
    matrix = in_slots((100, 0), (7, 3), (50, 0))
    method = Unwilling(promise=KAnonymity(k=5), suppression_limit=10 / 160)
    release = SlotBySlot.of(method).anonymise(matrix)
    hidden = [bool((release.group_of_flow[slot.rows] < 0).all()) for slot in by_slot(matrix)]
    assert hidden == [False, True, False]
    with pytest.raises(ImpossibleRequestError, match="too many flows"):
        SlotBySlot.of(replace(method, suppression_limit=9 / 160)).anonymise(matrix)


@given(
    slots=st.lists(st.tuples(st.integers(5, 30), st.integers(0, 9)), min_size=1, max_size=6), data=st.data()
)
def test_suppression_fits_slot_by_slot_just_where_it_fits_over_all(
    slots: list[tuple[int, int]], data: st.DataObject
) -> None:
    total, alone = sum(map(sum, slots)), sum(few for _, few in slots)
    allowed = data.draw(st.integers(0, total - 1))
    fits = alone <= allowed
    try:
        assert withheld(in_slots(*slots), allowed / total) == [few for _, few in slots]
    except ImpossibleRequestError:
        assert not fits
    else:
        assert fits
