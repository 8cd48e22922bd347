"""Compiled loops of the descent; each has a plain twin next to its test."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray


@njit(cache=True)
def sort_flows(
    flows: NDArray[np.int32], zone: NDArray[np.int32], codes: NDArray[np.int32], reach: NDArray[np.int32]
) -> NDArray[np.int32]:  # pragma: no cover - compiled
    """Return the flows by zone, flows of one zone in the order given; those without one or reach stay out.

    ``zone`` is the zone of every tile, -1 for none, and ``codes`` the tile of every flow.
    """
    ends = np.zeros(zone.max() + 2, np.int64)
    for flow in flows:
        if zone[codes[flow]] >= 0 and reach[flow] > 0:
            ends[zone[codes[flow]] + 1] += 1
    for z in range(1, len(ends)):
        ends[z] += ends[z - 1]
    found = np.empty(ends[-1], np.int32)
    # Invariant: ends[z] is where the next flow of zone z belongs.
    for flow in flows:
        z = zone[codes[flow]]
        if z >= 0 and reach[flow] > 0:
            found[ends[z]] = flow
            ends[z] += 1
    return found


FIRST, LAST, ABOVE, TRIPS, ZONES = range(5)
"""Rows of a table of runs: where each begins and ends, the number of the run it lies in, its trips, and
from there on its zones, axis by axis."""


@njit(cache=True)
def open_row(
    flows: NDArray[np.int32],
    zones: tuple[NDArray[np.int32], ...],
    codes: tuple[NDArray[np.int32], ...],
    trips: NDArray[np.int64],
    volume: NDArray[np.float64],
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:  # pragma: no cover - compiled
    """Return a table of the runs of flows that share a zone on each of the first axes, and running sums.

    ``zones`` is the zone of every tile, axis by axis, and ``codes`` the tile of every flow. The sums add
    up the trips and the volume, from 0 before the first flow.
    """
    n, axes = len(flows), len(zones)
    trips_upto, volume_upto = np.zeros(n + 1, trips.dtype), np.zeros(n + 1)
    starts = np.empty(n, np.int64)
    runs = 0
    for at in range(n):
        flow = flows[at]
        trips_upto[at + 1] = trips_upto[at] + trips[flow]
        volume_upto[at + 1] = volume_upto[at] + volume[flow]
        new = at == 0
        for axis in range(axes):
            here, before = zones[axis][codes[axis][flow]], zones[axis][codes[axis][flows[at - 1]]]
            new = new or here != before
        if new:
            starts[runs] = at
            runs += 1
    table = np.zeros((ZONES + axes + 1, runs), np.int64)
    for run in range(runs):
        table[FIRST, run] = starts[run]
        table[LAST, run] = starts[run + 1] if run + 1 < runs else n
        for axis in range(axes):
            table[ZONES + axis, run] = zones[axis][codes[axis][flows[starts[run]]]]
    return table, trips_upto, volume_upto


@njit(cache=True)
def split_runs(
    runs: NDArray[np.int64],
    number: int,
    rank: NDArray[np.int32],
    zone: NDArray[np.int32],
    end: NDArray[np.int64],
    flows: NDArray[np.int32],
    reach: NDArray[np.int32],
    depth: int,
    upto: NDArray[np.int64],
) -> NDArray[np.int64]:  # pragma: no cover - compiled
    """Return the runs inside runs that share a zone, which becomes the last of their zones.

    ``number`` is that of the first run, the others follow; -1 where they have none. ``rank`` grows within
    a run; ``zone`` is by rank, -1 for none, and ``end`` the first rank behind a zone. A run whose ranks
    have no zone has no runs inside, and one whose first flow does not reach beyond this depth is left
    out. ``upto`` adds up the trips.
    """
    room = 0
    for run in range(runs.shape[1]):
        room += runs[LAST, run] - runs[FIRST, run]
    begins, stops, inside = np.empty(room, np.int64), np.empty(room, np.int64), np.empty(room, np.int64)
    n = 0
    for run in range(runs.shape[1]):
        at, last = runs[FIRST, run], runs[LAST, run]
        while at < last and zone[rank[at]] >= 0:
            behind = end[zone[rank[at]]]
            # Strides that double, then halve: the longer a run, the less of it is looked at.
            low, stride = at + 1, 1
            while low + stride <= last and rank[low + stride - 1] < behind:
                low += stride
                stride *= 2
            while stride > 0:
                if low + stride <= last and rank[low + stride - 1] < behind:
                    low += stride
                stride //= 2
            if reach[flows[at]] > depth:
                begins[n], stops[n], inside[n] = at, low, run
                n += 1
            at = low
    found = np.empty((len(runs), n), np.int64)
    for i in range(n):
        found[FIRST, i], found[LAST, i] = begins[i], stops[i]
        found[TRIPS, i] = upto[stops[i]] - upto[begins[i]]
        found[ABOVE, i] = -1 if number < 0 else number + inside[i]
        for row in range(ZONES, len(runs) - 1):
            found[row, i] = runs[row, inside[i]]
        found[len(runs) - 1, i] = zone[rank[begins[i]]]
    return found


@njit(cache=True)
def keep_runs(
    safe: NDArray[np.bool_],
    runs: NDArray[np.int64],
    flows: NDArray[np.int32],
    reach: NDArray[np.int32],
    depth: int,
    upto: NDArray[np.float64],
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:  # pragma: no cover - compiled
    """Return the safe runs and their volume; the flows of the others reach no further than this depth.

    ``upto`` adds up the volume.
    """
    n = 0
    for run in range(len(safe)):
        n += safe[run]
    kept, volume = np.empty((len(runs), n), np.int64), np.empty(n)
    n = 0
    for run in range(len(safe)):
        if safe[run]:
            for row in range(len(runs)):
                kept[row, n] = runs[row, run]
            volume[n] = upto[runs[LAST, run]] - upto[runs[FIRST, run]]
            n += 1
        else:
            for at in range(runs[FIRST, run], runs[LAST, run]):
                reach[flows[at]] = depth
    return kept, volume


@njit(cache=True)
def sum_losses(
    first: NDArray[np.int64],
    last: NDArray[np.int64],
    volume: NDArray[np.float64],
    lead: NDArray[np.float64],
    rank: NDArray[np.int32],
    loss: NDArray[np.float64],
) -> NDArray[np.float64]:  # pragma: no cover - compiled
    """Return the loss of every run: per unit of volume ``lead`` by place, and ``loss`` by rank."""
    total = np.zeros(len(first))
    for run in range(len(first)):
        for at in range(first[run], last[run]):
            total[run] += volume[at] * (lead[at] + loss[rank[at]])
    return total


@njit(cache=True)
def place_products(
    zones: NDArray[np.int32],
    parent: NDArray[np.int32],
    start: NDArray[np.int64],
    sizes: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:  # pragma: no cover - compiled
    """Return one key per product, and the keys of the products above it on all axes but the last.

    ``zones`` holds the zones of all products axis by axis, ``parent`` the parents in all trees, one tree
    behind the other from ``start`` on, and ``sizes`` the zones per tree. A product that has none above
    on an axis gets -1 there.
    """
    axes, n = zones.shape
    keys = np.zeros(n, np.int64)
    for axis in range(axes):
        for i in range(n):
            keys[i] = keys[i] * sizes[axis] + zones[axis, i]
    above = np.empty((axes - 1, n), np.int64)
    for axis in range(axes - 1):
        weight = 1
        for other in range(axis + 1, axes):
            weight *= sizes[other]
        for i in range(n):
            higher = parent[start[axis] + zones[axis, i]]
            above[axis, i] = -1 if higher < 0 else keys[i] + (higher - zones[axis, i]) * weight
    return keys, above


@njit(cache=True)
def sum_by_zone(
    zones: NDArray[np.int32], loss: NDArray[np.float64], start: NDArray[np.int64]
) -> NDArray[np.float64]:  # pragma: no cover - compiled
    """Return the loss of every product: the sum over its zones' losses, tree by tree from ``start`` on."""
    axes, n = zones.shape
    total = np.zeros(n)
    for axis in range(axes):
        for i in range(n):
            total[i] += loss[start[axis] + zones[axis, i]]
    return total
