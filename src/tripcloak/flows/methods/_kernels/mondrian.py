"""Compiled loops of Mondrian; `median_cuts` has a plain twin in tests/oracles/flows/mondrian.py."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tripcloak.ground.arrays import Floats, Ints

SIDES = 4
"""A flow's coordinates: latitude and longitude of its origin, then of its destination."""

TRIPS, TRAVELLERS, POPULATION = 0, 1, 2
"""Where the thresholds of a promise stand; 0 where it asks for none."""

_WAITING = 64
_BITS = 10


class MondrianSupport(NamedTuple):
    """What is counted: numbers of every flow, who is in which, and the thresholds.

    ``people[offsets[i]:offsets[i + 1]]`` are in flow i, numbered from 0. What no threshold asks for may
    be empty.
    """

    trips: Ints
    population: Floats
    offsets: Ints
    people: Ints
    least: Floats


class _FlowRows(NamedTuple):
    """The flows in the order in which parts of them stand together, and their coordinates and weights."""

    flow: Ints
    at: Ints
    weight: Floats


@njit(cache=True)
def median_cuts(
    at: NDArray[np.int32], weight: Floats, support: MondrianSupport
) -> NDArray[np.int32]:  # pragma: no cover - compiled
    """Return the group of every flow after cutting at medians for as long as both sides stay safe.

    ``at`` holds four coordinates a flow in millionths of a degree, ``weight`` what medians are taken of.
    """
    n = len(at)
    rows = _FlowRows(np.arange(n).astype(np.int32), at.copy(), weight.copy())
    spare = _FlowRows(np.empty(n, np.int32), np.empty((n, SIDES), np.int32), np.empty(n, np.float64))
    # The last place is no person's: it holds the stamp of the latest count.
    met = np.zeros(int(support.people.max()) + 2 if len(support.people) else 1, np.int64)
    group = np.empty(n, np.int32)
    waiting = np.empty((_WAITING, 2), np.int64)
    waiting[0, 0], waiting[0, 1] = 0, n
    depth, made = 1, 0
    # Invariant: what waits and what has a group are runs of the rows that do not overlap. Flows ascend
    # within each, so sums are those that whoever sums a finished group flow by flow will find.
    while depth > 0:
        depth -= 1
        start, end = waiting[depth]
        middle = _cut(rows, spare, start, end, support, met)
        if middle == start:
            for i in range(start, end):
                group[rows.flow[i]] = made
            made += 1
            continue
        # The larger part waits, so the one on top of it is at most half of what they were together.
        larger = middle - start > end - middle
        below, above = ((start, middle), (middle, end)) if larger else ((middle, end), (start, middle))
        waiting[depth, 0], waiting[depth, 1] = below
        waiting[depth + 1, 0], waiting[depth + 1, 1] = above
        depth += 2
    return group


@njit(cache=True)
def _cut(
    rows: _FlowRows, spare: _FlowRows, start: int, end: int, support: MondrianSupport, met: Ints
) -> int:  # pragma: no cover - compiled
    """Return where the right part of a run starts after its first allowable cut; its start if it has none."""
    low, high = _extent(rows.at, start, end)
    width = _metres(low, high)
    for _ in range(SIDES):
        side = int(np.argmax(width))
        if width[side] <= 0:
            break
        width[side] = -1.0
        value, before, upto, total = _median(rows, start, end, side, low[side], high[side])
        # Left of an edge is what is below it: all up to the median, or only what comes before it.
        evener_with = upto - total / 2 <= total / 2 - before
        for attempt in range(2):
            edge = value + 1 if evener_with == (attempt == 0) else value
            if low[side] < edge <= high[side] and _both_safe(rows, start, end, side, edge, support, met):
                return _part(rows, spare, start, end, side, edge)
    return start


@njit(cache=True)
def _extent(at: Ints, start: int, end: int) -> tuple[Ints, Ints]:  # pragma: no cover - compiled
    low, high = at[start].astype(np.int64), at[start].astype(np.int64)
    for i in range(start + 1, end):
        for side in range(SIDES):
            low[side] = min(low[side], at[i, side])
            high[side] = max(high[side], at[i, side])
    return low, high


@njit(cache=True)
def _metres(low: Ints, high: Ints) -> Floats:  # pragma: no cover - compiled
    """Return the spans of a run in one measure: degrees of longitude shrink towards the poles."""
    width = (high - low).astype(np.float64)
    for end in range(2):
        middle = (low[2 * end] + high[2 * end]) / 2e6
        width[2 * end + 1] *= math.cos(math.radians(middle))
    return width


