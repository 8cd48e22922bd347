"""Outlines of zones of H3: the border of the tiles below a zone, followed edge by edge.

The children of a hexagon do not fill it: they reach over its edges and leave notches. So a zone, which
is its tiles, is outlined by their border and not by the hexagon's own. Where two cells of one resolution
meet there is one edge between them, and three between their children: the border of a zone is refined
from its own resolution down to that of the tiles, 3 times as many edges a step, while the tiles inside,
7 times as many a step, are never looked at.

Corners are where three tiles meet. Every zone takes a corner from the same one of the three, and rounds it
alike, so that neighbours share their vertices to the last bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from tripcloak.ground.arrays import Floats, Ints
from tripcloak.ground.errors import InternalError
from tripcloak.hierarchy.geometry import DIGITS, ring_outline, sphere_km2, to_degrees, unit_vectors
from tripcloak.hierarchy.h3.cells import child_cells, is_pentagon, last_digits, resolution_of
from tripcloak.hierarchy.tiling import Keys
from tripcloak.hierarchy.tree import Geometry

PIECES = (16, 10, 6, 4, 2)
"""Into how many an edge is cut at resolutions 0 to 4: its line on the globe is bent on a map."""

AROUND = (1, 5, 4, 6, 2, 3)
"""H3's directions about a hexagon, anticlockwise."""

MOST_STEPS = 7
"""Resolutions between a zone and the cells that its border is drawn with, at most."""


class Outlined(NamedTuple):
    """A zone's outline, and its area on the sphere in km2."""

    geometry: Geometry
    area_km2: float


@lru_cache(maxsize=1 << 14)
def tiles_outline(members: tuple[int, ...], resolution: int) -> Outlined:
    """Return the outline of all cells of a resolution inside some cells, which have one parent.

    Parameters
    ----------
    members
        A cell, or siblings that hang together.
    resolution
        Of the tiles.

    Examples
    --------
    >>> hexagon = 0x861FB4677FFFFFF
    >>> [len(tiles_outline((hexagon,), tiles).geometry["coordinates"][0]) - 1 for tiles in (6, 7, 8)]
    [6, 18, 54]
    >>> round(tiles_outline((hexagon,), 8).area_km2, 4)
    32.2239
    """
    sides = _border(members)
    finest = min(resolution, int(resolution_of(sides.inner[:1])[0]) + MOST_STEPS)
    for _ in range(finest - int(resolution_of(sides.inner[:1])[0])):
        sides = _refined(sides)
    lat, lon = _ring(sides).T
    return Outlined(ring_outline(lat, lon), sphere_km2(lat, lon))


class _Sides(NamedTuple):
    """Edges of a border, anticlockwise: the cell inside, the one outside, and the way from each to the other.

    Ways are H3's digits of direction, 1 to 6, each in the frame of the cell that it starts from.
    """

    inner: Keys
    outer: Keys
    way: Ints
    back: Ints


def _border(members: Sequence[int]) -> _Sides:
    """Return the border of cells of one resolution."""
    from h3.api.basic_int import get_directed_edge_destination, is_pentagon, origin_to_directed_edges

    if len(members) == 1 and not is_pentagon(members[0]):
        # The bits of an edge are those of its cell, another kind of index, and the way.
        return _sides([members[0] ^ (3 << 59) | way << 56 for way in AROUND])
    inside = set(members)
    edges = [edge for cell in members for edge in origin_to_directed_edges(cell)]
    outward = [edge for edge in edges if get_directed_edge_destination(edge) not in inside]
    return _chained(outward, closed=True)


def _chained(edges: list[int], *, closed: bool = False) -> _Sides:
    """Return directed edges in the order in which they follow each other, anticlockwise."""
    from h3.api.basic_int import directed_edge_to_boundary

    ends = np.array([[line[0], line[-1]] for line in map(directed_edge_to_boundary, edges)])
    start, stop = (unit_vectors(ends[:, end, 0], ends[:, end, 1]) for end in (0, 1))
    near = stop @ start.T
    after = near.argmax(axis=1)
    # The one that no other leads to comes first, in a closed border any.
    first = 0 if closed else int(near.max(axis=0).argmin())
    order = [first]
    while len(order) < len(edges):
        order.append(int(after[order[-1]]))
    if len(set(order)) < len(edges):
        raise InternalError("the border of a zone does not close")
    return _sides([edges[place] for place in order])


def _sides(edges: Sequence[int]) -> _Sides:
    from h3.api.basic_int import cells_to_directed_edge, directed_edge_to_cells

    pairs = [directed_edge_to_cells(edge) for edge in edges]
    inner, outer = np.array(pairs, dtype=np.uint64).reshape(-1, 2).T
    way = np.array([edge >> 56 & 7 for edge in edges], dtype=np.int64)
    back = np.array([cells_to_directed_edge(outer, inner) >> 56 & 7 for inner, outer in pairs])
    return _Sides(inner, outer, way, back)


class _Parts(NamedTuple):
    """The three edges between the children of two neighbours: digits of the children, and ways."""

    inner: Ints
    outer: Ints
    way: Ints
    back: Ints


