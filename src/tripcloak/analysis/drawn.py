"""Drawn zones: how much of every released zone lies in each, and the original trips between them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from tripcloak.analysis import Overlap, area_overlap, equal_area, point_overlap
from tripcloak.analysis.overlap import Shapes, refuse_overlaps
from tripcloak.analysis.unevenness import NEIGHBOURS, Places, largest, unevenness
from tripcloak.flows.model import ODMatrix
from tripcloak.flows.model.matrix import TripEnds
from tripcloak.flows.release.reading import Published
from tripcloak.ground.arrays import Bools, Floats, Ints
from tripcloak.ground.errors import InputError
from tripcloak.hierarchy import OUTSIDE, Hierarchy, ZoneFile, member_cells
from tripcloak.hierarchy.h3.tiling import WORLD
from tripcloak.promises import Volume

MOST_POINTS = 400_000
STEPS = 12
"""Points along each side of a zone's frame, where its tiles are not known one by one."""


def tile_points(ids: NDArray[np.str_], shapes: Shapes, spec: str) -> tuple[Ints, Shapes]:
    """Return points, and the zone that each belongs to: centres of tiles, as many as are worth it.

    Of H3 cells the tiles are known; where they are too many, coarser cells stand for them. For other
    zones points of an even grid inside the outline stand for the tiles.

    Examples
    --------
    >>> row, points = tile_points(np.array(["8928308280fffff"]), np.array([None]), "h3:10")
    >>> len(points), row.tolist()
    (7, [0, 0, 0, 0, 0, 0, 0])
    """
    import shapely

    match = re.match(r"h3:(\d{1,2})", spec)
    if match and not any(str(name).startswith("box_") for name in ids):
        row, lon_lat = _h3_points(ids, int(match[1]))
    else:
        row, lon_lat = _grid_points(shapes)
    return row, shapely.points(lon_lat)


def _h3_points(ids: NDArray[np.str_], resolution: int) -> tuple[Ints, NDArray[np.float64]]:
    import h3

    cells = [h3.get_res0_cells() if name == WORLD else member_cells(str(name)) for name in ids]
    steps = np.array([resolution - h3.get_resolution(cell) for group in cells for cell in group])
    # The largest zones give way first: tiles of all others stay what they are.
    deepest = int(steps.max(initial=0))
    while deepest > 0 and (7.0 ** np.minimum(steps, deepest)).sum() > MOST_POINTS:
        deepest -= 1
    row, points = [], []
    for number, group in enumerate(cells):
        for cell in group:
            finest = h3.get_resolution(cell)
            below = h3.cell_to_children(cell, max(finest, min(resolution, finest + deepest)))
            points += [h3.cell_to_latlng(tile)[::-1] for tile in below]
            row += [number] * len(below)
    return np.array(row, dtype=np.int64), np.array(points, dtype=float).reshape(-1, 2)


def _grid_points(shapes: Shapes) -> tuple[Ints, NDArray[np.float64]]:
    import shapely

    row, points = [], []
    steps = (np.arange(STEPS) + 0.5) / STEPS
    for number, shape in enumerate(shapes):
        if shape is None:
            continue
        west, south, east, north = shape.bounds
        x, y = (
            axis.reshape(-1)
            for axis in np.meshgrid(west + steps * (east - west), south + steps * (north - south))
        )
        inside = shapely.contains_xy(shape, x, y)
        if not inside.any():
            point = shape.representative_point()
            x, y, inside = np.array([point.x]), np.array([point.y]), np.array([True])
        points.append(np.stack([x[inside], y[inside]], axis=1))
        row.append(np.full(int(inside.sum()), number))
    return np.concatenate(row).astype(np.int64), np.concatenate(points)


Rule = Literal["area", "tiles"]
RULES: tuple[Rule, ...] = get_args(Rule)


def read_drawn(path: str, id_column: str | None = None) -> ZoneFile:
    """Return the zones of a file, or raise where they have no outlines or overlap.

    Parameters
    ----------
    path
        GeoJSON, GeoParquet or CSV with outlines.
    id_column
        The column of the file that names the zones, where it has no usual name.
    """
    drawn = ZoneFile.read(path, id_column=id_column)
    shapes = drawn.geometries
    if shapes is None or any(shape is None for shape in shapes):
        raise InputError("flows are rebuilt between zones with outlines, and some of these have none")
    refuse_overlaps(_flat(shapes), drawn.ids)
    return drawn


def overlaps_with(published: Published, drawn: ZoneFile, rule: Rule = "area") -> dict[str, Overlap]:
    """Return, for origins and destinations, which share of every released zone lies in which drawn zone.

    Parameters
    ----------
    rule
        How a released zone is spread: evenly over its area, or over its tiles.
    """
    return {axis: _overlap(published, axis, drawn, rule) for axis in ("origin", "destination")}