@njit(cache=True)
def _median(
    rows: _FlowRows, start: int, end: int, side: int, low: int, high: int
) -> Any:  # pragma: no cover - compiled
    """Return the lowest coordinate at which the weight reaches half, the weight before and up to it, and all.

    Each pass weighs what lies between low and high in equal steps and goes on within the step that
    reaches half, so three passes do, in whatever order the coordinates stand.
    """
    bits = 3
    while bits < _BITS and 1 << bits < end - start:
        bits += 1
    before, total = 0.0, -1.0
    while True:
        shift = 0
        while (high - low) >> shift >= 1 << bits:
            shift += 1
        heft = np.zeros(((high - low) >> shift) + 1)
        for i in range(start, end):
            if low <= rows.at[i, side] <= high:
                heft[(rows.at[i, side] - low) >> shift] += rows.weight[i]
        total = heft.sum() if total < 0 else total
        # Rounding may leave all steps together a hair below half: then it is the last one with a weight.
        last = len(heft) - 1
        while last > 0 and heft[last] == 0:
            last -= 1
        step = 0
        while step < last and before + heft[step] < total / 2:
            before += heft[step]
            step += 1
        low += step << shift
        if shift == 0:
            return low, before, before + heft[step], total
        high = min(high, low + (1 << shift) - 1)


@njit(cache=True)
def _both_safe(
    rows: _FlowRows, start: int, end: int, side: int, edge: int, support: MondrianSupport, met: Ints
) -> bool:  # pragma: no cover - compiled
    """Return whether what lies below an edge, and the rest, each reach every threshold."""
    least = support.least
    trips = np.zeros(2, np.int64)
    near, rest, exact = np.zeros(2), np.zeros(2), np.ones(2, np.bool_)
    # Invariant: near + rest is the population so far; to the last bit where exact.
    for i in range(start, end):
        part = 0 if rows.at[i, side] < edge else 1
        if least[TRIPS] > 0:
            trips[part] += support.trips[rows.flow[i]]
        if least[POPULATION] > 0:
            near[part], lost = _two_sum(near[part], support.population[rows.flow[i]])
            rest[part], lost = _two_sum(rest[part], lost)
            exact[part] = exact[part] and lost == 0.0
    if trips.min() < least[TRIPS]:
        return False
    for part in range(2):
        if _rounded_down(near[part], rest[part], exact[part]) < least[POPULATION]:
            return False
    if least[TRAVELLERS] == 0:
        return True
    return _enough_people(rows, start, end, side, edge, True, support, met) and _enough_people(
        rows, start, end, side, edge, False, support, met
    )


@njit(cache=True)
def _rounded_down(near: float, rest: float, exact: bool) -> float:  # pragma: no cover - compiled
    """Return a sum of two parts as whoever checks a finished group rounds it: never up."""
    total, lost = _two_sum(near, rest)
    # What inexact parts lack is far less than the last bit of their sum.
    return np.nextafter(total, 0.0) if lost < 0.0 or not exact else total


@njit(cache=True)
def _two_sum(a: float, b: float) -> tuple[float, float]:  # pragma: no cover - compiled
    """Return a + b as a double, and exactly what that lacks (Knuth)."""
    total = a + b
    back = total - a
    return total, (a - (total - back)) + (b - back)


@njit(cache=True)
def _enough_people(
    rows: _FlowRows,
    start: int,
    end: int,
    side: int,
    edge: int,
    below: bool,
    support: MondrianSupport,
    met: Ints,
) -> bool:  # pragma: no cover - compiled
    """Return whether enough different people are on one side of an edge; done as soon as there are."""
    met[-1] += 1
    stamp, found = met[-1], 0
    for i in range(start, end):
        if (rows.at[i, side] < edge) != below:
            continue
        flow = rows.flow[i]
        # Invariant: exactly the people found on this side so far carry the stamp.
        for j in range(support.offsets[flow], support.offsets[flow + 1]):
            if met[support.people[j]] != stamp:
                met[support.people[j]] = stamp
                found += 1
                if found >= support.least[TRAVELLERS]:
                    return True
    return False


@njit(cache=True)
def _part(
    rows: _FlowRows, spare: _FlowRows, start: int, end: int, side: int, edge: int
) -> int:  # pragma: no cover - compiled
    """Return where the rest starts after moving what lies below an edge to the front; all keeps its order."""
    front, aside = start, int(np.int64(0))
    for i in range(start, end):
        if rows.at[i, side] < edge:
            _move(rows, i, rows, front)
            front += 1
        else:
            _move(rows, i, spare, aside)
            aside += 1
    for i in range(aside):
        _move(spare, i, rows, front + i)
    return front


@njit(cache=True)
def _move(source: _FlowRows, i: int, target: _FlowRows, j: int) -> None:  # pragma: no cover - compiled
    target.flow[j], target.weight[j] = source.flow[i], source.weight[i]
    for side in range(SIDES):
        target.at[j, side] = source.at[i, side]
