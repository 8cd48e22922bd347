"""Compiled loops over products of zones and cuts of trees."""

from __future__ import annotations

import heapq
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

NEVER = 2**62
"""The step of a merge that does not happen."""


@njit(cache=True)
def merge_order(
    parents: tuple[NDArray[Any], NDArray[Any]],
    occurring: tuple[NDArray[Any], NDArray[Any]],
    costs: tuple[NDArray[Any], NDArray[Any]],
    ranks: tuple[NDArray[Any], NDArray[Any]],
    tops: tuple[int, int],
    active: tuple[int, int],
    tolerance: float,
) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:  # pragma: no cover - compiled
    """Return, for each axis, the step at which each zone replaces its children, and the number of steps.

    Everything comes as (origins, destinations): parents, the number of occurring children still to
    become active, cost, place in the order of ids, the zone that covers all, and the active tiles.
    """
    when = (np.full(len(parents[0]), NEVER, np.int64), np.full(len(parents[1]), NEVER, np.int64))
    waiting = (occurring[0].copy(), occurring[1].copy())
    heap_o = [(np.int64(0), np.int64(0), np.int64(0)) for _ in range(0)]
    heap_d = [(np.int64(0), np.int64(0), np.int64(0)) for _ in range(0)]
    for axis in range(2):
        heap = heap_o if axis == 0 else heap_d
        # A tile has no occurring children; the parents whose last child is a tile are ready at once.
        for zone in range(len(parents[axis])):
            if occurring[axis][zone] == 0 and costs[axis][zone] > 0 and zone != tops[axis]:
                up = parents[axis][zone]
                waiting[axis][up] -= 1
                if waiting[axis][up] == 0:
                    heapq.heappush(heap, (np.int64(costs[axis][up]), np.int64(ranks[axis][up]), np.int64(up)))
    left = np.array([active[0], active[1]], np.int64)
    step = 0
    # Invariant: a heap holds exactly the zones of its axis whose occurring children are all active.
    while len(heap_o) > 0 or len(heap_d) > 0:
        # Cross-multiplied, so that a drift of exactly the tolerance is not taken for more by rounding.
        now, first = left[0] * active[1], left[1] * active[0]
        if now - first > tolerance * first:
            axis = 0
        elif first - now > tolerance * first:
            axis = 1
        else:
            axis = int(step % 2)
        if len(heap_o if axis == 0 else heap_d) == 0:
            axis = 1 - axis
        _, _, chosen = heapq.heappop(heap_o if axis == 0 else heap_d)
        zone = int(chosen)
        step += 1
        when[axis][zone] = step
        left[axis] -= occurring[axis][zone] - 1
        if zone != tops[axis]:
            up = parents[axis][zone]
            waiting[axis][up] -= 1
            if waiting[axis][up] == 0:
                entry = (np.int64(costs[axis][up]), np.int64(ranks[axis][up]), np.int64(up))
                heapq.heappush(heap_o if axis == 0 else heap_d, entry)
    return when[0], when[1], step


RELEASE = -1
SUPPRESS = -2


@njit(cache=True)
def best_partition(
    loss: NDArray[np.float64],
    volume: NDArray[np.float64],
    up: NDArray[np.int32],
    inner: NDArray[np.float64],
    may_split: NDArray[np.bool_],
    price: float,
    may_withhold: bool,
    below: NDArray[np.float64],
) -> tuple[NDArray[np.int8], float, float]:  # pragma: no cover - compiled
    """Return the best choice for every product, and the loss and the suppressed volume of the best partition.

    A product is released as it is (``loss`` per unit of volume; never if that is infinite), suppressed
    (``price`` per unit; only if it cannot be released where none ``may_withhold`` what is safe), or split on
    one axis; volume outside the safe children of a split is suppressed.
    Products stand behind those they are a part of, so one pass backwards sees all children before their
    parent. ``below`` is room to work in, two numbers a product and axis: to ask for it anew every time takes
    nearly as long as the work.
    """
    axes, n = up.shape
    choice = np.empty(n, np.int8)
    # Loss and suppressed volume are kept apart: at a high price the one would drown in the other's cost.
    below[:] = 0.0
    lost_below, hidden_below = below
    lost, hidden = 0.0, 0.0
    for p in range(n - 1, -1, -1):
        # Nothing at all may weigh nothing: infinity times zero would be no number.
        lost, hidden, choice[p] = loss[p] if loss[p] == np.inf else loss[p] * volume[p], 0.0, RELEASE
        cost = lost
        if price * volume[p] < cost and (may_withhold or cost == np.inf):
            cost, lost, hidden, choice[p] = price * volume[p], 0.0, volume[p], SUPPRESS
        for axis in range(axes):
            gone = hidden_below[axis, p] + volume[p] - inner[axis, p]
            split = lost_below[axis, p] + price * gone
            if may_split[axis, p] and split < cost:
                cost, lost, hidden, choice[p] = split, lost_below[axis, p], gone, axis
        for axis in range(axes):
            parent = up[axis, p]
            if parent >= 0:
                lost_below[axis, parent] += lost
                hidden_below[axis, parent] += hidden
    # The root comes last in this pass, so loss and suppressed volume are the whole partition's.
    return choice, lost, hidden


