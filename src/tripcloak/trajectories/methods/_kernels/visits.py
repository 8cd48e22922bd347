"""The compiled loop of visits: in which cell somebody was most of a slot."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from tripcloak.ground.arrays import Ints


class Steps(NamedTuple):
    """How many steps make a cell and a slot of time, and steps from 1970 to step 0."""

    cell: int
    slot: int
    first: int


@njit(cache=True, nogil=True)
def most_visited(
    offsets: Ints, t: Ints, x: Ints, y: Ints, steps: Steps, of_sample: Ints
) -> tuple[Ints, Ints, Ints, Ints]:
    """Return person, slot, column and row of the cell of most samples, of every person and slot.

    Of cells with as many samples the one that came first counts.

    Parameters
    ----------
    offsets, t, x, y
        Samples by person and time.
    of_sample
        Becomes the row of each sample that is in that cell, -1 of others; left alone if it is empty.
    """
    begins = _runs(offsets, t, steps)
    n = len(begins) - 1
    owner, slot = np.empty(n, np.int64), np.empty(n, np.int64)
    column, row = np.empty(n, np.int64), np.empty(n, np.int64)
    size, who = 2, 0
    while n and size < 2 * np.diff(begins).max():
        size *= 2
    # A table of the cells of one run: of each the first sample, and how many there are.
    first, many = np.full(size, -1), np.zeros(size, np.int64)
    for run in range(n):
        begin, end = begins[run], begins[run + 1]
        best = -1
        for at in range(begin, end):
            place = _place(first, x, y, steps.cell, at)
            if first[place] < 0:
                first[place] = at
            many[place] += 1
            # Who reaches a number sooner need not have been there sooner.
            more = 1 if best < 0 else many[place] - many[best]
            if more > 0 or (more == 0 and first[place] < first[best]):
                best = place
        while offsets[who + 1] <= begin:
            who += 1
        owner[run], slot[run] = who, (t[begin] + steps.first) // steps.slot
        column[run], row[run] = x[first[best]] // steps.cell, y[first[best]] // steps.cell
        if len(of_sample):
            for at in range(begin, end):
                same = x[at] // steps.cell == column[run] and y[at] // steps.cell == row[run]
                of_sample[at] = run if same else -1
        _cleared(first, many, x, y, steps.cell, begin, end)
    return owner, slot, column, row


@njit(cache=True, nogil=True)
def _runs(offsets: Ints, t: Ints, steps: Steps) -> Ints:
    """Return where the samples of each person and slot begin, and where the last of them end."""
    begins = np.empty(len(t) + 1, np.int64)
    n, before = 0, 0
    for who in range(len(offsets) - 1):
        for at in range(offsets[who], offsets[who + 1]):
            slot = (t[at] + steps.first) // steps.slot
            if at == offsets[who] or slot != before:
                begins[n] = at
                n += 1
            before = slot
    begins[n] = len(t)
    return begins[: n + 1].copy()


@njit(cache=True, nogil=True)
def _cleared(first: Ints, many: Ints, x: Ints, y: Ints, cell: int, begin: int, end: int) -> None:
    """Take back what a run wrote into the table, which may be wider by far, last things first."""
    for at in range(end - 1, begin - 1, -1):
        place = _place(first, x, y, cell, at)
        if first[place] == at:
            first[place], many[place] = -1, 0


@njit(cache=True, nogil=True)
def _place(first: Ints, x: Ints, y: Ints, cell: int, at: int) -> int:
    """Return the row of the table that the cell of a sample has, or would have."""
    column, row = x[at] // cell, y[at] // cell
    place = (column * 73856093 ^ row * 19349663) & (len(first) - 1)
    while first[place] >= 0 and (x[first[place]] // cell != column or y[first[place]] // cell != row):
        place = (place + 1) & (len(first) - 1)
    return int(place)