def _refined(sides: _Sides) -> _Sides:
    """Return the border of the children, in the same order."""
    finer = int(resolution_of(sides.inner[:1])[0]) + 1
    odd = is_pentagon(sides.inner) | is_pentagon(sides.outer)
    kind = np.where(odd, np.arange(len(odd)) + 128, (finer % 2) * 64 + sides.way * 8 + sides.back)
    kinds, first, which = np.unique(kind, return_index=True, return_inverse=True)
    parts = [
        _between(int(sides.inner[row]), int(sides.outer[row]), int(key))
        for key, row in zip(kinds.tolist(), first.tolist(), strict=True)
    ]
    inner, outer, way, back = (
        np.array([getattr(part, name) for part in parts])[which].ravel() for name in _Parts._fields
    )
    inside, outside = np.repeat(sides.inner, 3), np.repeat(sides.outer, 3)
    return _Sides(child_cells(inside, inner), child_cells(outside, outer), way, back)


_KNOWN: dict[int, _Parts] = {}


def _between(inner: int, outer: int, kind: int) -> _Parts:
    """Return the parts of an edge.

    Away from pentagons they follow from the ways and from which of the two lattices the children are on,
    which a kind below 128 says: so they are worked out once.
    """
    found = _KNOWN.get(kind) if kind < 128 else None
    if found is None:
        found = _worked_out(inner, outer)
        if kind < 128:
            _KNOWN[kind] = found
    return found


def _worked_out(inner: int, outer: int) -> _Parts:
    from h3.api.basic_int import cell_to_children, cells_to_directed_edge, grid_disk

    there = set(cell_to_children(outer))
    edges = [
        cells_to_directed_edge(child, other)
        for child in cell_to_children(inner)
        for other in grid_disk(child, 1)
        if other in there
    ]
    sides = _chained(edges)
    if len(edges) != 3:
        raise InternalError("there are not three edges between the children of two neighbours")
    return _Parts(last_digits(sides.inner), last_digits(sides.outer), sides.way, sides.back)


def _ring(sides: _Sides) -> Floats:
    """Return the corners of a border as rows of latitude and longitude, the first not repeated."""
    corner, bends = _corners(sides), _bends(sides)
    resolution = int(resolution_of(sides.inner[:1])[0])
    pieces = PIECES[resolution] if resolution < len(PIECES) else 1
    if pieces == 1 and not bends:
        return corner
    rows = []
    for row, (start, end) in enumerate(zip(corner, np.roll(corner, -1, axis=0), strict=True)):
        line = [start, *bends.get(row, ()), end]
        rows += [_cut(one, two, pieces)[:-1] for one, two in pairwise(line)]
    return np.concatenate(rows)


def _corners(sides: _Sides) -> Floats:
    """Return where every edge begins, as rows of latitude and longitude."""
    from h3.api.basic_int import cell_to_boundary, cell_to_latlng

    inner, outer = sides.inner, sides.outer
    inner_before, outer_before = np.roll(inner, 1), np.roll(outer, 1)
    # About a corner stand three cells: one that both edges share, and two that differ.
    shared = inner_before == inner
    if np.any(shared == (outer_before == outer)):
        raise InternalError("the border of a zone does not close")
    trio = np.stack([inner, outer, np.where(shared, outer_before, inner_before)])
    cells, place = np.unique(trio, return_inverse=True)
    centres = unit_vectors(*np.array([cell_to_latlng(cell) for cell in cells.tolist()]).T)
    middle = centres[place.reshape(3, -1)].sum(axis=0)
    owners, which = np.unique(trio.min(axis=0), return_inverse=True)
    lines = [cell_to_boundary(cell) for cell in owners.tolist()]
    width = max(map(len, lines))
    points = np.array([line + line[-1:] * (width - len(line)) for line in lines])
    # The three lie evenly about their corner, and the other corners of a cell are far from it.
    near = np.einsum("ijk,ik->ij", unit_vectors(points[..., 0], points[..., 1])[which], middle)
    corners: Floats = np.round(points[which, near.argmax(axis=1)], DIGITS)
    return corners


def _bends(sides: _Sides) -> dict[int, list[Floats]]:
    """Return further points of edges that cross from one face of H3's icosahedron to another, by row."""
    from h3.api.basic_int import cell_to_boundary, cells_to_directed_edge, directed_edge_to_boundary

    if resolution_of(sides.inner[:1])[0] % 2 == 0:
        return {}
    bends = {}
    owners, others = np.minimum(sides.inner, sides.outer), np.maximum(sides.inner, sides.outer)
    for row, (owner, other) in enumerate(zip(owners.tolist(), others.tolist(), strict=True)):
        if len(cell_to_boundary(owner)) == 6:
            continue
        line = directed_edge_to_boundary(cells_to_directed_edge(owner, other))[1:-1]
        if line:
            points = [np.round(point, DIGITS) for point in line]
            bends[row] = points if owner == sides.inner[row] else points[::-1]
    return bends


def _cut(start: Floats, end: Floats, pieces: int) -> Floats:
    """Return points along the shortest way between two, both included, the same from either end."""
    if pieces == 1:
        return np.array([start, end])
    turned = tuple(start) > tuple(end)
    one, two = unit_vectors(*np.array([end, start] if turned else [start, end]).T)
    share = np.linspace(0, 1, pieces + 1)[:, None]
    points = np.round(np.column_stack(to_degrees(one * (1 - share) + two * share)), DIGITS)
    points[0], points[-1] = (end, start) if turned else (start, end)
    return points[::-1] if turned else points
