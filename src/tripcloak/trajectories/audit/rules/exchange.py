"""Rules about the exchange formats: they hold the released samples and nothing else."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

from tripcloak.trajectories.audit.evidence import Evidence
from tripcloak.trajectories.audit.rulebook import BrokenPart
from tripcloak.trajectories.audit.rules.book import BOOK
from tripcloak.trajectories.audit.rules.files import expected_files

Row = tuple[str, str, str, float, float, float, float]
"""A pseudonym, two times, west, south, east, north."""


@BOOK.rule("geojson-equals-samples")
def geojson_equals_samples(case: Evidence) -> str | None:
    """``trajectories.geojson`` holds the released boxes in degrees, and nothing else."""
    return _compare(case, "trajectories.geojson", {"type", "features"}, _boxes)


@BOOK.rule("mfjson-equals-samples")
def mfjson_equals_samples(case: Evidence) -> str | None:
    """``trajectories.mfjson`` holds the released boxes in degrees, and nothing else."""
    return _compare(case, "trajectories.mfjson", {"type", "crs", "trs", "features"}, _prisms)


def _compare(case: Evidence, name: str, allowed: set[str], rows: Any) -> str | None:
    if name not in expected_files(case):
        return None
    try:
        collection = json.loads(case.public(name).read_text(encoding="utf-8"))
        found = Counter(row for feature in collection["features"] for row in rows(feature))
        strange = set(collection) - allowed
    except (OSError, ValueError, KeyError, TypeError, IndexError, AttributeError):
        raise BrokenPart(f"release/{name} cannot be read, or holds more than it should") from None
    if strange:
        return f"release/{name} holds more than it should"
    return None if found == _published(case) else f"release/{name} differs from the released samples"


def _published(case: Evidence) -> Counter[Row]:
    when = ", ".join(f"strftime({name}, '%Y-%m-%dT%H:%M:%SZ')" for name in ("t_start", "t_end"))
    return Counter(
        case.fetch(f"SELECT trajectory, {when}, lon_min, lat_min, lon_max, lat_max FROM {case.table}")
    )


def _boxes(feature: Any) -> Iterator[Row]:
    """Yield the one box of a feature, two halves across the 180th meridian joined."""
    told = feature["properties"]
    _only(feature, {"type", "geometry", "properties"})
    _only(told, {"trajectory", "t_start", "t_end"})
    _only(feature["geometry"], {"type", "coordinates"})
    shape = feature["geometry"]["coordinates"]
    if feature["geometry"]["type"] == "Polygon":
        west, south, east, north = _bounds(shape)
    else:
        west, south, _, north = _bounds(shape[0])
        east = round(_bounds(shape[1])[2] + 360.0, 6)
    yield told["trajectory"], told["t_start"], told["t_end"], west, south, east, north


def _prisms(feature: Any) -> Iterator[Row]:
    """Yield the boxes of a moving feature; each holds until the next begins, the last until the end."""
    name = feature["id"]
    _only(feature, {"type", "id", "properties", "time", "temporalGeometry"})
    _only(feature["temporalGeometry"], {"type", "prisms"})
    if feature["properties"] != {"trajectory": name}:
        raise ValueError("properties beside the pseudonym")
    for prism in feature["temporalGeometry"]["prisms"]:
        _only(prism, {"type", "datetimes", "coordinates", "interpolation"})
        times, shapes = prism["datetimes"], prism["coordinates"]
        if len(times) != len(shapes) or shapes[-1] != shapes[-2]:
            raise ValueError("a prism that does not hold its last box until the end")
        for at, shape in enumerate(shapes[:-1]):
            yield (name, times[at], times[at + 1], *_bounds(shape))


def _bounds(rings: Any) -> tuple[float, float, float, float]:
    (ring,) = rings
    west, south, east, north = ring[0][0], ring[0][1], ring[2][0], ring[2][1]
    if ring != [[west, south], [east, south], [east, north], [west, north], [west, south]]:
        raise ValueError("an outline that is no box")
    return west, south, east, north


def _only(entries: Any, allowed: set[str]) -> None:
    if set(entries) - allowed:
        raise ValueError("more entries than there should be")
