"""Documents of shared vehicles as tables: trips by MDS, and snapshots of free vehicles by GBFS."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tripcloak.ground.errors import UnreadableFileError
from tripcloak.records.files.features import cell_text, read_document

_FIRST_KEY = re.compile(rb'"(features|data|trips|bikes|vehicles)"\s*:|\[\s*\{')
_LISTS = ("trips", "bikes", "vehicles")
_ENDS = {"start": "start_location", "end": "end_location"}


def is_feed(file: Path) -> bool:
    """Return whether a JSON file holds trips or vehicles, as its beginning tells, rather than features."""
    with file.open("rb") as source:
        found = _FIRST_KEY.search(source.read(1 << 14))
    return found is not None and found[1] != b"features"


def feed_rows(file: Path, name: str) -> Iterator[list[str]]:
    """Yield the column names and then a row for every trip or vehicle of a document.

    The ends of a trip are those of its ``route``, or its ``start_location`` and ``end_location``; a vehicle
    without a time of its own was seen when the document was made.

    Parameters
    ----------
    name
        What messages call the file.

    Raises
    ------
    InputError
        It is no such document, or it is too large.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "free_bike_status.json"
    ...     bike = '{"bike_id": "b7", "lat": 48.85, "lon": 2.35}'
    ...     _ = path.write_text('{"last_updated": 1700000000, "data": {"bikes": [' + bike + ']}}')
    ...     list(feed_rows(path, path.name))
    [['bike_id', 'lat', 'lon', 'last_updated'], ['b7', '48.85', '2.35', '1700000000']]
    """
    records = [_flat(one) for one in _records(file, name)]
    names = list(dict.fromkeys(key for one in records for key in one))
    yield names
    for one in records:
        yield [cell_text(one.get(key)) for key in names]


def _records(file: Path, name: str) -> list[Mapping[str, Any]]:
    content = read_document(file, name, "one document")
    made = content.get("last_updated") if isinstance(content, dict) else None
    inside = content.get("data", content) if isinstance(content, dict) else content
    if isinstance(inside, dict):
        inside = next((inside[key] for key in _LISTS if key in inside), None)
    if not isinstance(inside, list) or not all(isinstance(one, dict) for one in inside):
        raise UnreadableFileError(
            f"{name} holds no list of trips, bikes or vehicles; expected trips by MDS or a status by GBFS. "
            "Convert it to CSV, with a row for every trip or fix"
        )
    if not inside:
        raise UnreadableFileError(f"{name} holds no trips and no vehicles; expected one at least")
    when = {} if made is None else {"last_updated": made}
    return [{**one, **when} for one in inside]


def _flat(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the plain values of a record, with its ends as columns of coordinates."""
    flat = {key: value for key, value in record.items() if not isinstance(value, (dict, list))}
    route = record.get("route")
    for at, (end, key) in zip((0, -1), _ENDS.items(), strict=True):
        place = _of_route(route, at) if isinstance(route, dict) else _of_location(record.get(key))
        if place is not None:
            flat[f"{end}_lat"], flat[f"{end}_lng"] = place
    return flat


def _of_route(route: Mapping[str, Any], at: int) -> tuple[Any, Any] | None:
    features = route.get("features")
    try:
        lon, lat = features[at]["geometry"]["coordinates"][:2]  # type: ignore[index]
    except (TypeError, KeyError, IndexError, ValueError):
        return None
    return lat, lon


def _of_location(location: Any) -> tuple[Any, Any] | None:
    if not isinstance(location, dict):
        return None
    return location.get("lat"), location.get("lng", location.get("lon"))
