"""Compiled loops of the measures; each has a plain twin in tests/oracles/flows/measures.py."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tripcloak.ground.arrays import Bools, Floats, Ints

NONE = -1
"""No released zone above."""

TOO_LONG = -1.0
"""The length of a line that the short formula does not measure to a millimetre."""

REACH_M = 500_000.0

_LEAF = 16
"""Points that are looked at one by one."""

_APART, _ACROSS, _WITHIN = 0, 1, 2

_AXIS_M = 6378137.0
_FLATTENING = 1 / 298.257223563
_E2 = _FLATTENING * (2 - _FLATTENING)
_SECOND_E2 = _E2 / (1 - _E2)


@njit(cache=True)
def next_released(parent: Ints, released: Bools) -> NDArray[np.int64]:  # pragma: no cover - compiled
    """Return, for every zone, the lowest released zone strictly above it; NONE where there is none."""
    above = np.full(len(parent), NONE, np.int64)
    # Invariant: parents stand behind their children, so above[parent[zone]] is already settled.
    for zone in range(len(parent) - 2, -1, -1):
        up = parent[zone]
        above[zone] = up if released[up] else above[up]
    return above


@njit(cache=True)
def sum_of_covering(
    tiles: tuple[Ints, Ints, Ints],
    above: tuple[Ints, Ints, Ints],
    first: Ints,
    within: Ints,
    share: Floats,
) -> NDArray[np.float64]:  # pragma: no cover - compiled
    """Return, for every flow, the sum of a share over the released groups that cover it.

    Tiles and the next released zone above come as (origins, destinations, times). Groups are sorted by
    origin, destination and time: rows ``first[o]:first[o + 1]`` hold those of origin zone ``o``, and
    ``within`` numbers their (destination, time) in that order.
    """
    out = np.zeros(len(tiles[0]), np.float64)
    length = len(above[2])
    for i in range(len(out)):
        origin = np.int64(tiles[0][i])
        while origin != NONE:
            begin, end = first[origin], first[origin + 1]
            destination = np.int64(tiles[1][i]) if begin < end else np.int64(NONE)
            while destination != NONE:
                time = np.int64(tiles[2][i])
                while time != NONE:
                    out[i] += _sum_of_equals(within, share, begin, end, destination * length + time)
                    time = above[2][time]
                destination = above[1][destination]
            origin = above[0][origin]
    return out


@njit(cache=True)
def sum_in_boxes(
    points: NDArray[np.int32],
    low: NDArray[np.int32],
    high: NDArray[np.int32],
    volume: Floats,
    cells: Floats,
) -> NDArray[np.float64]:  # pragma: no cover - compiled
    """Return, for every point, the sum of what the boxes around it give each of their cells.

    A box gives its volume to its cells in equal parts; to its points, where these are more. Points and the
    edges of boxes, which belong to them, have one column a dimension.
    """
    tree = _grow(points)
    for box in range(len(volume)):
        held = _give(tree, low[box], high[box], 0.0)
        if held > 0:
            _give(tree, low[box], high[box], volume[box] / max(cells[box], held))
    out = np.zeros(len(points), np.float64)
    # Invariant: what a node was given has come down to it from everything above it.
    for node in range(len(tree.first)):
        first, last = tree.first[node], tree.last[node]
        if last - first > _LEAF:
            tree.given[2 * node + 1] += tree.given[node]
            tree.given[2 * node + 2] += tree.given[node]
        else:
            for i in range(first, last):
                out[tree.order[i]] = tree.given[node] + tree.own[i]
    return out


class _Tree(NamedTuple):
    """Points halved again and again: node i has the nodes 2 i + 1 and 2 i + 2 below it.

    A node holds the points ``first`` to below ``last`` of ``order``, all between ``low`` and ``high``.
    """

    order: Ints
    at: Ints
    first: Ints
    last: Ints
    low: Ints
    high: Ints
    given: Floats
    own: Floats


@njit(cache=True)
def _grow(points: Ints) -> _Tree:  # pragma: no cover - compiled
    n, sides = points.shape
    levels = 0
    while n > _LEAF << levels:
        levels += 1
    nodes = (2 << levels) - 1
    first, last = np.zeros(nodes, np.int64), np.zeros(nodes, np.int64)
    low, high = np.zeros((nodes, sides), np.int32), np.zeros((nodes, sides), np.int32)
    tree = _Tree(
        np.arange(n),
        points.copy(),
        first,
        last,
        low,
        high,
        np.zeros(nodes, np.float64),
        np.zeros(n, np.float64),
    )
    last[0] = n
    for node in range(nodes):
        start, end = first[node], last[node]
        if start == end:
            continue
        for side in range(sides):
            low[node, side], high[node, side] = tree.at[start:end, side].min(), tree.at[start:end, side].max()
        if end - start > _LEAF:
            _halve(tree, start, end, int(np.argmax(high[node] - low[node])))
            first[2 * node + 1], last[2 * node + 1] = start, (start + end) // 2
            first[2 * node + 2], last[2 * node + 2] = (start + end) // 2, end
    return tree


@njit(cache=True)
def _halve(tree: _Tree, start: int, end: int, side: int) -> None:  # pragma: no cover - compiled
    """Put the points of a run in such an order that those of its first half are not beyond the others."""
    low, high, middle = start, end - 1, (start + end) // 2
    # Invariant: nothing before low is beyond, and nothing behind high is short of, what lies between.
    while low < high:
        pivot = tree.at[(low + high) // 2, side]
        i, j = low, high
        while i <= j:
            while tree.at[i, side] < pivot:
                i += 1
            while tree.at[j, side] > pivot:
                j -= 1
            if i <= j:
                tree.order[i], tree.order[j] = tree.order[j], tree.order[i]
                for other in range(tree.at.shape[1]):
                    tree.at[i, other], tree.at[j, other] = tree.at[j, other], tree.at[i, other]
                i, j = i + 1, j - 1
        if middle <= j:
            high = j
        elif middle >= i:
            low = i
        else:
            return


@njit(cache=True)
def _give(tree: _Tree, low: Ints, high: Ints, share: float) -> int:  # pragma: no cover - compiled
    """Return the number of points in a box, each of which is given a share."""
    waiting = np.empty(128, np.int64)
    waiting[0], depth, held = 0, 1, 0
    while depth > 0:
        depth -= 1
        node = waiting[depth]
        first, last = tree.first[node], tree.last[node]
        relation = _relation(tree.low[node], tree.high[node], low, high)
        if relation == _APART:
            continue
        if relation == _WITHIN:
            tree.given[node] += share
            held += last - first
        elif last - first > _LEAF:
            waiting[depth], waiting[depth + 1] = 2 * node + 1, 2 * node + 2
            depth += 2
        else:
            for i in range(first, last):
                if _relation(tree.at[i], tree.at[i], low, high) == _WITHIN:
                    tree.own[i] += share
                    held += 1
    return held


@njit(cache=True)
def _relation(low: Ints, high: Ints, box_low: Ints, box_high: Ints) -> int:  # pragma: no cover - compiled
    """Return how what reaches from low to high lies to a box."""
    relation = _WITHIN
    for side in range(len(low)):
        if low[side] > box_high[side] or high[side] < box_low[side]:
            return _APART
        if low[side] < box_low[side] or high[side] > box_high[side]:
            relation = _ACROSS
    return relation


@njit(cache=True)
def places(lat: Floats, lon: Floats) -> NDArray[np.float64]:  # pragma: no cover - compiled
    """Return points in degrees as rows (x, y, z in metres from the Earth's centre, sine of latitude)."""
    out = np.empty((len(lat), 4), np.float64)
    for i in range(len(lat)):
        out[i, 0], out[i, 1], out[i, 2], out[i, 3] = _place(lat[i], lon[i])
    return out


@njit(cache=True)
def metres_to(
    lat: Floats, lon: Floats, table: Floats, rows: Ints
) -> NDArray[np.float64]:  # pragma: no cover - compiled
    """Return the metres from every point in degrees to a row of a table made by ``places``."""
    out = np.empty(len(rows), np.float64)
    for i in range(len(rows)):
        x, y, z, sine = _place(lat[i], lon[i])
        b = rows[i]
        out[i] = _line(x - table[b, 0], y - table[b, 1], z - table[b, 2], sine + table[b, 3])
    return out


@njit(cache=True)
def metres_between(
    table_a: Floats, rows_a: Ints, table_b: Floats, rows_b: Ints
) -> NDArray[np.float64]:  # pragma: no cover - compiled
    """Return the metres between rows of two tables made by ``places``."""
    out = np.empty(len(rows_a), np.float64)
    for i in range(len(rows_a)):
        a, b = rows_a[i], rows_b[i]
        out[i] = _line(
            table_a[a, 0] - table_b[b, 0],
            table_a[a, 1] - table_b[b, 1],
            table_a[a, 2] - table_b[b, 2],
            table_a[a, 3] + table_b[b, 3],
        )
    return out


@njit(cache=True)
def weigh_digits(
    bits: NDArray[np.uint32], weights: Floats, prefix: int, out: Floats
) -> None:  # pragma: no cover - compiled
    """Add the weight of every number to the place of its digit in ``out``.

    The digit is the upper half of the bits, or with ``prefix`` >= 0 the lower half of those numbers
    whose upper half is the prefix. Every number weighs 1 where ``weights`` is empty.
    """
    weighted = len(weights) > 0
    for i in range(len(bits)):
        upper = np.int64(bits[i] >> np.uint32(16))
        if prefix >= 0 and upper != prefix:
            continue
        digit = upper if prefix < 0 else np.int64(bits[i] & np.uint32(0xFFFF))
        out[digit] += weights[i] if weighted else 1.0


@njit(cache=True)
def _sum_of_equals(keys: Ints, values: Floats, begin: int, end: int, key: Any) -> float:  # pragma: no cover
    """Return the sum of the values whose key is this one, among ascending keys[begin:end]."""
    lo, hi = begin, end
    # Invariant: keys[x] < key for x < lo, keys[x] >= key for x >= hi.
    while lo < hi:
        mid = (lo + hi) // 2
        if keys[mid] < key:
            lo = mid + 1
        else:
            hi = mid
    total = 0.0
    while lo < end and keys[lo] == key:
        total += values[lo]
        lo += 1
    return total


@njit(cache=True, inline="always")
def _place(lat: float, lon: float) -> Any:  # pragma: no cover - compiled
    phi, lam = math.radians(lat), math.radians(lon)
    sine = math.sin(phi)
    normal = _AXIS_M / math.sqrt(1 - _E2 * sine * sine)
    flat = normal * math.cos(phi)
    return flat * math.cos(lam), flat * math.sin(lam), normal * (1 - _E2) * sine, sine


@njit(cache=True, inline="always")
def _line(dx: float, dy: float, dz: float, sines: float) -> Any:  # pragma: no cover - compiled
    """Return the length on the ellipsoid of a line given by its straight chord.

    A geodesic and the circle with the curvature of its middle differ by the fifth power of the length:
    by less than a micrometre at 100 km and less than a millimetre at 500 km. By Euler's formula that
    curvature is (1 + e'^2 cos^2(latitude) cos^2(azimuth)) / N, and the two cosines together are the
    rise of the chord along the axis, dz over the chord.
    """
    chord2 = dx * dx + dy * dy + dz * dz
    if chord2 > REACH_M * REACH_M:
        return TOO_LONG
    if chord2 == 0:
        return 0.0
    bend = 1 + _SECOND_E2 * dz * dz / chord2
    h = chord2 * bend * bend * (1 - _E2 * 0.25 * sines * sines) / (_AXIS_M * _AXIS_M)
    # 2 asin(x / 2) / x as a series in h = x^2.
    return math.sqrt(chord2) * (1 + h * (1 / 24 + h * (3 / 640 + h * (5 / 7168))))
