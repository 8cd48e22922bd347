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


@njit(cache=True)
def split_runs(
    first: NDArray[np.int64],
    last: NDArray[np.int64],
    lead: NDArray[np.int32],
    number: NDArray[np.int32],
    rank: NDArray[np.int32],
    zone: NDArray[np.int32],
    end: NDArray[np.int64],
    flows: NDArray[np.int32],
    reach: NDArray[np.int32],
    depth: int,
    fixed: NDArray[np.int32],
    upto: NDArray[np.int64],
) -> tuple[
    NDArray[np.int64],
    NDArray[np.int64],
    NDArray[np.int32],
    NDArray[np.int32],
    NDArray[np.int32],
    NDArray[np.int64],
]:  # pragma: no cover - compiled
    """Return the runs inside runs that share a zone: first, last, lead, above, zones and trips of each.

    ``rank`` grows within a run; ``zone`` is by rank, -1 for none, and ``end`` the first rank behind a
    zone. A run whose ranks have no zone has no runs inside, and one whose first flow does not reach
    beyond this depth is left out. A run inherits the lead of the one it lies in, whose number is
    ``above``; its zones are those of its lead in ``fixed``, and its own. ``upto`` adds up the trips.
    """
    room = 0
    for run in range(len(first)):
        room += last[run] - first[run]
    begins, stops, inside = np.empty(room, np.int64), np.empty(room, np.int64), np.empty(room, np.int64)
    n = 0
    for run in range(len(first)):
        at = first[run]
        while at < last[run] and zone[rank[at]] >= 0:
            behind = end[zone[rank[at]]]
            # Strides that double, then halve: the longer a run, the less of it is looked at.
            low, stride = at + 1, 1
            while low + stride <= last[run] and rank[low + stride - 1] < behind:
                low += stride
                stride *= 2
            while stride > 0:
                if low + stride <= last[run] and rank[low + stride - 1] < behind:
                    low += stride
                stride //= 2
            if reach[flows[at]] > depth:
                begins[n], stops[n], inside[n] = at, low, run
                n += 1
            at = low
    leads, above, trips = np.empty(n, np.int32), np.empty(n, np.int32), np.empty(n, np.int64)
    zones = np.empty((len(fixed) + 1, n), np.int32)
    for i in range(n):
        leads[i], above[i] = lead[inside[i]], number[inside[i]]
        trips[i] = upto[stops[i]] - upto[begins[i]]
        zones[len(fixed), i] = zone[rank[begins[i]]]
        for axis in range(len(fixed)):
            zones[axis, i] = fixed[axis, leads[i]]
    return begins[:n].copy(), stops[:n].copy(), leads, above, zones, trips


@njit(cache=True)
def keep_runs(
    safe: NDArray[np.bool_],
    first: NDArray[np.int64],
    last: NDArray[np.int64],
    lead: NDArray[np.int32],
    above: NDArray[np.int32],
    zones: NDArray[np.int32],
    flows: NDArray[np.int32],
    reach: NDArray[np.int32],
    depth: int,
    upto: NDArray[np.float64],
) -> tuple[
    NDArray[np.int64],
    NDArray[np.int64],
    NDArray[np.int32],
    NDArray[np.int32],
    NDArray[np.int32],
    NDArray[np.float64],
]:  # pragma: no cover - compiled
    """Return first, last, lead, above, zones and volume of the safe runs; the flows of others end here.

    ``upto`` adds up the volume. The reach of all flows in unsafe runs is set to this depth.
    """
    n = 0
    for run in range(len(first)):
        n += safe[run]
    firsts, lasts, volume = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n)
    leads, aboves = np.empty(n, np.int32), np.empty(n, np.int32)
    kept = np.empty((len(zones), n), np.int32)
    n = 0
    for run in range(len(first)):
        if not safe[run]:
            for at in range(first[run], last[run]):
                reach[flows[at]] = depth
            continue
        firsts[n], lasts[n], leads[n], aboves[n] = first[run], last[run], lead[run], above[run]
        volume[n] = upto[last[run]] - upto[first[run]]
        for axis in range(len(zones)):
            kept[axis, n] = zones[axis, run]
        n += 1
    return firsts, lasts, leads, aboves, kept, volume


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
