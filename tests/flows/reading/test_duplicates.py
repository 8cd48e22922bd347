"""Duplicates are found by mark, and never by mark alone."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tripcloak.engines.spool import Spool
from tripcloak.flows.reading.repeats import find_repeated
from tripcloak.records.cleaning import DUPLICATE, REFUND

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
    assert (find_repeated(spool, memory=memory) == DUPLICATE).tolist() == expected


def why(refund: list[int], file: list[int] | None = None) -> list[int]:
    """Return why rows of one trip go, of which some take a fare back."""
    same = {"mark": np.uint64, "origin": np.int32, "destination": np.int32, "refund": np.bool_}
    spool = Spool(same | ({} if file is None else {"file": np.int32}), memory=10**6)
    rows = {name: np.zeros(len(refund)) for name in ("mark", "origin", "destination")}
    spool.append(**rows, refund=np.array(refund), **({} if file is None else {"file": np.array(file)}))
    return find_repeated(spool, memory=10**6).tolist()


def test_a_refund_goes_where_the_trip_is_there_without_it() -> None:
    assert why([0, 1]) == [0, REFUND]
    assert why([1, 0]) == [REFUND, 0]
    assert why([1, 0, 1, 0]) == [REFUND, 0, REFUND, DUPLICATE]


def test_a_refund_alone_is_the_trip() -> None:
    # A mark that nothing else carries is not looked at.
    assert why([1]) == [0]
    assert why([1, 1]) == [0, DUPLICATE]


def test_of_two_files_the_first_keeps_what_both_have() -> None:
    assert why([0, 0], [1, 0]) == [DUPLICATE, 0]
    assert why([1, 0], [0, 1]) == [REFUND, 0]