def placed_flows(published: Published) -> Bools:
    """Return which released flows have an outline at both ends, or raise where none has."""
    ends = (("origin", published.origin), ("destination", published.destination))
    has = [
        np.array([shape is not None for shape in published.zones[axis].shapes], dtype=bool)[rows]
        for axis, rows in ends
    ]
    placed: Bools = has[0] & has[1]
    if not published.volume[placed].any():
        raise InputError("the released zones have no outlines, so nothing can be said about other zones")
    return placed


def _overlap(published: Published, axis: str, drawn: ZoneFile, rule: Rule) -> Overlap:
    """Return shares by the rule; bounds are those of the outlines, since drawn zones may cut tiles."""
    assert drawn.geometries is not None
    zones = published.zones[axis]
    by_area = area_overlap(_flat(zones.shapes), _flat(drawn.geometries))
    if rule == "area":
        return by_area
    row, points = tile_points(zones.ids, zones.shapes, str(published.facts["hierarchy"]["spec"]))
    return point_overlap(row, points, drawn.geometries, len(zones.ids))._replace(exact=by_area.exact)


def uneven(published: Published) -> float:
    """Return how clumped trips are inside the zones of a release, learnt from the release itself.

    Zones are joined that do not overlap: all of them where the release says so, else those of one size.
    Boxes overlap whatever their size, so nothing is learnt of them.
    """
    if "zone_form" in published.facts:
        return 1.0
    placed = placed_flows(published)
    sides = [
        _places(published, axis, rows, placed)
        for axis, rows in (("origin", published.origin), ("destination", published.destination))
    ]
    if min(len(side.area) for side in sides) < max(NEIGHBOURS):
        return 1.0
    smallest = published.facts["smallest"].get(published.facts["volume"], 1)
    return unevenness(sides[0], sides[1], published.volume[placed], max(float(smallest) - 1, 0.0))


def _places(published: Published, axis: str, rows: Ints, placed: Bools) -> Places:
    import shapely

    zones, volume = published.zones[axis], published.volume[placed]
    kept = np.array([shape is not None for shape in zones.shapes])
    if not published.facts["homogeneous"]:
        sizes, size = np.unique(zones.tiles[rows[placed]], return_inverse=True)
        kept &= zones.tiles == sizes[np.bincount(size, volume).argmax()]
    chosen = largest(volume, rows[placed], kept)
    shapes = zones.shapes[chosen]
    middle = shapely.get_coordinates(shapely.centroid(shapes))
    place = np.full(len(kept), -1)
    place[chosen] = np.arange(len(chosen))
    return Places(middle[:, 1], middle[:, 0], shapely.area(_flat(shapes)), place[rows[placed]])


def _flat(shapes: NDArray[Any]) -> Shapes:
    """Return outlines on a plane of true areas: empty where there is none, mended where one is broken."""
    import shapely

    known = np.array([shapely.Polygon() if shape is None else shape for shape in shapes], dtype=object)
    broken = np.flatnonzero(~shapely.is_valid(known))
    for row in broken:
        parts = shapely.get_parts(shapely.make_valid(known[row]))
        known[row] = shapely.union_all(parts[shapely.area(parts) > 0])
    return equal_area(known)


class Ends(NamedTuple):
    """Where some trips start and end: rows of the drawn zones (-1 is none of them), slot and volume."""

    origin: Ints
    destination: Ints
    slot: Ints
    volume: Floats


def original_ends(matrix: ODMatrix, drawn: ZoneFile, volume: Volume) -> Iterator[Ends]:
    """Yield all original trips, placed in drawn zones: by their raw ends, else by the centres of their tiles.

    Slots are 0 throughout where time is no axis.
    """
    for points in _flows_as_points(matrix, volume) if matrix.points is None else matrix.points():
        origin, destination = (
            np.where(rows == OUTSIDE, -1, rows.astype(np.int64))
            for rows in (
                drawn.locate(points.origin_lat, points.origin_lon),
                drawn.locate(points.destination_lat, points.destination_lon),
            )
        )
        slot = np.zeros(len(origin), np.int64) if points.slot is None else points.slot.astype(np.int64)
        weighed = matrix.points is None or volume == "population"
        weight = points.weight if weighed else None
        yield Ends(origin, destination, slot, np.ones(len(origin)) if weight is None else weight)


def _flows_as_points(matrix: ODMatrix, volume: Volume) -> Iterator[TripEnds]:
    flows = matrix.flows
    origin = _centres(matrix.origins, flows.origin)
    destination = _centres(matrix.destinations, flows.destination)
    yield TripEnds(
        flows.origin,
        flows.destination,
        *origin,
        *destination,
        matrix.volume(volume).astype(float),
        flows.slot,
    )


def _centres(tree: Hierarchy, tile: Ints) -> tuple[Floats, Floats]:
    lat, lon = tree.zones.lat[tile], tree.zones.lon[tile]
    if not np.isfinite(lat + lon).all():
        raise InputError(
            "the original trips have no coordinates, and neither have the tiles of their hierarchy, so they "
            "cannot be placed in other zones"
        )
    return lat, lon
