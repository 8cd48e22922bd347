"""Compiled loops of Glove; `greedy_merges` has a plain twin in tests/oracles/flows/glove.py."""

from __future__ import annotations

import heapq
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tripcloak.ground.arrays import Bools, Floats, Ints

SIDES = 4
"""A flow's coordinates: two of its origin, two of its destination."""

TRIPS, TRAVELLERS, POPULATION = 0, 1, 2
"""Where the thresholds stand; 0 where none is asked for."""


_Pair = tuple[Any, Any, Any]
"""What it costs to merge two clusters, and their rows, ascending: pairs compare as they are preferred."""


class GloveSupport(NamedTuple):
    """What is counted: trips and population of every flow, who is in which, and the thresholds.

    ``people[offsets[i]:offsets[i + 1]]`` are in flow i, numbered from 0; empty if nobody is counted.
    """

    trips: Floats
    population: Floats
    offsets: Ints
    people: Ints
    least: Floats


class _Boxes(NamedTuple):
    """The clusters; a cluster stands at the row of its first flow, the other rows are gone."""

    low: Floats
    high: Floats
    volume: Floats
    trips: Floats
    population: Floats
    safe: Bools


class _People(NamedTuple):
    """Who is in a cluster, each person once, as a chain; given up when there are enough of them."""

    number: Ints
    first: Ints
    last: Ints
    who: Ints
    after: Ints
    met: Ints


class _Neighbours(NamedTuple):
    """The clusters that may be merged with a cluster, as a chain; ``up`` leads to where a row went.

    Whoever is in somebody's chain has that one in its own. ``used`` is the number of links in use.
    """

    up: Ints
    first: Ints
    last: Ints
    to: Ints
    after: Ints
    seen: Ints
    used: Ints


class _Bids(NamedTuple):
    """The best pair that every unsafe cluster knows: nothing it could do costs less."""

    cost: Floats
    left: Ints
    right: Ints


@njit(cache=True)
def greedy_merges(
    at: Floats, volume: Floats, support: GloveSupport, near: NDArray[np.int32]
) -> NDArray[np.int32]:  # pragma: no cover - compiled
    """Return the merges in order, cheapest pair of neighbours first, until all clusters are safe.

    A merge is a pair of rows (i, j), i < j: the cluster at row j joins the one at row i. ``at`` holds
    four coordinates a flow in metres, ``near`` the nearest flows of every flow, ascending.
    """
    n = len(at)
    people = _gathered(n, support)
    trips, population = support.trips.copy(), support.population.copy()
    boxes = _Boxes(at.copy(), at.copy(), volume.copy(), trips, population, np.zeros(n, np.bool_))
    neighbours = _linked(near)
    bids = _Bids(np.full(n, np.inf), np.full(n, -1, np.int64), np.full(n, -1, np.int64))
    heap = _empty_heap()
    for i in range(n):
        boxes.safe[i] = _enough(i, boxes, people, support.least)
    for i in range(n):
        _bid(i, boxes, neighbours, bids, heap)
    merges = np.empty((n, 2), np.int32)
    made = 0
    # Invariant: for every pair of neighbours of which one is unsafe, the heap holds a bid that costs no more.
    while len(heap) > 0:
        cost, i, j, owner = heapq.heappop(heap)
        if bids.cost[owner] != cost or bids.left[owner] != i or bids.right[owner] != j:
            continue
        gone = neighbours.up[i] != i or neighbours.up[j] != j
        if gone or _stretch(boxes, i, j) != cost:
            _bid(owner, boxes, neighbours, bids, heap)
            continue
        _unite(i, j, boxes, people, neighbours, support.least)
        merges[made, 0], merges[made, 1] = i, j
        made += 1
        bids.cost[j] = np.inf
        _bid(i, boxes, neighbours, bids, heap)
    return merges[:made].copy()


@njit(cache=True)
def _empty_heap() -> list[Any]:  # pragma: no cover - compiled
    # On its own: beside a comprehension numba drops assignments to arrays inside of tuples.
    return [(0.0, np.int64(0), np.int64(0), np.int64(0)) for _ in range(0)]


