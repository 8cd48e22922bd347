"""GeoJSON as a table: the properties of features, and their points or paths in columns of coordinates."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from tripcloak.ground.documents import parse_json
from tripcloak.ground.errors import InputError, UnreadableFileError
from tripcloak.ground.spelling import spelt
from tripcloak.records.columns import plain_name

MOST_BYTES = 1 << 29
"""A larger file would not fit in memory as a document."""

MOST_LINE = 1 << 26
"""Bytes of one feature in a file with one a line, which may be of any size."""

_BETWEEN = b" \t\r\n\x1e\xef\xbb\xbf"
"""What stands between features of such a file, or before the first."""

_PLACES = {"Point": ("lat", "lon"), "LineString": ("polyline",), "MultiPoint": ("polyline",)}
_DEGREES = ("crs84", "4326")


def feature_rows(file: Path, name: str) -> Iterator[list[str]]:
    """Yield the column names and then a row for every feature.

    A file is one document, or has one feature a line. Points have ``lat`` and ``lon``; paths have
    ``polyline``, of which a trip is the first and the last point. Properties of these names are called
    otherwise. A feature without a geometry has no place.

    Parameters
    ----------
    name
        What messages call the file.

    Raises
    ------
    InputError
        It is no GeoJSON of points or paths in degrees, or it is too large.

    Examples
    --------
    >>> import tempfile
    >>> point = '{"type": "Feature", "properties": {"who": "a"}, "geometry": {"type": "Point", '
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "fixes.geojson"
    ...     _ = path.write_text(point + '"coordinates": [2.35, 48.85]}}')
    ...     list(feature_rows(path, "fixes.geojson"))
    [['lat', 'lon', 'who'], ['48.85', '2.35', 'a']]
    """
    found = None if is_lines(file) else _features(file, name)

    def features() -> Iterator[dict[str, Any]]:
        return _of_lines(file, name) if found is None else iter(found)

    kinds, keys = dict[str, None](), dict[str, None]()
    for feature in features():
        kinds |= {str(feature["geometry"].get("type")): None} if feature.get("geometry") else {}
        keys |= dict.fromkeys(_properties(feature))
    places = _PLACES[_one_kind(kinds, name)]
    taken = {plain_name(place) for place in places}
    yield [*places, *(f"{key} of the feature" if plain_name(key) in taken else key for key in keys)]
    for feature in features():
        place, properties = _place(feature.get("geometry"), len(places), name), _properties(feature)
        yield [*place, *(cell_text(properties.get(key)) for key in keys)]


def is_lines(file: Path) -> bool:
    """Return whether a file holds one feature a line, and more than one, rather than one document."""
    with file.open("rb") as source:
        first, rest = source.readline(MOST_LINE), source.read(1 << 10)
    return bool(rest.strip(_BETWEEN)) and _parsed(first, {}).get("type") == "Feature"


def _of_lines(file: Path, name: str) -> Iterator[dict[str, Any]]:
    """Yield the features of a file with one a line; never more than one is in memory."""
    with file.open("rb") as source:
        for number, line in enumerate(iter(lambda: source.readline(MOST_LINE), b""), start=1):
            feature = _parsed(line, None) if line.strip(_BETWEEN) else {}
            if feature is None or (feature and not _is_feature(feature)):
                raise UnreadableFileError(
                    f"line {number:,} of {name} is no feature of GeoJSON, although the first is; get the "
                    "file again, or mend that line"
                )
            if feature:
                yield feature


def _parsed(line: bytes, otherwise: Any) -> Any:
    """Return the object that a line holds; something else where it holds none."""
    try:
        found = parse_json(line.strip(_BETWEEN))
    except (ValueError, RecursionError):
        return otherwise
    return found if isinstance(found, dict) else otherwise


def read_document(file: Path, name: str, form: str) -> Any:
    """Return what a JSON file holds; None where it holds no JSON, and an error where it is too large."""
    if file.stat().st_size > MOST_BYTES:
        raise UnreadableFileError(f"{name} is too large to be read as {form}; convert it to Parquet or CSV")
    try:
        return parse_json(file.read_bytes().removeprefix(b"\xef\xbb\xbf"))
    except (ValueError, RecursionError):
        return None


def _features(file: Path, name: str) -> list[dict[str, Any]]:
    content = read_document(file, name, "GeoJSON")
    found = content.get("features", [content]) if isinstance(content, dict) else None
    if not isinstance(found, list) or not all(_is_feature(one) for one in found):
        raise UnreadableFileError(
            f"{name} is not GeoJSON with features: expected a FeatureCollection of points or paths. Convert "
            "it to CSV, with a row for every trip or fix"
        )
    if not found:
        raise UnreadableFileError(
            f"{name} holds no features; expected points or paths, one for every fix or trip"
        )
    system = json.dumps(content.get("crs") or "crs84").lower() if isinstance(content, dict) else ""
    if not any(word in system for word in _DEGREES):
        raise UnreadableFileError(
            f"{name} is not in degrees: its crs says otherwise. Save it again in WGS 84 (EPSG:4326)"
        )
    return found


def _is_feature(one: Any) -> bool:
    return (
        isinstance(one, dict)
        and one.get("type") == "Feature"
        and isinstance(one.get("geometry"), dict | None)
        and isinstance(one.get("properties"), dict | None)
    )


def _one_kind(kinds: Collection[str], name: str) -> str:
    if set(kinds) <= {"LineString", "MultiPoint"} and kinds:
        return "LineString"
    if list(kinds) == ["Point"]:
        return "Point"
    if any("Polygon" in kind for kind in kinds):
        raise InputError(
            f"{name} holds areas, not trips or fixes; zones go with {spelt('zones')}, beside a table of trips"
        )
    raise UnreadableFileError(
        f"{name}: expected features of one kind, points (fixes) or paths (LineString, from the origin to the "
        "destination); found others or several. Convert it to CSV"
    )


def _place(geometry: Mapping[str, Any] | None, width: int, name: str) -> list[str]:
    if not geometry:
        return [""] * width
    at = geometry.get("coordinates")
    points = [at] if width == 2 else at
    if not isinstance(points, list) or not all(_is_point(point) for point in points):
        raise UnreadableFileError(
            f"{name}: a feature has no coordinates of numbers; expected [longitude, latitude]. Mend it, or "
            "convert it to CSV"
        )
    if width == 2:
        lon, lat = points[0][:2]
        return [repr(lat), repr(lon)]
    return [json.dumps([point[:2] for point in points])]


def _is_point(point: Any) -> bool:
    return (
        isinstance(point, list)
        and len(point) >= 2
        and all(isinstance(part, int | float) and not isinstance(part, bool) for part in point[:2])
    )


def _properties(feature: Mapping[str, Any]) -> Mapping[str, Any]:
    return feature.get("properties") or {}


def cell_text(value: Any) -> str:
    """Return a value of a document as a cell of a table."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
