"""Where an input lies: an extent that no stray point decides, the nearest city, and swapped coordinates."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, partial, reduce
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from tripcloak.ground.arrays import Floats, Ints
from tripcloak.ground.masking import mask_small
from tripcloak.ground.spelling import spelt

Box = tuple[float, float, float, float]
"""South, west, north, east in degrees."""
Ends = Sequence[Any]
"""Columns of one piece of an input: latitudes and longitudes in turn."""
Joined = Callable[[Callable[[Ends], Any], Callable[[Any, Any], Any]], Any]
"""Looks at every piece of an input, and joins what is told of two at a time."""

LOOKED_AT = 25_000
"""Rows that are looked at, from all over the input."""
MOST = 0.9
"""The share of the points by which it is told how far apart they are."""
FAR, LEAST = 10.0, 0.5
"""How many times further than those, and how many degrees at least, a stray point lies from the middle."""
STRAY = 0.05
"""Where more than this share of the points lies far away, they are no stray points, but another place."""

EARTH_KM = 6371.0
NEAR_KM, NEXT_KM, AWAY_KM, NOWHERE_KM = 30.0, 50.0, 60.0, 500.0
POLES = (-60.0, 78.0)
"""Nobody lives further south or north."""


class City(NamedTuple):
    """The nearest large city, and how far it is."""

    name: str
    km: float


@dataclass(frozen=True, kw_only=True)
class Whereabouts:
    """Where the points of an input lie.

    Attributes
    ----------
    extent : tuple of float
        South, west, north and east of all points but stray ones.
    stray : int
        Points far from all others.
    turned : int
        Those of them that lie among the others with latitude and longitude exchanged.
    city : City
        The large city nearest to the middle.
    mirror : City
        The one nearest to the middle with latitude and longitude exchanged.
    swapped : str, optional
        ``"certain"`` or ``"likely"`` where latitude and longitude look exchanged in the whole input.
    """

    extent: Box
    stray: int
    turned: int
    city: City
    mirror: City
    swapped: Literal["certain", "likely"] | None

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        extent = [round(edge, 4) for edge in self.extent]
        return {**self.in_brief(), "extent": extent, "stray_points": self.stray}

    def in_brief(self) -> dict[str, Any]:
        """Return the same as coarse as a small map shows it: few people may decide where edges are."""
        city = {"nearest_city": self.city.name, "nearest_city_km": round(self.city.km)}
        return {"extent": self._tenths(), **city, "swapped": self.swapped}

    def _tenths(self) -> list[float]:
        """Return south, west, north and east, outwards to tenths of a degree."""
        south, west, north, east = (10 * edge for edge in self.extent)
        edges = (math.floor(south), math.floor(west), math.ceil(north), math.ceil(east))
        return [edge / 10 for edge in edges]

    @property
    def near(self) -> str:
        """Return where it is, in words."""
        return f"{self.city.km:,.0f} km from {self.city.name}"

    def stray_words(self) -> str | None:
        """Return the warning on stray points; None where there are none."""
        if not self.stray:
            return None
        box = ",".join(f"{edge:g}" for edge in self._tenths())
        turned = f", {mask_small(self.turned)} of them with latitude and longitude exchanged"
        return (
            f"{mask_small(self.stray)} places lie far from all others{turned if self.turned else ''}; the "
            f"extent is that of the others. Leave them out with {spelt('box', box)}"
        )

    def swapped_words(self) -> str | None:
        """Return what shows that latitude and longitude are exchanged; None where nothing does."""
        if self.swapped is None:
            return None
        return (
            f"latitude and longitude look swapped: as they are, the middle of the places is {self.near}, "
            f"the other way round it is {self.mirror.km:,.0f} km from {self.mirror.name}"
        )


def look_at_places(pieces: Callable[[], Iterable[Ends]], rows: int, unit: float = 1.0) -> Whereabouts:
    """Return where the places of an input lie.

    Parameters
    ----------
    pieces
        Gives the input piece by piece, as often as it is asked: latitudes and longitudes in turn.
    rows
        How many rows the pieces have together.
    unit
        What a degree is in the columns.

    Examples
    --------
    >>> lat, lon = np.array([41.8, 41.9, 41.85] * 20 + [9.9]), np.array([-87.6, -87.7, -87.65] * 20 + [99.0])
    >>> found = look_at_places(lambda: [(lat, lon)], 61)
    >>> found.extent, found.stray, found.city.name, found.swapped
    ((41.8, -87.7, 41.9, -87.6), 1, 'Chicago', None)
    >>> look_at_places(lambda: [(lon[:60], lat[:60])], 60).swapped
    'certain'
    """
    return look_wherever(lambda look, join: reduce(join, map(look, pieces())), rows, unit)


def look_wherever(joined: Joined, rows: int, unit: float = 1.0) -> Whereabouts:
    """Return where the places of an input lie that is looked at wherever it is.

    Parameters
    ----------
    joined
        Is given what to tell of a piece, and how to join what is told of two; returns it of all.
    rows, unit
        As for :func:`look_at_places`.
    """
    some, low, high, points = joined(partial(_sampled, step=max(1, rows // LOOKED_AT)), _Sampled.join)
    middle = np.median(some, axis=1)
    apart = np.quantile(np.abs(some - middle[:, None]), MOST, axis=1)
    reach = np.maximum(FAR * apart, LEAST * unit)
    extent, stray, turned = np.array([low, high]), 0, 0
    if (low < middle - reach).any() or (high > middle + reach).any():
        kept: _NotStray = joined(partial(_without_stray, middle=middle, reach=reach), _NotStray.join)
        if kept.stray <= STRAY * points:
            extent, stray, turned = np.array([kept.low, kept.high]), kept.stray, kept.turned
    lat, lon = (float(one) / unit for one in middle)
    city, mirror, swapped = _judged(lat, lon)
    (south, west), (north, east) = extent / unit
    return Whereabouts(
        extent=(float(south), float(west), float(north), float(east)),
        stray=stray,
        turned=turned,
        city=city,
        mirror=mirror,
        swapped=swapped,
    )


def nearest_city(lat: float, lon: float) -> City:
    """Return the large city that is nearest to a place.

    >>> nearest_city(48.8566, 2.3522).name
    'Paris'
    """
    names, lats, lons = _cities()
    a, b = np.radians(lats), np.radians(lat)
    half = np.sin((a - b) / 2) ** 2 + np.cos(a) * np.cos(b) * np.sin(np.radians(lons - lon) / 2) ** 2
    km = 2 * EARTH_KM * np.arcsin(np.sqrt(np.clip(half, 0, 1)))
    best = int(np.argmin(km))
    return City(names[best], float(km[best]))


def _judged(lat: float, lon: float) -> tuple[City, City, Literal["certain", "likely"] | None]:
    """Return the nearest cities as it is and the other way round, and whether that is the right way round.

    Large cities are so few that a place far from all of them, which is in one when turned, is turned.
    """
    city = nearest_city(lat, lon)
    if abs(lon) > 90:
        return city, city, None
    mirror = nearest_city(lon, lat)
    uninhabited = city.km > NOWHERE_KM or not POLES[0] < lat < POLES[1]
    if uninhabited and mirror.km < NEXT_KM:
        return city, mirror, "certain"
    near = mirror.km < NEAR_KM and city.km > max(AWAY_KM, 5 * mirror.km)
    return city, mirror, "likely" if near else None


class _Sampled(NamedTuple):
    """Some of the points, in two rows, the lowest and the highest of all, and how many there are."""

    some: Floats
    low: Floats
    high: Floats
    points: int

    def join(self, other: _Sampled) -> _Sampled:
        """Return the same of both."""
        low, high = np.minimum(self.low, other.low), np.maximum(self.high, other.high)
        return _Sampled(np.hstack([self.some, other.some]), low, high, self.points + other.points)


def _sampled(columns: Ends, step: int) -> _Sampled:
    """Return every so many of the points of a piece, and what is told of all."""
    # Numbers of its own: views would hold the piece, and so in the end all pieces.
    some = np.array([np.concatenate([column[::step] for column in columns[axis::2]]) for axis in (0, 1)])
    low, high = _edges(columns)
    return _Sampled(some.astype(np.float64), low, high, sum(map(len, columns[::2])))


class _NotStray(NamedTuple):
    """The extent of the points that are not far away, and how many are, and are not when turned."""

    low: Floats
    high: Floats
    stray: int = 0
    turned: int = 0

    def join(self, other: _NotStray) -> _NotStray:
        """Return the same of both."""
        low, high = np.minimum(self.low, other.low), np.maximum(self.high, other.high)
        return _NotStray(low, high, self.stray + other.stray, self.turned + other.turned)


def _without_stray(columns: Ends, middle: Floats, reach: Floats) -> _NotStray:
    """Return what is told of a piece of all points that are not far from the middle."""
    found = _NotStray(np.full(2, np.inf), np.full(2, -np.inf))
    for lat, lon in zip(columns[::2], columns[1::2], strict=True):
        far = _far(lat, lon, middle, reach)
        stray, turned = far.sum(), (~_far(lon[far], lat[far], middle, reach)).sum()
        found = found.join(_NotStray(*_edges((lat[~far], lon[~far])), int(stray), int(turned)))
    return found


def _edges(columns: Ends) -> tuple[Floats, Floats]:
    """Return the lowest and the highest latitude and longitude; of no points, what any is beyond."""
    held = [[column for column in columns[axis::2] if len(column)] for axis in (0, 1)]
    low = [min((float(column.min()) for column in of_axis), default=np.inf) for of_axis in held]
    high = [max((float(column.max()) for column in of_axis), default=-np.inf) for of_axis in held]
    return np.array(low), np.array(high)


def _far(lat: Floats | Ints, lon: Floats | Ints, middle: Floats, reach: Floats) -> Any:
    return (np.abs(lat - middle[0]) > reach[0]) | (np.abs(lon - middle[1]) > reach[1])


@cache
def _cities() -> tuple[tuple[str, ...], Floats, Floats]:
    """Return names, latitudes and longitudes of large cities, all to a tenth of a degree."""
    with (Path(__file__).parent / "cities.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    lat, lon = (np.array([float(row[axis]) for row in rows]) for axis in ("lat", "lon"))
    return tuple(row["name"] for row in rows), lat, lon
