"""What weights say about people, against a plain count."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tripcloak.flows.model import NOBODY, ODMatrix, Represented, WeightsSeen, by_slot, represented_by
from tripcloak.hierarchy import Hierarchy, time_hierarchy

ROWS = st.lists(st.tuples(st.integers(NOBODY, 6), st.sampled_from([0.0, 0.5, 2.0, 7.25])), max_size=40)


@given(rows=ROWS, at=st.integers(0, 40))
def test_weights_seen_in_batches_equal_a_plain_count(rows: list[tuple[int, float]], at: int) -> None:
    seen = WeightsSeen(7)
    for part in (rows[:at], rows[at:]):
        seen.add(np.array([p for p, _ in part], dtype=np.int32), np.array([w for _, w in part]))
    people = {p: {w for q, w in rows if q == p} for p, _ in rows if p != NOBODY}
    expected = Represented(len(people), sum(max(each) for each in people.values())) if people else None
    assert seen.represented == expected
    assert seen.uneven == sum(len(each) > 1 for each in people.values())
    assert seen.zero == sum(0.0 in each for each in people.values())
    assert seen.zero_rows == sum(w == 0 for _, w in rows)


def test_a_matrix_without_weights_represents_nobody() -> None:
    tree, ends = Hierarchy.from_parents(["a"], [-1]), np.zeros(3, dtype=int)
    matrix = ODMatrix.from_trips(tree, tree, ends, ends, person=np.arange(3))
    assert matrix.represented is None
    assert represented_by(matrix.flows, None) is None


def test_the_matrices_of_slots_know_the_mean_of_the_whole() -> None:
    """Else every slot of a release would have a threshold of its own."""
    tree, ends = Hierarchy.from_parents(["a"], [-1]), np.zeros(4, dtype=int)
    times = {"times": time_hierarchy(np.array([8, 9]), 60), "slot": np.array([0, 1, 0, 0])}
    people = {"person": np.array([0, 1, 1, 2]), "weight": np.array([10.0, 20.0, 20.0, 60.0])}
    matrix = ODMatrix.from_trips(tree, tree, ends, ends, **people, **times)  # type: ignore[arg-type]
    assert matrix.represented == Represented(3, 90.0)
    assert [slot.matrix.represented for slot in by_slot(matrix)] == [matrix.represented] * 2
