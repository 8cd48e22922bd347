"""Zone outlines made ready for a flat map: unwrapped at the antimeridian, closed at the poles, compact.

A page without a base map draws longitudes and latitudes on a plane, so an outline that steps from
179.9 to -179.9 would be drawn once around the world. Everything here works on rings of degrees and
hands back integers in microdegrees (a tenth of a metre).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tripcloak.ground.errors import InputError

Ring: TypeAlias = NDArray[np.float64]
Polygon: TypeAlias = list[Ring]
Outline: TypeAlias = list[list[list[int]]]

EARTH_RADIUS_KM = 6371.0088
MICRODEGREES = 1_000_000


def encode_outlines(geometries: Sequence[Mapping[str, Any]], areas_km2: Sequence[float]) -> list[Outline]:
    """One compact outline per geometry: polygons of rings of flat integers in microdegrees.

    The first pair of a ring is its start, every later pair a step from the one before; the closing
    point is left out. All outlines lie on one branch of longitude, the one that keeps them together.

    Parameters
    ----------
    geometries : sequence of mapping
        GeoJSON geometries, Polygon or MultiPolygon, in degrees of longitude and latitude.
    areas_km2 : sequence of float
        The area of each. It settles what a step of more than 180 degrees means: a zone that crosses
        the antimeridian, or one that is truly that wide.

    Examples
    --------
    >>> square = [[179.0, 0.0], [-179.0, 0.0], [-179.0, 2.0], [179.0, 2.0], [179.0, 0.0]]
    >>> encode_outlines([{"type": "Polygon", "coordinates": [square]}], [49_400.0])
    [[[[179000000, 0, 2000000, 0, 0, 2000000, -2000000, 0]]]]
    """
    shapes = [_flat_shape(_polygons(g), area) for g, area in zip(geometries, areas_km2, strict=True)]
    meridian = _central_meridian([_centre(polygon[0]) for shape in shapes for polygon in shape])
    return [[_encode(polygon, meridian) for polygon in shape] for shape in shapes]


def flat_polygons(geometry: Mapping[str, Any], area_km2: float, meridian: float) -> list[Polygon]:
    """The polygons of one geometry, each an outer ring and its holes, on the branch about a meridian.

    >>> square = [[179.0, 0.0], [-179.0, 0.0], [-179.0, 2.0], [179.0, 2.0], [179.0, 0.0]]
    >>> shape = flat_polygons({"type": "Polygon", "coordinates": [square]}, 49_400.0, -180.0)
    >>> shape[0][0][:, 0].tolist()
    [-181.0, -179.0, -179.0, -181.0, -181.0]
    """
    shape = _flat_shape(_polygons(geometry), area_km2)
    return [[_shifted(ring, meridian) for ring in polygon] for polygon in shape]


def shape_area_km2(shape: list[Polygon]) -> float:
    """The area inside the outer rings of a shape and outside its holes.

    >>> square = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [0.0, 0.0]])
    >>> round(shape_area_km2([[square]]))
    12364
    """
    return sum(
        _ring_area_km2(polygon[0]) - sum(_ring_area_km2(hole) for hole in polygon[1:]) for polygon in shape
    )


def _polygons(geometry: Mapping[str, Any]) -> list[Polygon]:
    kind = geometry.get("type") if isinstance(geometry, Mapping) else None
    if kind not in ("Polygon", "MultiPolygon"):
        raise InputError(
            f"A zone's geometry must be a Polygon or a MultiPolygon, found {kind or 'none'}: "
            "give every zone an outline."
        )
    parts = [geometry["coordinates"]] if kind == "Polygon" else geometry["coordinates"]
    polygons = [[_closed(ring) for ring in part] for part in parts if len(part)]
    if not polygons:
        raise InputError("A zone's geometry is empty: give every zone an outline with at least one ring.")
    return polygons


def _closed(ring: Sequence[Sequence[float]]) -> Ring:
    points = np.array([point[:2] for point in ring], dtype=np.float64).reshape(-1, 2)
    if not len(points) or not np.isfinite(points).all():
        raise InputError("A zone's outline has an empty ring or a coordinate that is not a number.")
    if (points[0] != points[-1]).any() or len(points) == 1:
        points = np.vstack([points, points[:1]])
    return points


def _flat_shape(literal: list[Polygon], area_km2: float) -> list[Polygon]:
    if not any((np.abs(np.diff(ring[:, 0])) > 180.0).any() for polygon in literal for ring in polygon):
        return literal
    unwrapped = [_together([_unwrapped(ring) for ring in polygon]) for polygon in literal]
    if any(_circles_a_pole(ring) for polygon in literal for ring in polygon):
        return unwrapped
    # A study area may span most of the globe, a polar or Pacific cell only seems to: the area tells.
    return min((unwrapped, literal), key=lambda shape: abs(shape_area_km2(shape) - area_km2))


def _circles_a_pole(ring: Ring) -> bool:
    longitudes = np.unwrap(ring[:, 0], period=360.0)
    return bool(abs(longitudes[-1] - longitudes[0]) > 180.0)


def _unwrapped(ring: Ring) -> Ring:
    longitudes, latitudes = np.unwrap(ring[:, 0], period=360.0), ring[:, 1]
    if _circles_a_pole(ring):
        # On a plane such a ring closes along the pole, from one end of the world to the other.
        pole = np.copysign(90.0, latitudes.mean())
        longitudes = np.concatenate([longitudes, [longitudes[-1], longitudes[0], longitudes[0]]])
        latitudes = np.concatenate([latitudes, [pole, pole, latitudes[0]]])
    return np.column_stack([longitudes, latitudes])


def _together(polygon: Polygon) -> Polygon:
    outer = _centre(polygon[0])
    return [_shifted(ring, outer) for ring in polygon]


def _ring_area_km2(ring: Ring) -> float:
    longitudes, sines = np.radians(ring[:, 0]), np.sin(np.radians(ring[:, 1]))
    return float(abs((np.diff(longitudes) * (sines[1:] + sines[:-1])).sum()) / 2 * EARTH_RADIUS_KM**2)


def _centre(ring: Ring) -> float:
    return float((ring[:, 0].min() + ring[:, 0].max()) / 2)


def _central_meridian(centres: Sequence[float]) -> float:
    """The longitude opposite to the widest empty arc, so that no neighbours are torn apart."""
    if not centres:
        return 0.0
    around = np.sort(np.mod(np.asarray(centres), 360.0))
    gaps = np.diff(around, append=around[0] + 360.0)
    widest = int(gaps.argmax())
    middle = float(around[widest] + gaps[widest] / 2 + 180.0)
    return 180.0 - (180.0 - middle) % 360.0


def _shifted(ring: Ring, meridian: float) -> Ring:
    shifted: Ring = ring + np.array([360.0 * round((meridian - _centre(ring)) / 360.0), 0.0])
    return shifted


def _encode(polygon: Polygon, meridian: float) -> list[list[int]]:
    offset = _shifted(polygon[0], meridian)[0, 0] - polygon[0][0, 0]
    rings = (ring[:-1] + np.array([offset, 0.0]) for ring in polygon)
    return [_steps(np.rint(ring * MICRODEGREES).astype(np.int64)) for ring in rings]


def _steps(points: NDArray[np.int64]) -> list[int]:
    steps: list[int] = np.diff(points, axis=0, prepend=np.zeros((1, 2), np.int64)).ravel().tolist()
    return steps
