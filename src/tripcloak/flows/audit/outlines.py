"""Outlines of H3 zones held against the grid: along every edge, a tile of the zone is left and none right.

An outline is not built here a second time but walked around: whoever goes along the border of a zone's tiles
has one of them on the left hand and none on the right, step by step from corner to corner of a tile. As the
tiles of a zone hang together without holes, a closed walk of that kind is the whole border.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from tripcloak.flows.audit import cells
from tripcloak.ground.arrays import Bools, Floats, Ints

FARTHEST = 7
"""A zone further above its tiles is outlined by the cells so many resolutions below it."""

PIECES = (16, 10, 6, 4, 2)
"""Into how many parts an edge of a tile is cut at resolutions 0 to 4, where it is bent on a map."""

RADIUS_KM = 6371.007180918475
ROUNDING = 2e-5 / RADIUS_KM
"""Two centimetres, in radians: coordinates have seven decimals."""

BATCH = 20_000


class Drawn(NamedTuple):
    """What is published of a zone's shape: outline (shapely), area and representative point."""

    zone: str
    shape: Any
    area_km2: float
    lat: float
    lon: float


def wrongly_drawn(zones: Sequence[Drawn], resolution: int, unions: bool) -> int:
    """Return how many zones are not outlined by the border of their tiles, or measured wrongly by it.

    >>> import shapely
    >>> ring = [(lon, lat) for lat, lon in cells.h3.cell_to_boundary("8a1fb46622dffff")]
    >>> place = cells.centre("8a1fb46622dffff")
    >>> tile = Drawn("8a1fb46622dffff", shapely.Polygon(ring), cells.area_km2("8a1fb46622dffff"), *place)
    >>> moved = tile._replace(shape=shapely.Polygon([(ring[0][0] + 1e-5, ring[0][1]), *ring[1:]]))
    >>> wrongly_drawn([tile], 10, False), wrongly_drawn([tile, moved], 10, False)
    (0, 1)
    """
    right = np.array([_sound(zone) for zone in zones], dtype=bool)
    right[right] = [_measured(zone) for zone, sound in zip(zones, right.tolist(), strict=True) if sound]
    walked = [row for row in np.flatnonzero(right).tolist() if zones[row].zone != cells.WORLD]
    for batch in _batches(zones, walked):
        right[batch] = _walks([zones[row] for row in batch], resolution, unions)
    return int(np.count_nonzero(~right))


def _sound(zone: Drawn) -> bool:
    """Return whether an outline is a flat, valid area without holes that holds the zone's point."""
    import shapely

    shape = zone.shape
    if shape is None or shape.geom_type not in ("Polygon", "MultiPolygon") or shape.has_z:
        return False
    if not shape.is_valid or shapely.get_num_interior_rings(shapely.get_parts(shape)).any():
        return False
    if zone.zone == cells.WORLD:
        return bool(shapely.equals(shape, shapely.box(-180, -90, 180, 90)))
    return bool(shapely.contains_xy(shape, zone.lon, zone.lat))


def _measured(zone: Drawn) -> bool:
    """Return whether the stated area is that inside the outline, up to the rounding of its corners."""
    if zone.zone == cells.WORLD:
        return math.isclose(zone.area_km2, 4 * math.pi * RADIUS_KM**2, rel_tol=1e-6)
    start, end = _edges(zone.shape)
    reach = _unit(np.array([[zone.lon, zone.lat]]))
    one, two = _unit(start), _unit(end)
    volume = (reach * np.cross(one, two)).sum(axis=1)
    spread = 1 + (one * two).sum(axis=1) + (reach * one).sum(axis=1) + (reach * two).sum(axis=1)
    area = float(2 * np.arctan2(volume, spread).sum()) * RADIUS_KM**2
    around = float(np.linalg.norm(one - two, axis=1).sum()) * RADIUS_KM
    return abs(area - zone.area_km2) <= 1e-6 * area + 1e-5 * around


def _edges(shape: Any) -> tuple[Floats, Floats]:
    """Return where the edges of an outline start and end, as rows of longitude and latitude."""
    import shapely

    points, ring = shapely.get_coordinates(
        shapely.get_exterior_ring(shapely.get_parts(shape)), return_index=True
    )
    joined = ring[1:] == ring[:-1]
    return points[:-1][joined], points[1:][joined]


def _batches(zones: Sequence[Drawn], rows: Sequence[int]) -> Iterator[list[int]]:
    """Yield rows whose outlines together have a bounded number of corners."""
    import shapely

    batch: list[int] = []
    corners = 0
    for row in rows:
        batch.append(row)
        corners += int(shapely.get_num_coordinates(zones[row].shape))
        if corners > BATCH:
            yield batch
            batch, corners = [], 0
    if batch:
        yield batch


class _Walk(NamedTuple):
    """Edges of several outlines: where they start and end, and the number of the zone."""

    start: Floats
    end: Floats
    zone: Ints

    def where(self, chosen: Bools) -> _Walk:
        return _Walk(self.start[chosen], self.end[chosen], self.zone[chosen])


