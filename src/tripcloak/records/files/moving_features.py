"""Moving Features (OGC MF-JSON) as a table of fixes: one row for every moment of every moving point."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tripcloak.ground.errors import UnreadableFileError
from tripcloak.records.columns import plain_name
from tripcloak.records.files.features import cell_text, read_document

OWN = ("object_id", "time", "lat", "lon")
"""The columns of every such table; properties of these names are called otherwise."""


def is_moving(file: Path) -> bool:
    """Return whether a document of features holds moving ones, as far as its beginning tells."""
    with file.open("rb") as source:
        return b'"temporalGeometry"' in source.read(1 << 16)


def moving_rows(file: Path, name: str) -> Iterator[list[str]]:
    """Yield the column names and then a row for every moment.

    Parameters
    ----------
    name
        What messages call the file.

    Raises
    ------
    UnreadableFileError
        It holds something else than moving points in degrees.

    Examples
    --------
    >>> import json, tempfile
    >>> moves = {"type": "MovingPoint", "datetimes": [0, 60000], "coordinates": [[2.3, 48.8], [2.4, 48.9]]}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "a.mfjson"
    ...     _ = path.write_text(json.dumps({"type": "Feature", "id": "a", "temporalGeometry": moves}))
    ...     list(moving_rows(path, "a.mfjson"))[1]
    ['a', '1970-01-01T00:00:00+00:00', '48.8', '2.3']
    """
    content = read_document(file, name, "Moving Features")
    found = content.get("features", [content]) if isinstance(content, dict) else []
    features = [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []
    if not features:
        raise UnreadableFileError(f"{name} holds no moving features; expected points that move, one a person")
    keys = dict.fromkeys(key for feature in features for key in _properties(feature))
    yield [*OWN, *(f"{key} of the feature" if plain_name(key) in _TAKEN else key for key in keys)]
    for number, feature in enumerate(features):
        own = _properties(feature)
        known = [cell_text(own.get(key)) for key in keys]
        called = cell_text(feature.get("id", own.get("id", own.get("traj_id", number))))
        for moment, place in _moments(feature.get("temporalGeometry"), name):
            yield [called, _time(moment, name), repr(place[1]), repr(place[0]), *known]


_TAKEN = {plain_name(one) for one in OWN}


def _moments(moves: Any, name: str) -> Iterator[tuple[Any, list[float]]]:
    moves = moves if isinstance(moves, Mapping) else {}
    times, places = moves.get("datetimes"), moves.get("coordinates")
    plain = (
        moves.get("type") == "MovingPoint"
        and isinstance(times, list)
        and isinstance(places, list)
        and len(times) == len(places)
        and all(isinstance(place, list) and len(place) >= 2 for place in places)
        and all(isinstance(part, int | float) for place in places for part in place[:2])
    )
    if not plain:
        raise UnreadableFileError(
            f"{name}: expected moving points with as many datetimes as coordinates; found something else. "
            "Convert it to CSV, with a row for every fix"
        )
    yield from zip(times, places, strict=True)


def _time(moment: Any, name: str) -> str:
    """Return a moment as text: as it is written, or from milliseconds since 1970, as the standard has it."""
    if isinstance(moment, str):
        return moment
    try:
        return datetime.fromtimestamp(moment / 1000, UTC).isoformat()
    except (TypeError, ValueError, OverflowError, OSError):
        raise UnreadableFileError(
            f"{name}: expected datetimes as text or as milliseconds since 1970; found something else"
        ) from None


def _properties(feature: Mapping[str, Any]) -> Mapping[str, Any]:
    found = feature.get("properties")
    return found if isinstance(found, dict) else {}