@njit(cache=True)
def _gathered(n: int, support: GloveSupport) -> _People:  # pragma: no cover - compiled
    """Return the people of every flow, one chain a flow."""
    size = len(support.people)
    who = support.people.astype(np.int32)
    after = np.arange(1, size + 1).astype(np.int32)
    first, last = np.full(n, -1, np.int32), np.full(n, -1, np.int32)
    number = np.zeros(n, np.int64)
    for i in range(n if size else 0):
        start, end = support.offsets[i], support.offsets[i + 1]
        number[i] = end - start
        if end > start:
            first[i], last[i], after[end - 1] = start, end - 1, -1
    # The last place is no person's: it holds the stamp of the latest count.
    return _People(number, first, last, who, after, np.zeros((int(who.max()) if size else 0) + 2, np.int64))


@njit(cache=True)
def _linked(near: NDArray[np.int32]) -> _Neighbours:  # pragma: no cover - compiled
    """Return the chains of a graph in which whoever is near another has it as a neighbour in turn."""
    n, width = near.shape
    # Two links for every pair, and two for every cluster that runs out of neighbours.
    room = 2 * n * width + 2 * n
    chains = _Neighbours(
        np.arange(n).astype(np.int32),
        np.full(n, -1, np.int32),
        np.full(n, -1, np.int32),
        np.empty(room, np.int32),
        np.empty(room, np.int32),
        np.zeros(n + 1, np.int64),
        np.zeros(1, np.int64),
    )
    for i in range(n):
        for neighbour in near[i]:
            j = int(np.int64(neighbour))
            place = np.searchsorted(near[j], i)
            mutual = place < width and near[j, place] == i
            if j != i and (i < j or not mutual):
                _link(chains, i, j)
                _link(chains, j, i)
    return chains


@njit(cache=True)
def _link(chains: _Neighbours, i: int, j: int) -> None:  # pragma: no cover - compiled
    """Put one cluster at the front of another's chain."""
    free = chains.used[0]
    chains.used[0] += 1
    chains.to[free], chains.after[free] = j, chains.first[i]
    if chains.first[i] < 0:
        chains.last[i] = free
    chains.first[i] = free


@njit(cache=True)
def _enough(i: int, boxes: _Boxes, people: _People, least: Floats) -> bool:  # pragma: no cover - compiled
    return bool(
        boxes.trips[i] >= least[TRIPS]
        and boxes.population[i] >= least[POPULATION]
        and people.number[i] >= least[TRAVELLERS]
    )


@njit(cache=True)
def _stretch(boxes: _Boxes, i: Any, j: Any) -> float:  # pragma: no cover - compiled
    """Return the metres by which the trips of two boxes are stretched, per trip that is not safe yet."""
    both, one, other = 0.0, 0.0, 0.0
    for side in range(SIDES):
        one += boxes.high[i, side] - boxes.low[i, side]
        other += boxes.high[j, side] - boxes.low[j, side]
        both += max(boxes.high[i, side], boxes.high[j, side]) - min(boxes.low[i, side], boxes.low[j, side])
    unsafe = (0.0 if boxes.safe[i] else boxes.volume[i]) + (0.0 if boxes.safe[j] else boxes.volume[j])
    if unsafe == 0:
        return np.inf
    return float(((both - one) * boxes.volume[i] + (both - other) * boxes.volume[j]) / unsafe)


@njit(cache=True)
def _bid(
    c: int, boxes: _Boxes, chains: _Neighbours, bids: _Bids, heap: list[Any]
) -> None:  # pragma: no cover - compiled
    """Make a cluster bid for its cheapest neighbour, and those bid for it that know none as cheap."""
    best: _Pair = (np.inf, np.int64(-1), np.int64(-1))
    chains.seen[-1] += 1
    stamp, before, link = chains.seen[-1], -1, chains.first[c]
    # Invariant: the chain up to here holds every neighbour met so far once, by the row it stands at now.
    while link >= 0:
        t = _row(chains.up, chains.to[link])
        if t == c or chains.seen[t] == stamp or (boxes.safe[t] and boxes.safe[c]):
            if before < 0:
                chains.first[c] = chains.after[link]
            else:
                chains.after[before] = chains.after[link]
        else:
            chains.seen[t], chains.to[link], before = stamp, t, link
            pair = _offer(boxes, c, t)
            best = pair if pair < best else best
            if not boxes.safe[t] and pair < (bids.cost[t], bids.left[t], bids.right[t]):
                _place(t, pair, bids, heap)
        link = chains.after[link]
    chains.last[c] = before
    if boxes.safe[c]:
        bids.cost[c] = np.inf
        return
    if before < 0:
        best = _renewed(c, boxes, chains)
    _place(c, best, bids, heap)