def _walks(zones: Sequence[Drawn], resolution: int, unions: bool) -> Bools:
    """Return which outlines go along the border of their zone's tiles."""
    ends = [_edges(zone.shape) for zone in zones]
    walk = _Walk(
        np.concatenate([start for start, _ in ends]),
        np.concatenate([end for _, end in ends]),
        np.repeat(np.arange(len(zones)), [len(start) for start, _ in ends]),
    )
    right = np.ones(len(zones), dtype=bool)
    cut = _along_a_cut(walk)
    right[[not _fits_together(walk.where(cut & (walk.zone == row))) for row in range(len(zones))]] = False
    walk = walk.where(~cut)
    parts = [cells.members(zone.zone, unions) for zone in zones]
    own = [cells.resolution_of(part[0]) if part else None for part in parts]
    finest = np.array([-1 if at is None else min(resolution, at + FARTHEST) for at in own])
    right[finest < 0] = False
    for tiles in np.unique(finest[finest >= 0]).tolist():
        chosen = walk.where(finest[walk.zone] == tiles)
        follows = _follows(chosen, tiles, [_holder(part) for part in parts])
        right[np.unique(chosen.zone[~follows])] = False
    return right


def _along_a_cut(walk: _Walk) -> Bools:
    """Return which edges run along the antimeridian, or along the edge of the map at a pole."""
    (x1, y1), (x2, y2) = walk.start.T, walk.end.T
    along: Bools = ((np.abs(x1) == 180) & (x1 == x2)) | ((np.abs(y1) == 90) & (y1 == y2))
    return along


def _fits_together(cut: _Walk) -> bool:
    """Return whether what is cut off on one side of the antimeridian goes on at the other."""
    up = cut.start[:, 0] == cut.end[:, 0]
    sides = []
    for side, first, second in ((180.0, cut.start, cut.end), (-180.0, cut.end, cut.start)):
        here = up & (cut.start[:, 0] == side)
        sides.append(sorted(zip(first[here, 1].tolist(), second[here, 1].tolist(), strict=True)))
    return sides[0] == sides[1]


def _holder(members: Sequence[str]) -> Callable[[int], bool]:
    """Return a function that says whether a cell lies in one of some cells."""
    from h3.api.basic_int import cell_to_parent

    inside = {int(member, 16) for member in members}
    at = cells.resolution_of(members[0]) if members else None
    return lambda cell: at is not None and cell_to_parent(cell, at) in inside


def _follows(walk: _Walk, tiles: int, holders: Sequence[Callable[[int], bool]]) -> Bools:
    """Return which edges go from corner to corner of a tile of their zone, none of its tiles on the right."""
    start, end = _unit(walk.start), _unit(walk.end)
    middle = start + end
    middle /= np.linalg.norm(middle, axis=1, keepdims=True)
    left = np.cross(middle, end - start)
    left /= np.maximum(np.linalg.norm(left, axis=1, keepdims=True), 1e-300)
    step = 0.1 * cells.edge_km(tiles) / RADIUS_KM
    inner, outer = _cells(middle + step * left, tiles), _cells(middle - step * left, tiles)
    follows = np.array(
        [
            holders[zone](a) and not holders[zone](b)
            for zone, a, b in zip(walk.zone.tolist(), inner, outer, strict=True)
        ],
        dtype=bool,
    )
    lines = _boundaries(inner)
    pieces = PIECES[tiles] if tiles < len(PIECES) else 1
    for points, degrees in ((start, walk.start), (end, walk.end)):
        follows &= _on_line(points, lines, pieces, loose=np.abs(degrees[:, 0]) == 180)
    return follows & _on_line(middle, lines, pieces, loose=np.ones(len(middle), dtype=bool))


def _cells(points: Floats, resolution: int) -> list[int]:
    from h3.api.basic_int import latlng_to_cell

    lat = np.degrees(np.arctan2(points[:, 2], np.hypot(points[:, 0], points[:, 1]))).tolist()
    lon = np.degrees(np.arctan2(points[:, 1], points[:, 0])).tolist()
    return [latlng_to_cell(*place, resolution) for place in zip(lat, lon, strict=True)]


def _boundaries(tiles: Sequence[int]) -> Floats:
    """Return the corners of tiles as directions, the first repeated until all have as many."""
    from h3.api.basic_int import cell_to_boundary

    known, which = np.unique(np.array(tiles, dtype=np.uint64), return_inverse=True)
    lines = [cell_to_boundary(tile) for tile in known.tolist()]
    longest = max(map(len, lines), default=0)
    padded = np.array([[*line, *line[:1] * (longest + 1 - len(line))] for line in lines])
    return _unit(padded.reshape(-1, 2)[:, ::-1]).reshape(len(lines), longest + 1, 3)[which]


def _on_line(points: Floats, lines: Floats, pieces: int, loose: Bools) -> Bools:
    """Return which points lie on an edge of their tile: at a corner, or where it is cut into pieces.

    A point that is ``loose`` may lie anywhere on an edge.
    """
    one, two = lines[:, :-1], lines[:, 1:]
    normal = np.cross(one, two)
    length = np.linalg.norm(normal, axis=2)
    normal = normal / np.maximum(length, 1e-300)[..., None]
    here = points[:, None]
    off = np.abs((normal * here).sum(axis=2))
    before = (np.cross(one, here) * normal).sum(axis=2)
    after = (np.cross(here, two) * normal).sum(axis=2)
    on = (off <= ROUNDING) & (before >= -ROUNDING) & (after >= -ROUNDING) & (length > 0)
    share = pieces * before / np.maximum(before + after, 1e-300)
    at_a_cut = np.abs(share - np.rint(share)) * length / pieces <= ROUNDING
    found: Bools = (on & (at_a_cut | loose[:, None])).any(axis=1)
    return found


def _unit(degrees: Floats) -> Floats:
    """Return rows of longitude and latitude as directions."""
    lon, lat = np.radians(degrees).T
    return np.stack([np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)], axis=1)