@njit(cache=True)
def follow_choices(
    choice: NDArray[np.int8], up: NDArray[np.int32]
) -> NDArray[np.int32]:  # pragma: no cover - compiled
    """Return, for every product, the released product it lies in, -1 where it lies in none."""
    axes, n = up.shape
    reached = np.zeros(n, np.bool_)
    home = np.full(n, -1, np.int32)
    reached[0] = True
    # Invariant: everything above p is settled when p is looked at.
    for p in range(n):
        for axis in range(axes):
            parent = up[axis, p]
            if parent >= 0:
                if reached[parent] and choice[parent] == axis:
                    reached[p] = True
                if home[parent] >= 0:
                    home[p] = home[parent]
        if reached[p] and choice[p] == RELEASE:
            home[p] = p
    return home


@njit(cache=True)
def place_flows(
    codes: tuple[NDArray[np.int32], ...],
    ancestors: tuple[NDArray[np.int32], ...],
    sizes: NDArray[np.int64],
    choice: NDArray[np.int8],
    table: tuple[NDArray[np.int64], NDArray[np.int32]],
) -> NDArray[np.int32]:  # pragma: no cover - compiled
    """Return the released product of every flow, -1 where it is suppressed, by following the choices.

    ``ancestors[axis][depth, tile]`` is -1 below the tile itself, which is never split.
    """
    axes = len(codes)
    home = np.empty(len(codes[0]), np.int32)
    depth = np.empty(axes, np.int64)
    mask = np.uint64(len(table[0]) - 1)
    for flow in range(len(home)):
        depth[:] = 0
        p = 0
        # Invariant: p is the safe product of the flow's zones at these depths, reached by the choices.
        while p >= 0 and choice[p] >= 0:
            depth[choice[p]] += 1
            key = np.int64(0)
            for axis in range(axes):
                key = key * sizes[axis] + ancestors[axis][depth[axis], codes[axis][flow]]
            mixed = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
            at = (mixed ^ (mixed >> np.uint64(32))) & mask
            while table[0][at] != key and table[0][at] != -1:
                at = (at + np.uint64(1)) & mask
            p = table[1][at] if table[0][at] == key else -1
        home[flow] = p if p >= 0 and choice[p] == RELEASE else -1
    return home


@njit(cache=True)
def best_cut(
    cost: NDArray[np.float64], parent: NDArray[np.int32], n_tiles: int
) -> NDArray[np.bool_]:  # pragma: no cover - compiled
    """Return the cut of a tree that costs least; of two equal costs the undivided zone wins.

    Zones stand behind those below them, tiles first.
    """
    n = len(cost)
    own, below = np.ones(n, np.bool_), np.zeros(n)
    for zone in range(n):
        best = cost[zone]
        if zone >= n_tiles:
            own[zone] = best <= below[zone]
            best = min(best, below[zone])
        if parent[zone] >= 0:
            below[parent[zone]] += best
    highest(own, parent)
    return own


@njit(cache=True)
def highest(chosen: NDArray[np.bool_], parent: NDArray[np.int32]) -> None:  # pragma: no cover - compiled
    """Leave of the zones that are chosen those with none above them that is."""
    inside = np.zeros(len(chosen), np.bool_)
    for zone in range(len(chosen) - 1, -1, -1):
        if parent[zone] >= 0 and inside[parent[zone]]:
            inside[zone], chosen[zone] = True, False
        inside[zone] = inside[zone] or chosen[zone]


