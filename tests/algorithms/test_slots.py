"""Slot by slot: every slot gets what the method gives it alone, and the limit holds over all."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from strategies import hierarchy_of
from tripcloak.algorithms import METHODS, Algorithm, Mondrian, NestedCut, ODkAnon, SlotBySlot, TwinCut
from tripcloak.algorithms import slots as slots_module
from tripcloak.audit import audit_matrix
from tripcloak.criteria import KAnonymity, TCloseness
from tripcloak.errors import ImpossibleRequestError, InputError
from tripcloak.hierarchy import Hierarchy, time_hierarchy
from tripcloak.matrix import ODMatrix, by_slot
from tripcloak.release import Release

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


@given(
    matrix=timed(),
    method=st.sampled_from([ODkAnon, NestedCut, TwinCut]),
    limit=st.sampled_from([0, 0.1, 0.3]),
)
def test_each_slot_gets_what_it_gets_alone(matrix: ODMatrix, method: type[Algorithm], limit: float) -> None:
    criterion = KAnonymity(k=2)
    alone = method(criterion=criterion, suppression_limit=limit)
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
    release = SlotBySlot.of(ODkAnon(criterion=KAnonymity(k=10), suppression_limit=0.01)).anonymise(matrix)
    assert release.suppressed.tolist() == [False, True]
    with pytest.raises(
        ImpossibleRequestError, match=r"some slots of time.* at least 10 trips.* 1 % of"
    ) as told:
        SlotBySlot.of(ODkAnon(criterion=KAnonymity(k=10), suppression_limit=0.009)).anonymise(matrix)
    assert "--fold" in str(told.value)


def test_more_processes_give_the_same_release(monkeypatch: pytest.MonkeyPatch) -> None:
    matrix = made(400, seed=3)
    method = NestedCut(criterion=KAnonymity(k=3))
    one = SlotBySlot.of(method).anonymise(matrix)
    monkeypatch.setattr(slots_module, "WORTH_A_PROCESS", 0)
    two = SlotBySlot.of(method, jobs=2).anonymise(matrix)
    np.testing.assert_array_equal(one.group_of_flow, two.group_of_flow)
    np.testing.assert_array_equal(one.trips, two.trips)
    assert one.parameters == two.parameters


def test_what_cannot_be_run_slot_by_slot_says_so() -> None:
    matrix = made(50, seed=1)
    with pytest.raises(InputError, match="no slots of time"):
        SlotBySlot.of(NestedCut()).anonymise(next(by_slot(matrix)).matrix)
    with pytest.raises(InputError, match="t-closeness"):
        SlotBySlot.of(NestedCut(closeness=TCloseness(t=0.5))).anonymise(matrix)
    with pytest.raises(InputError, match="mondrian cannot be run slot by slot"):
        SlotBySlot.of(Mondrian()).anonymise(matrix)
    with pytest.raises(InputError, match="jobs must be 1 or more"):
        SlotBySlot.of(NestedCut(), jobs=0)
    assert "slot by slot" not in METHODS
