"""Places on the globe and outlines of zones, cut at the antimeridian as RFC 7946 (section 3.1.9) asks."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from tripcloak.ground.arrays import Floats
from tripcloak.hierarchy.tree import Geometry

EARTH_KM2 = 510_065_621.724
"""Area of the WGS 84 ellipsoid."""

EARTH_RADIUS_KM = 6371.007180918475
"""Radius of the sphere with that area."""

_AXIS_KM = 6378.137
_FLATTENING = 1 / 298.257223563


def unit_vectors(lat: Floats, lon: Floats) -> Floats:
    """Return the points as rows (x, y, z) on the unit sphere.

    >>> unit_vectors(np.array([90.0]), np.array([0.0])).round(6).tolist()
    [[0.0, 0.0, 1.0]]
    """
    phi, lam = np.radians(lat), np.radians(lon)
    flat = np.cos(phi)
    return np.stack([flat * np.cos(lam), flat * np.sin(lam), np.sin(phi)], axis=-1)


def to_degrees(vectors: Floats) -> tuple[Floats, Floats]:
    """Return (lat, lon) of the directions in which vectors point; their length does not matter.

    A sum of unit vectors points at the mean place, so this also ends a spherical mean.

    >>> lat, lon = to_degrees(unit_vectors(np.array([0.0, 0.0]), np.array([179.0, -177.0])).sum(axis=0))
    >>> float(np.round(lon, 6))
    -179.0
    """
    x, y, z = np.moveaxis(np.asarray(vectors, dtype=float), -1, 0)
    return np.degrees(np.arctan2(z, np.hypot(x, y))), np.degrees(np.arctan2(y, x))


def rectangle_km2(south: Floats, north: Floats, width: Floats) -> Floats:
    """Return the area on the WGS 84 ellipsoid between two parallels, over a width of longitude.

    >>> bool(np.isclose(rectangle_km2(-90.0, 90.0, 360.0), EARTH_KM2))
    True
    """
    e = np.sqrt(_FLATTENING * (2 - _FLATTENING))
    polar = _AXIS_KM * (1 - _FLATTENING)

    def from_equator(lat: Floats) -> Floats:
        s = np.sin(np.radians(lat))
        zone: Floats = s / (1 - (e * s) ** 2) + np.arctanh(e * s) / e
        return zone

    # The difference of two nearly equal terms loses digits only for rectangles of millimetres.
    area: Floats = polar**2 / 2 * np.radians(width) * (from_equator(north) - from_equator(south))
    return area


# Points stand for places without an outline (base stations); draw them some hundred metres wide.
_POINT_RADIUS_DEGREES = 0.003

DIGITS = 7
"""Decimals of degrees in outlines of hexagons: a centimetre."""


def sphere_km2(lat: Floats, lon: Floats) -> float:
    """Return the area on the sphere inside a ring of points, given anticlockwise, that shortest ways join.

    >>> octant = sphere_km2(np.array([0.0, 0.0, 90.0]), np.array([0.0, 90.0, 0.0]))
    >>> bool(np.isclose(octant, EARTH_KM2 / 8))
    True
    """
    east = np.radians((np.roll(lon, -1) - lon + 180) % 360 - 180)
    half = np.tan(np.radians(lat) / 2)
    after = np.roll(half, -1)
    below = 2 * np.arctan2(np.tan(east / 2) * (half + after), 1 + half * after)
    # Each term lies between an edge and the equator; around a pole the rest of the half globe remains.
    turns = float(np.rint(east.sum() / (2 * np.pi)))
    return float(EARTH_RADIUS_KM**2 * (2 * np.pi * abs(turns) - below.sum()))


def ring_outline(lat: Floats, lon: Floats) -> Geometry:
    """Return the area inside a ring of points, given anticlockwise: up to half the globe, without knots.

    Where the ring crosses the antimeridian a point is put that is the same for the area on the other side.

    Examples
    --------
    >>> ring_outline(np.array([0.0, 0.0, 1.0]), np.array([10.0, 11.0, 10.5]))["type"]
    'Polygon'
    >>> ring_outline(np.array([0.0, 0.0, 1.0]), np.array([179.0, -179.0, 180.0]))["type"]
    'MultiPolygon'
    """
    steps = np.abs(np.diff(lon, append=lon[:1]))
    if steps.max() <= 180:
        ring = np.column_stack([lon, lat]).tolist()
        return {"type": "Polygon", "coordinates": [[*ring, ring[0]]]}
    import shapely

    path = _with_crossings(lat, lon)
    turn = path[-1, 0] - path[0, 0]
    if abs(turn) > 180:
        # Around a pole: on the map, all between a line from edge to edge and the pole.
        pole = 90.0 if lat.mean() > 0 else -90.0
        path = np.vstack([path, [[path[-1, 0], pole], [path[0, 0], pole], path[0]]])
    area = _wrapped(shapely.Polygon(path))
    return geojson(shapely.transform(area, lambda xy: np.round(xy, DIGITS)))


def _with_crossings(lat: Floats, lon: Floats) -> Floats:
    """Return a closed ring as longitude, unwrapped, and latitude, from a crossing of the antimeridian on."""
    rows = []
    for (south, west), (north, east) in zip(
        np.column_stack([lat, lon]), np.column_stack([np.roll(lat, -1), np.roll(lon, -1)]), strict=True
    ):
        rows.append((west, south))
        if abs(east - west) > 180:
            # Reckoned from the eastern hemisphere, whichever way the ring goes, so that neighbours agree.
            (near, low), (far, high) = sorted([(west, south), (east, north)], reverse=True)
            one, two = unit_vectors(np.array([low, high]), np.array([near, far]))
            over = to_degrees(one * two[1] - two * one[1])[0]
            seam = round(float(over if one[1] * two[1] > 0 else -over), DIGITS)
            rows += [(180.0, seam)] if west > 0 else [(-180.0, seam)]
    points = np.array(rows)
    # From the crossing nearest to a pole: between the two, the ring does not cross again.
    first = int(np.where(np.abs(points[:, 0]) == 180, np.abs(points[:, 1]), -1).argmax())
    points = np.roll(points, -first, axis=0)
    # The next point lies on the other side.
    points[0, 0] = np.copysign(180.0, points[1, 0])
    closed = np.vstack([points, points[:1]])
    closed[:, 0] = np.round(np.unwrap(closed[:, 0], period=360), DIGITS)
    return closed


def rectangle_outline(south: float, west: float, north: float, east: float) -> Geometry:
    """Return the area between two parallels and two meridians, from west eastwards to east.

    Examples
    --------
    >>> rectangle_outline(-20, 177, -15, -178)["coordinates"]
    [[[[177, -20], [180, -20], [180, -15], [177, -15], [177, -20]]],
     [[[-180, -20], [-178, -20], [-178, -15], [-180, -15], [-180, -20]]]]
    """
    if west <= east:
        return {"type": "Polygon", "coordinates": [_rectangle(south, west, north, east)]}
    halves = [_rectangle(south, west, north, 180), _rectangle(south, -180, north, east)]
    return {"type": "MultiPolygon", "coordinates": [[half] for half in halves]}


def union_outline(geometries: Any) -> Geometry:
    """Return the union of shapely geometries; invalid ones are mended first.

    Examples
    --------
    >>> from shapely import box
    >>> union_outline([box(0, 0, 1, 1), box(1, 0, 2, 1), box(5, 0, 6, 1)])["type"]
    'MultiPolygon'
    """
    import shapely

    whole = np.asarray(geometries, dtype=object)
    return geojson(shapely.union_all(np.where(shapely.is_valid(whole), whole, shapely.make_valid(whole))))


def hull_outline(lat: Floats, lon: Floats) -> Geometry:
    """Return the convex hull of points, drawn a little wider, for places without an outline.

    Examples
    --------
    >>> hull_outline(np.array([48.1]), np.array([11.5]))["type"]
    'Polygon'
    """
    import shapely

    middle = np.degrees(np.angle(np.exp(1j * np.radians(lon)).sum()))
    east = (lon - middle + 180) % 360 - 180
    squeeze = max(float(np.cos(np.radians(lat.mean()))), 0.01)
    hull = shapely.convex_hull(shapely.multipoints(np.column_stack([east * squeeze, lat])))
    wide = shapely.buffer(hull, _POINT_RADIUS_DEGREES, quad_segs=4)
    return geojson(_wrapped(shapely.transform(wide, lambda xy: xy / [squeeze, 1] + [middle, 0])))


def geojson(geometry: Any) -> Geometry:
    """Return a shapely area as GeoJSON: outer rings anticlockwise, lines and points left out.

    Examples
    --------
    >>> from shapely import box
    >>> geojson(box(0, 0, 1, 1))["coordinates"]
    [[[1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [0.0, 0.0], [1.0, 0.0]]]
    """
    import shapely
    from shapely.geometry.polygon import orient

    parts = [orient(part) for part in shapely.get_parts(shapely.get_parts(geometry)) if part.area > 0]
    whole = parts[0] if len(parts) == 1 else shapely.MultiPolygon(parts)
    document: Geometry = json.loads(shapely.to_geojson(whole))
    return document


def _wrapped(geometry: Any) -> Any:
    """Return an area whose longitudes run past 180 degrees, cut there and moved back into range."""
    import shapely

    pieces = []
    for turn in (-360, 0, 360):
        piece = shapely.intersection(geometry, shapely.box(turn - 180, -90, turn + 180, 90))
        pieces.append(shapely.transform(piece, lambda xy, turn=turn: xy - [turn, 0]))
    return shapely.GeometryCollection([piece for piece in pieces if not piece.is_empty])


def _rectangle(south: float, west: float, north: float, east: float) -> list[list[float]]:
    return [[west, south], [east, south], [east, north], [west, north], [west, south]]
