"""Exact duplicates: rows equal in every column that says who went where and when."""

from __future__ import annotations

import numpy as np

from tripcloak.arrays import Bools, Ints
from tripcloak.trips.spool import Spool

WITNESSES = ("origin", "destination", "person")
"""Columns compared besides the 64-bit mark, so that two different rows never pass for one."""


def find_duplicates(spool: Spool, *, memory: int) -> Bools:
    """Return, for every row of the spool, whether an equal row came before it.

    Rows are compared by their 64-bit ``mark`` first; only rows that share one are looked at closely.
    """
    repeated = np.zeros(len(spool), dtype=bool)
    passes = 1 + (len(spool) * 16) // max(memory, 1)
    for number in range(passes):
        shared = _shared_marks(spool, number, passes)
        if len(shared):
            rows = _rows_with(spool, shared)
            repeated[rows[_equal_to_earlier(spool, rows)]] = True
    return repeated


def _shared_marks(spool: Spool, number: int, passes: int) -> Ints:
    """Return the marks, among those of this pass, that more than one row carries."""
    if passes == 1:
        marks = np.sort(spool.column("mark"))
    else:
        mine = [mark[mark % np.uint64(passes) == number] for (mark,) in spool.chunks("mark")]
        marks = np.sort(np.concatenate(mine))
    return np.unique(marks[1:][marks[1:] == marks[:-1]])


def _rows_with(spool: Spool, shared: Ints) -> Ints:
    found, start = [], 0
    for (mark,) in spool.chunks("mark"):
        at = np.minimum(np.searchsorted(shared, mark), len(shared) - 1)
        found.append(np.flatnonzero(shared[at] == mark) + start)
        start += len(mark)
    return np.concatenate(found)


def _equal_to_earlier(spool: Spool, rows: Ints) -> Bools:
    columns = [spool.column(name)[rows] for name in ("mark", *WITNESSES) if name in spool]
    order = np.lexsort((rows, *columns[::-1]))
    same = np.ones(max(len(rows) - 1, 0), dtype=bool)
    for column in columns:
        same &= column[order][1:] == column[order][:-1]
    equal = np.zeros(len(rows), dtype=bool)
    equal[order[1:]] = same
    return equal