@njit(cache=True)
def sums_by_zone(
    starts: NDArray[np.int64],
    zone: NDArray[np.int32],
    loss: NDArray[np.float64],
    volume: NDArray[np.float64],
    chosen: NDArray[np.bool_],
    price: float,
    size: int,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:  # pragma: no cover - compiled
    """Return loss and volume per zone, summed over products whose other zone is chosen and not too dear.

    Products are in the order of their other zone, those of each from one of ``starts`` to the next, so that
    only those of chosen ones are looked at. An infinite loss is too dear at any price.
    """
    losses, volumes = np.zeros(size), np.zeros(size)
    for other in range(len(chosen)):
        if chosen[other]:
            for p in range(starts[other], starts[other + 1]):
                if loss[p] <= price and loss[p] < np.inf:
                    losses[zone[p]] += loss[p] * volume[p]
                    volumes[zone[p]] += volume[p]
    return losses, volumes


@njit(cache=True)
def sums_by_corner(
    zone: NDArray[np.int32],
    loss: NDArray[np.float64],
    volume: NDArray[np.float64],
    first: tuple[NDArray[np.int64], NDArray[np.int64]],
    behind: tuple[NDArray[np.int64], NDArray[np.int64]],
    sizes: tuple[int, int],
) -> NDArray[np.float64]:  # pragma: no cover - compiled
    """Return loss and volume of all products that may be released, noted at the corners of their boxes.

    A product stands in a box of levels, on each axis from that of its zone, ``first``, to before the one
    ``behind`` it. Running sums along both axes fill the boxes.
    """
    table = np.zeros((2, sizes[0], sizes[1]))
    for p in range(len(loss)):
        if loss[p] == np.inf:
            continue
        o, d = zone[0, p], zone[1, p]
        for sign_o, row in ((1.0, first[0][o]), (-1.0, behind[0][o])):
            for sign_d, column in ((1.0, first[1][d]), (-1.0, behind[1][d])):
                table[0, row, column] += sign_o * sign_d * loss[p] * volume[p]
                table[1, row, column] += sign_o * sign_d * volume[p]
    return table


@njit(cache=True)
def sort_flows(
    flows: NDArray[np.int32], zone: NDArray[np.int32], codes: NDArray[np.int32], reach: NDArray[np.int32]
) -> NDArray[np.int32]:  # pragma: no cover - compiled
    """Return the flows by zone, flows of one zone in the order given; those without one or reach stay out.

    ``zone`` is the zone of every tile, -1 for none, and ``codes`` the tile of every flow.
    """
    ends = np.zeros(zone.max() + 2, np.int64)
    # Looked up once: flows lie all over the columns, and fetching what is said of them takes the time here.
    home = np.empty(len(flows), np.int32)
    for at in range(len(flows)):
        home[at] = zone[codes[flows[at]]] if reach[flows[at]] > 0 else -1
        if home[at] >= 0:
            ends[home[at] + 1] += 1
    for z in range(1, len(ends)):
        ends[z] += ends[z - 1]
    found = np.empty(ends[-1], np.int32)
    # Invariant: ends[z] is where the next flow of zone z belongs.
    for at in range(len(flows)):
        z = home[at]
        if z >= 0:
            found[ends[z]] = flows[at]
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
) -> NDArray[np.int64]:  # pragma: no cover - compiled
    """Return a table of the runs of flows that share a zone on each of the first axes.

    ``zones`` is the zone of every tile, axis by axis, and ``codes`` the tile of every flow. Flows are sorted
    by their zones.
    """
    n, axes = len(flows), len(zones)
    starts, here = np.empty(n + 1, np.int64), np.empty(axes, np.int64)
    runs, at = 0, 0
    while at < n:
        starts[runs] = at
        runs += 1
        for axis in range(axes):
            here[axis] = zones[axis][codes[axis][flows[at]]]
        # Strides that double, then halve: the longer a run, the less of it is looked at.
        low, stride = at + 1, 1
        while low + stride <= n and _is_in(flows[low + stride - 1], here, zones, codes):
            low += stride
            stride *= 2
        while stride > 0:
            if low + stride <= n and _is_in(flows[low + stride - 1], here, zones, codes):
                low += stride
            stride //= 2
        at = low
    starts[runs] = n
    table = np.zeros((ZONES + axes + 1, runs), np.int64)
    for run in range(runs):
        table[FIRST, run], table[LAST, run] = starts[run], starts[run + 1]
        for axis in range(axes):
            table[ZONES + axis, run] = zones[axis][codes[axis][flows[starts[run]]]]
    return table


@njit(cache=True)
def _is_in(
    flow: int,
    here: NDArray[np.int64],
    zones: tuple[NDArray[np.int32], ...],
    codes: tuple[NDArray[np.int32], ...],
) -> bool:  # pragma: no cover - compiled
    same = True
    for axis in range(len(here)):
        same = same and zones[axis][codes[axis][flow]] == here[axis]
    return same


@njit(cache=True)
def sums_upto(flows: NDArray[np.int32], values: NDArray[Any]) -> NDArray[Any]:  # pragma: no cover - compiled
    """Return what the values of flows add up to, from 0 before the first flow."""
    upto = np.zeros(len(flows) + 1, values.dtype)
    for at in range(len(flows)):
        upto[at + 1] = upto[at] + values[flows[at]]
    return upto


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
    least: float,
) -> NDArray[np.int64]:  # pragma: no cover - compiled
    """Return the runs inside runs that share a zone, which becomes the last of their zones.

    ``number`` is that of the first run, the others follow; -1 where they have none. ``rank`` grows within
    a run; ``zone`` is by rank, -1 for none, and ``end`` the first rank behind a zone. A run whose ranks
    have no zone has no runs inside, and one whose first flow does not reach beyond this depth is left
    out. ``upto`` adds up the trips; runs of fewer than ``least`` are left out too, and their flows reach no
    further than this depth.
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
                if upto[low] - upto[at] >= least:
                    begins[n], stops[n], inside[n] = at, low, run
                    n += 1
                else:
                    for place in range(at, low):
                        reach[flows[place]] = depth
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
