"""Small maps: zones shaded by volume per km2, or coloured by kind, light enough to put many on a page."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tripcloak.ground.arrays import Floats, Ints
from tripcloak.hierarchy import Zones
from tripcloak.pages.outlines import Polygon, flat_polygons, shape_area_km2
from tripcloak.pages.raster import MapFrame, paint

SHOWN = 0.995
"""Share of the volume, on each side of either axis, that a frame has inside."""
MARGIN = 0.06
MOST_ZONES = 50_000
"""More zones than this are not painted, only the ones with the largest volumes."""
NOTHING = 1e-9
"""The least area, in km2: a box of one point has none."""
MOST_OUTLINES = 2_500
"""Beyond this a small map would be all lines."""


class SmallMap(NamedTuple):
    """One picture: a shade a pixel, packed, the zones' outlines as an SVG path, and what was left out."""

    width: int
    height: int
    packed: str
    outlines: str
    left_out: int

    @classmethod
    def of(cls, shades: NDArray[np.uint8], outlines: str, left_out: int) -> SmallMap:
        """Return the map with its pixels packed into text."""
        height, width = shades.shape
        packed = base64.b64encode(zlib.compress(shades.tobytes(), 6)).decode()
        return cls(width, height, packed, outlines, left_out)

    @property
    def shades(self) -> NDArray[np.uint8]:
        """Return the pixels' shades."""
        flat = np.frombuffer(zlib.decompress(base64.b64decode(self.packed)), np.uint8)
        return flat.reshape(self.height, self.width)


def frame_of(lat: Floats, lon: Floats, volume: Floats, size: int) -> MapFrame | None:
    """Return a frame of at most so many pixels a side around nearly all of the volume.

    None where places have no coordinates. The few per mille furthest out on each side are left to
    the margin, or one stray trip would make a city a dot.

    Examples
    --------
    >>> frame = frame_of(np.array([48.0, 49.0]), np.array([2.0, 3.5]), np.array([5, 5]), 300)
    >>> round(frame.meridian, 2), frame.width, frame.height
    (2.75, 298, 300)
    """
    if not (np.isfinite(lat).all() and np.isfinite(lon).all()):
        return None
    middle = float(np.degrees(np.angle((np.exp(1j * np.radians(lon)) * volume).sum())))
    south, north = _span(lat, volume)
    west, east = _span(middle + (lon - middle + 180) % 360 - 180, volume)
    squeeze = max(float(np.cos(np.radians((south + north) / 2))), 0.05)
    # In units of a degree of latitude, never so thin that nothing can be seen.
    across, up = (east - west) * squeeze, north - south
    least = max(across, up, 0.01) * 0.55
    across, up = (max(side, least) * (1 + 2 * MARGIN) for side in (across, up))
    lon_half, lat_half = across / squeeze / 2, up / 2
    width, height = (round(size * side / max(across, up)) for side in (across, up))
    x, y = (west + east) / 2, (south + north) / 2
    return MapFrame(x - lon_half, y - lat_half, x + lon_half, y + lat_half, width, height)


def small_map(
    zones: Zones, rows: Ints, volume: Floats, frame: MapFrame, outline_bytes: int
) -> SmallMap | None:
    """Return a small map of released zones; None where they have no outlines.

    Parameters
    ----------
    zones, rows, volume
        The rows of the zones that are drawn, and the volume of each.
    frame
        What the map shows.
    outline_bytes
        How much text the outlines may take; none are drawn where that is too little for all of them.
    """
    good = np.flatnonzero(volume > 0)
    picked = good[np.argsort(-volume[good], kind="stable")[:MOST_ZONES]]
    geometries = [zones.outline(int(rows[i])) for i in picked]
    known = np.nan_to_num(zones.area_km2[rows[picked]])
    shapes = [
        flat_polygons(geometry, float(area), frame.meridian)
        for geometry, area in zip(geometries, known, strict=True)
        if geometry is not None
    ]
    if not shapes or len(shapes) < len(picked):
        return None
    # Zones given as points have no area of their own; then the one that is drawn for them counts.
    areas = np.array([a or shape_area_km2(s) for a, s in zip(known.tolist(), shapes, strict=True)])
    shades = paint(shapes, volume[picked] / areas.clip(NOTHING), frame)
    outlines = "" if len(shapes) > MOST_OUTLINES else outline_path(shapes, frame)
    if len(outlines) > outline_bytes:
        outlines = ""
    return SmallMap.of(shades, outlines, len(good) - len(picked))


def outline_path(shapes: Sequence[Sequence[Polygon]], frame: MapFrame) -> str:
    """Return all rings as one SVG path in whole pixels, without those out of sight or too small to see.

    >>> square = np.array([[0.0, 0.0], [2.0, 0.0], [2.0, 1.0], [0.0, 1.0], [0.0, 0.0]])
    >>> outline_path([[[square]]], MapFrame(0.0, 0.0, 2.0, 1.0, 20, 10))
    'M0 10l20 0 0-10 -20 0z'
    """
    paths = []
    for shape in shapes:
        for polygon in shape:
            for ring in polygon:
                points = np.rint(frame.pixels(ring[:-1])).astype(np.int64)
                low, high = points.min(axis=0), points.max(axis=0)
                outside = (high < 0).any() or low[0] > frame.width or low[1] > frame.height
                if not outside and (high - low).max() > 2:
                    paths.append(_path(points))
    return "".join(paths)


def _span(degrees: Floats, volume: Floats) -> tuple[float, float]:
    """Return the degrees between which nearly all of the volume lies."""
    order = np.argsort(degrees, kind="stable")
    below = np.cumsum(volume[order], dtype=float)
    first = int(np.searchsorted(below, (1 - SHOWN) * below[-1], side="right"))
    last = int(np.searchsorted(below, SHOWN * below[-1]))
    return float(degrees[order[first]]), float(degrees[order[max(first, last)]])


def _path(points: NDArray[np.int64]) -> str:
    steps = np.diff(points, axis=0)
    steps = steps[(steps != 0).any(axis=1)]
    moves = "".join(f"{x:d} {y:d} " if y >= 0 else f"{x:d}{y:d} " for x, y in steps.tolist())
    return f"M{points[0, 0]} {points[0, 1]}l{moves.strip()}z"


class KindMap(NamedTuple):
    """A map: its title, its size in pixels, and one SVG path a kind, zones of no kind last."""

    title: str
    width: int
    height: int
    paths: list[str]


def kind_map(
    title: str, geometries: Sequence[Mapping[str, Any]], kind: Ints, kinds: int, frame: MapFrame
) -> KindMap:
    """Return a map of zones: kinds are numbered from 0, and -1 is none.

    Parameters
    ----------
    geometries
        GeoJSON geometries of the zones, Polygon or MultiPolygon.
    kinds
        How many kinds there are.
    frame
        What the map shows.

    Examples
    --------
    >>> square = {"type": "Polygon", "coordinates": [[[0, 0], [2, 0], [2, 1], [0, 1], [0, 0]]]}
    >>> kind_map("one", [square], np.array([1]), 2, MapFrame(0.0, 0.0, 2.0, 1.0, 20, 10)).paths
    ['', 'M0 10l20 0 0-10 -20 0z', '']
    """
    shapes = [flat_polygons(geometry, 0.0, frame.meridian) for geometry in geometries]
    paths = [
        outline_path([shapes[row] for row in np.flatnonzero(kind == number)], frame)
        for number in (*range(kinds), -1)
    ]
    return KindMap(title, frame.width, frame.height, paths)
