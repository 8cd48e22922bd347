"""Duplicates are found by mark, and never by mark alone."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tripcloak.flows.reading.spool import Spool, find_duplicates

ROWS = st.lists(st.tuples(st.integers(0, 6), *[st.integers(0, 2)] * 3), min_size=1, max_size=60)


@given(rows=ROWS, memory=st.sampled_from([10**9, 200, 1]))
def test_a_row_is_dropped_if_an_equal_one_came_before(
    rows: list[tuple[int, int, int, int]], memory: int
) -> None:
    """Marks are drawn so that different rows often share one: those must all stay."""
    spool = Spool(
        {"mark": np.uint64, "origin": np.int32, "destination": np.int32, "person": np.int32}, memory=memory
    )
    columns = dict(zip(("mark", "origin", "destination", "person"), np.array(rows).T, strict=True))
    spool.append(**columns)
    expected = [row in rows[:number] for number, row in enumerate(rows)]
    assert find_duplicates(spool, memory=memory).tolist() == expected
