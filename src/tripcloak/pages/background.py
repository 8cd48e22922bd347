"""What is drawn behind a map: lines and polygons of a file that its owner gives, cut to where the map is."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from tripcloak.ground.documents import parse_json
from tripcloak.ground.errors import InputError
from tripcloak.ground.extras import needing
from tripcloak.ground.folders import BACKGROUND
from tripcloak.ground.spelling import spelt
from tripcloak.hierarchy.place_names import Box

LARGEST_FILE = 100_000_000
"""Bytes of GeoJSON that are read; tiles are read where they are asked for, however many there are."""
LARGEST = 1_500_000
"""Bytes of what is drawn: a map is sent by mail."""
DIGITS = 5
"""Digits of a degree behind the point, about a metre."""
MARGIN = 0.15
"""How far beyond a map its background goes, as a share of its sides."""
FINE = 4000
"""Steps from side to side of a map that can be told apart."""
TILES_ACROSS = 6
"""Tiles from side to side that are read at most."""
MERCATOR = 20037508.342789244
WORDS = "lines and polygons behind the map, given by the publisher and not made from the records"
"""What a manifest says of a background."""
KINDS = ("LineString", "MultiLineString", "Polygon", "MultiPolygon")


def read_background(path: Path, box: Box) -> dict[str, Any]:
    """Return the lines and polygons of a file that lie within a box, as a GeoJSON FeatureCollection.

    Parameters
    ----------
    path
        GeoJSON, or PMTiles with vector tiles.
    box
        Where the map is, in degrees.
    """
    refuse_unreadable(path)
    wide = _wider(box)
    if _is_pmtiles(path):
        return _of_tiles(path, wide)
    told = _collection(_cut(_shapes(path), wide))
    if len(background_text(told)) > LARGEST:
        raise _too_large(path)
    return told


def refuse_unreadable(path: Path) -> None:
    """Raise where a file cannot be read as a background, before any work is done."""
    try:
        size = path.stat().st_size
        tiles = _is_pmtiles(path)
    except OSError as error:
        raise InputError(f"{spelt('background')}: {path} cannot be read ({error.strerror})") from None
    if tiles:
        _reader()
    elif size > LARGEST_FILE:
        raise InputError(
            f"{spelt('background')}: {path.name} has {size:,} bytes, and at most {LARGEST_FILE:,} of "
            "GeoJSON are read; cut it to the area of the map, or give PMTiles"
        )


def background_text(collection: Mapping[str, Any]) -> str:
    """Return a background as it is written."""
    return json.dumps(collection, separators=(",", ":"), allow_nan=False)


def write_background(public: Path, background: Mapping[str, Any]) -> None:
    """Write what is drawn behind the map, beside it."""
    (public / BACKGROUND).write_text(background_text(background), encoding="utf-8")


def restated_background(text: str) -> dict[str, Any]:
    """Return a background as this version writes what its text holds: shapes, and nothing beside them.

    >>> told = '{"type":"FeatureCollection","features":[]}'
    >>> background_text(restated_background(told)) == told
    True
    """
    return _features(item["geometry"] for item in parse_json(text, deepest=20)["features"])


def published_background(public: Path, facts: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return what is drawn behind the map of a release, as its file holds it; None where it tells of none.

    Raises
    ------
    InputError
        The manifest tells of one, and it is missing or is none.
    """
    if "background" not in facts:
        return None
    try:
        return restated_background((public / BACKGROUND).read_text(encoding="utf-8"))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"{public} is not a whole release: its {BACKGROUND} cannot be read") from error