@njit(cache=True)
def _offer(boxes: _Boxes, c: int, t: int) -> _Pair:  # pragma: no cover - compiled
    i, j = np.int64(min(c, t)), np.int64(max(c, t))
    return _stretch(boxes, i, j), i, j


@njit(cache=True)
def _place(c: int, pair: _Pair, bids: _Bids, heap: list[Any]) -> None:  # pragma: no cover - compiled
    bids.cost[c], bids.left[c], bids.right[c] = pair
    # Clusters without volume are stretched for nothing: they wait until they are asked.
    if pair[0] < np.inf:
        heapq.heappush(heap, (pair[0], pair[1], pair[2], np.int64(c)))


@njit(cache=True)
def _renewed(c: int, boxes: _Boxes, chains: _Neighbours) -> _Pair:  # pragma: no cover - compiled
    """Return the cheapest pair with any cluster at all, which becomes the only neighbour."""
    best: _Pair = (np.inf, np.int64(-1), np.int64(-1))
    for t in range(len(chains.up)):
        if chains.up[t] == t and t != c:
            pair = _offer(boxes, c, t)
            best = pair if pair < best else best
    if best[1] >= 0:
        _link(chains, best[1], best[2])
        _link(chains, best[2], best[1])
    return best


@njit(cache=True)
def _row(up: Ints, i: int) -> Any:  # pragma: no cover - compiled
    """Return the row at which the cluster of a flow stands now; the way there is halved."""
    while up[i] != i:
        up[i] = up[up[i]]
        i = up[i]
    return np.int64(i)


@njit(cache=True)
def _unite(
    i: int, j: int, boxes: _Boxes, people: _People, chains: _Neighbours, least: Floats
) -> None:  # pragma: no cover - compiled
    """Merge the cluster at row j into the one at row i."""
    for side in range(SIDES):
        boxes.low[i, side] = min(boxes.low[i, side], boxes.low[j, side])
        boxes.high[i, side] = max(boxes.high[i, side], boxes.high[j, side])
    boxes.volume[i] += boxes.volume[j]
    boxes.trips[i] += boxes.trips[j]
    boxes.population[i] += boxes.population[j]
    _gather(i, j, people, least[TRAVELLERS])
    boxes.safe[i] = _enough(i, boxes, people, least)
    chains.up[j] = i
    if chains.first[i] < 0:
        chains.first[i] = chains.first[j]
    else:
        chains.after[chains.last[i]] = chains.first[j]
    if chains.first[j] >= 0:
        chains.last[i] = chains.last[j]


@njit(cache=True)
def _gather(i: int, j: int, people: _People, least: float) -> None:  # pragma: no cover - compiled
    """Add the people at row j to those at row i, unless either has enough of them."""
    if people.number[i] >= least or people.number[j] >= least:
        people.number[i] = max(people.number[i], people.number[j])
        return
    people.met[-1] += 1
    stamp, link = people.met[-1], people.first[i]
    while link >= 0:
        people.met[people.who[link]] = stamp
        link = people.after[link]
    link = people.first[j]
    # Invariant: exactly the people in the chain of i carry the stamp.
    while link >= 0:
        following = people.after[link]
        if people.met[people.who[link]] != stamp:
            people.met[people.who[link]] = stamp
            people.number[i] += 1
            people.after[link] = -1
            if people.first[i] < 0:
                people.first[i] = link
            else:
                people.after[people.last[i]] = link
            people.last[i] = link
        link = following