def _is_pmtiles(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(7) == b"PMTiles"


def _wider(box: Box) -> Box:
    west, south, east, north = box
    more = MARGIN * max(east - west, north - south, 0.01)
    return west - more, max(south - more, -85.0), east + more, min(north + more, 85.0)


def _shapes(path: Path) -> list[Any]:
    """Return the geometries of a GeoJSON file, or raise in words."""
    from shapely.geometry import shape

    try:
        told = parse_json(path.read_text(encoding="utf-8"), deepest=20)
        found = [item["geometry"] for item in told["features"] if item["geometry"] is not None]
        wrong = {item["type"] for item in found} - set(KINDS)
        shapes = [] if wrong else [shape(item) for item in found]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(
            f"{spelt('background')} needs a GeoJSON FeatureCollection or PMTiles: {path.name} is neither"
        ) from error
    if wrong:
        raise InputError(
            f"{spelt('background')} draws lines and polygons; {path.name} holds {', '.join(sorted(wrong))}"
        )
    return shapes


def _cut(shapes: Iterable[Any], box: Box) -> list[Any]:
    """Return what lies in a box of shapes in degrees, no finer than can be seen."""
    import shapely

    step = max(box[2] - box[0], box[3] - box[1]) / FINE
    cut = shapely.clip_by_rect(shapely.make_valid(np.array(list(shapes), dtype=object)), *box)
    fine = shapely.simplify(cut, step)
    parts = shapely.get_parts(shapely.get_parts(fine))
    return [part for part in parts if part.geom_type in KINDS and not part.is_empty]


def _collection(shapes: Iterable[Any]) -> dict[str, Any]:
    from shapely.geometry import mapping

    return _features(mapping(shape) for shape in shapes)


def _features(geometries: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    features = [
        {"type": "Feature", "properties": {}, "geometry": {"type": kind, "coordinates": _rounded(points)}}
        for kind, points in ((one["type"], one["coordinates"]) for one in geometries)
        if kind in KINDS
    ]
    return {"type": "FeatureCollection", "features": features}


def _rounded(points: Any) -> Any:
    if isinstance(points[0], int | float):
        return [round(float(points[0]), DIGITS), round(float(points[1]), DIGITS)]
    return [_rounded(inner) for inner in points]


def _of_tiles(path: Path, box: Box) -> dict[str, Any]:
    """Return the shapes of vector tiles in a box, as fine as fits."""
    with path.open("rb") as file:
        header = file.read(102)
    if len(header) < 102:
        raise _no_tiles(path)
    least, most = header[100:]
    across = max(box[2] - box[0], box[3] - box[1])
    wanted = math.floor(math.log2(TILES_ACROSS * 360 / across))
    for zoom in range(min(most, max(least, wanted)), least - 1, -1):
        told = _collection(_cut(_tile_shapes(path, box, zoom), box))
        if len(background_text(told)) <= LARGEST:
            return told
    raise _too_large(path)


def _tile_shapes(path: Path, box: Box, zoom: int) -> list[Any]:
    """Return lines and polygons of all layers; what tiles cut into pieces is joined again."""
    import shapely

    reader = _reader()
    corners = _to_mercator(np.array([[box[0], box[1]], [box[2], box[3]]]))
    found: list[Any] = []
    try:
        for layer in reader.list_layers(path)[:, 0]:
            _, _, encoded, _ = reader.raw.read(
                path, layer=layer, bbox=tuple(corners.ravel()), columns=[], ZOOM_LEVEL=str(zoom)
            )
            shapes = shapely.from_wkb(encoded)
            for kinds in (KINDS[:2], KINDS[2:]):
                own = [shape for shape in shapes if shape is not None and shape.geom_type in kinds]
                if own:
                    found.append(shapely.unary_union(shapely.make_valid(np.array(own, dtype=object))))
    except (reader.errors.DataSourceError, reader.errors.DataLayerError) as error:
        raise _no_tiles(path) from error
    return [shapely.transform(shape, _to_degrees) for shape in found]


def _reader() -> Any:
    with needing("formats", f"reading PMTiles for {spelt('background')}"):
        import pyogrio
    return pyogrio


def _to_mercator(degrees: Any) -> Any:
    lat = np.log(np.tan(np.pi / 4 + np.radians(degrees[:, 1]) / 2)) * MERCATOR / np.pi
    return np.column_stack([degrees[:, 0] * MERCATOR / 180, lat])


def _to_degrees(metres: Any) -> Any:
    lat = np.degrees(2 * np.arctan(np.exp(metres[:, 1] * np.pi / MERCATOR)) - np.pi / 2)
    return np.column_stack([metres[:, 0] * 180 / MERCATOR, lat])


def _no_tiles(path: Path) -> InputError:
    return InputError(f"{spelt('background')}: {path.name} holds no vector tiles that can be read")


def _too_large(path: Path) -> InputError:
    return InputError(
        f"{spelt('background')}: {path.name} has more than {LARGEST:,} bytes of shapes where the map is; "
        "leave out small streets, or simplify it"
    )
