"""Roads: a network read from lines, its crossings, and zones that follow the roads out of each of them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tripcloak.ground.arrays import Floats, Ints
from tripcloak.ground.documents import parse_json
from tripcloak.ground.errors import ImpossibleRequestError, InputError
from tripcloak.ground.spelling import spelt
from tripcloak.trajectories.methods.mixzones.candidates import Zones
from tripcloak.trajectories.methods.mixzones.placing import Extents
from tripcloak.trajectories.methods.moments import Moments
from tripcloak.trajectories.model import Grid

LARGEST = 500_000_000
"""Bytes of a file of roads that are read."""
DIGITS = 6
"""Digits of a degree by which two ends of roads are the same point."""
KMH_OF_MPH = 1.609344
MEETING = 3
"""Roads that make a crossing, each way out of it counted."""


class Road(NamedTuple):
    """A line in degrees, and how fast people go on it in km/h; None where nothing says it."""

    line: tuple[tuple[float, float], ...]
    speed: float | None


@dataclass(frozen=True)
class Roads:
    """A network of roads."""

    roads: tuple[Road, ...]

    def __repr__(self) -> str:
        return f"<Roads: {len(self.roads):,} lines>"


class Shape(NamedTuple):
    """How far zones go along roads.

    Attributes
    ----------
    width
        Metres of a zone from side to side, at most.
    within
        Seconds between two who go in that must still be mixed up.
    entropy
        Bits that must be left of who of two is who, from 0 to 1.
    speed
        Kilometres an hour where a road says none.
    spread
        By which share of the mean speeds deviate.
    breadth
        Metres from the middle of a road within which somebody is on it.
    """

    width: int
    within: float
    entropy: float
    speed: float
    spread: float
    breadth: int

    def reach(self, speed: float | None) -> float:
        """Return metres of road that leave so many bits of who of two is who.

        Somebody takes L / v seconds on L metres, with a deviation of spread * L / v. Of two who went in
        ``within`` seconds apart, one who comes out just when the first is expected is the first with odds of
        exp(within^2 / (2 deviation^2)); what entropy that leaves, the length decides.

        >>> shape = Shape(500, 10.0, 0.9, 50.0, 0.3, 50)
        >>> round(shape.reach(50.0)), round(shape.reach(100.0)), shape._replace(entropy=1.0).reach(50.0)
        (373, 745, inf)
        """
        odds = _odds_leaving(self.entropy)
        if odds <= 0.0:
            return math.inf
        deviation = self.within / math.sqrt(2 * odds)
        return deviation * (speed or self.speed) / 3.6 / self.spread


def _odds_leaving(bits: float) -> float:
    """Return the logarithm of odds between two that leaves so many bits, by halving."""
    low, high = 0.5, 1.0 - 1e-12
    for _ in range(100):
        middle = (low + high) / 2
        left = -(middle * math.log2(middle) + (1 - middle) * math.log2(1 - middle))
        low, high = (middle, high) if left > bits else (low, middle)
    return math.log(low / (1 - low)) if bits < 1 else 0.0


def read_roads(path: Path) -> Roads:
    """Return the network of a GeoJSON file of lines, or raise an InputError that says what is wrong with it.

    How fast people go, a line may say by ``speed`` or ``maxspeed``: km/h, or text such as ``30 mph``.
    """
    try:
        if path.stat().st_size > LARGEST:
            raise InputError(
                f"{spelt('roads')}: {path.name} has more than {LARGEST:,} bytes; cut it to the area of the "
                "input"
            )
        content = parse_json(path.read_bytes())
    except OSError as error:
        raise InputError(f"{spelt('roads')}: {path} cannot be read ({error.strerror})") from None
    except ValueError:
        raise InputError(f"{spelt('roads')}: {path.name} is no GeoJSON") from None
    try:
        roads = tuple(_roads_of(content))
    except (KeyError, TypeError, ValueError, AttributeError, IndexError):
        raise InputError(f"{spelt('roads')}: {path.name} is GeoJSON that cannot be understood") from None
    if not roads:
        raise InputError(
            f"{spelt('roads')}: {path.name} holds no lines; roads are features of kind LineString or "
            "MultiLineString"
        )
    return Roads(roads)


def _roads_of(content: Any) -> Iterator[Road]:
    if content["type"] == "FeatureCollection":
        for feature in content["features"]:
            yield from _roads_of(feature)
        return
    shape, told = (
        (content["geometry"], content.get("properties")) if content["type"] == "Feature" else (content, {})
    )
    kind = None if shape is None else shape["type"]
    if kind not in ("LineString", "MultiLineString"):
        return
    for line in [shape["coordinates"]] if kind == "LineString" else shape["coordinates"]:
        points = tuple((round(float(point[0]), DIGITS), round(float(point[1]), DIGITS)) for point in line)
        if not all(abs(lon) <= 180 and abs(lat) <= 90 for lon, lat in points):
            raise ValueError("a point that is nowhere")
        points = tuple(point for at, point in enumerate(points) if not at or point != points[at - 1])
        if len(points) > 1:
            yield Road(points, _speed(told or {}))


def _speed(told: dict[str, Any]) -> float | None:
    """Return km/h that a line tells; None where it tells none that mean something."""
    for name in ("speed", "maxspeed"):
        number, _, unit = str(told.get(name, "")).strip().partition(" ")
        try:
            speed = float(number) * (KMH_OF_MPH if unit == "mph" else 1.0)
        except ValueError:
            continue
        if 0 < speed < 500:
            return speed
    return None


class Arm(NamedTuple):
    """A way out of a crossing as far as the next one, in metres of a projection, from the crossing on."""

    crossing: int
    x: Floats
    y: Floats
    speed: float | None


def arms_of(roads: Roads, grid: Grid) -> list[Arm]:
    """Return the ways out of all crossings: points in which three ways meet or more."""
    met: dict[tuple[float, float], int] = {}
    for road in roads.roads:
        for at, point in enumerate(road.line):
            met[point] = met.get(point, 0) + (1 if at in (0, len(road.line) - 1) else 2)
    crossings = {point: number for number, point in enumerate(p for p, n in met.items() if n >= MEETING)}
    lon, lat = (
        np.array(side) for side in zip(*(point for road in roads.roads for point in road.line), strict=True)
    )
    x, y = (np.asarray(side) for side in grid.project(lon, lat))
    arms, start = [], 0
    for road in roads.roads:
        met_at = {at for at, point in enumerate(road.line) if point in crossings}
        for begin, end in pairwise(sorted({0, len(road.line) - 1, *met_at})):
            for first, last in ((begin, end), (end, begin)):
                if first in met_at:
                    way = start + np.linspace(first, last, abs(last - first) + 1).astype(np.int64)
                    arms.append(Arm(crossings[road.line[first]], x[way], y[way], road.speed))
        start += len(road.line)
    return arms


def road_zones(moments: Moments, roads: Roads, grid: Grid, shape: Shape) -> Zones:
    """Return a zone around each crossing, along the roads that lead out of it, and who is inside.

    A zone holds the steps of the grid whose middle is no further than ``breadth`` from the roads, as far out
    as the shape asks for, or the next crossing, or the widest zone allows. Moments of several steps are in
    none.
    """
    half = shape.width / 2 - shape.breadth - grid.metres
    if half < 0:
        raise ImpossibleRequestError(
            f"not possible: zones of {shape.width:,} metres have no room for roads {2 * shape.breadth:,} "
            f"metres broad on steps of {grid.metres:,}; widen them "
            f"({spelt('width', 2 * (shape.breadth + grid.metres) + 5 * grid.metres)})"
        )
    cells = [_cells(arm, shape, grid.metres, half) for arm in arms_of(roads, grid)]
    if not cells:
        raise ImpossibleRequestError(
            f"not possible: in the network no three roads meet, so that there is no crossing; check that "
            f"lines share their end points ({spelt('roads', 'FILE')})"
        )
    found = np.unique(np.concatenate(cells), axis=0)
    return _inside(moments, found)


def _cells(arm: Arm, shape: Shape, metres: int, half: float) -> Ints:
    """Return the steps of place along an arm: a row each, crossing, x and y."""
    along = np.concatenate(([0.0], np.cumsum(np.hypot(np.diff(arm.x), np.diff(arm.y)))))
    reach = min(shape.reach(arm.speed), float(along[-1]))
    at = np.append(np.arange(0.0, reach, metres / 4), reach)
    x, y = np.interp(at, along, arm.x), np.interp(at, along, arm.y)
    near = (np.abs(x - arm.x[0]) <= half) & (np.abs(y - arm.y[0]) <= half)
    last = len(at) if near.all() else int(np.argmin(near))
    x, y = x[:last], y[:last]
    steps = math.ceil(shape.breadth / metres) + 1
    east, north = (side.ravel() for side in np.meshgrid(*[np.arange(-steps, steps + 1)] * 2))
    column, row = (np.floor(side / metres).astype(np.int64) for side in (x, y))
    columns, rows = column[:, None] + east, row[:, None] + north
    far = np.hypot((columns + 0.5) * metres - x[:, None], (rows + 0.5) * metres - y[:, None])
    # The step that a road itself is in belongs to it, however narrow it is.
    on = (far <= shape.breadth) | ((east == 0) & (north == 0))
    found = np.unique(np.stack([columns[on], rows[on]], axis=1), axis=0)
    return np.column_stack([np.full(len(found), arm.crossing), found])


def _inside(moments: Moments, cells: Ints) -> Zones:
    """Return zones of steps of place, and the moments that lie in one of these."""
    numbers, zone = np.unique(cells[:, 0], return_inverse=True)
    begins = np.searchsorted(zone, np.arange(len(numbers)))
    sides = [end.reduceat(column, begins) for column in cells.T[1:] for end in (np.minimum, np.maximum)]
    extents = Extents(sides[0], sides[1] + 1, sides[2], sides[3] + 1)
    single = np.flatnonzero((moments.x1 - moments.x0 == 1) & (moments.y1 - moments.y0 == 1))
    code = cells[:, 1] * (1 << 32) + cells[:, 2]
    order = np.argsort(code, kind="stable")
    mine = moments.x0[single] * (1 << 32) + moments.y0[single]
    first, last = (np.searchsorted(code[order], mine, side) for side in ("left", "right"))
    many = last - first
    at = np.arange(many.sum()) + np.repeat(first - np.cumsum(many) + many, many)
    found, moment = zone[order[at]], np.repeat(single, many)
    rank = np.lexsort((moment, found))
    return Zones(extents, found[rank], moment[rank], _rectangles(zone, cells))


def _rectangles(zone: Ints, cells: Ints) -> Ints:
    """Return steps in a row as one rectangle: zone, west, east, south, north."""
    order = np.lexsort((cells[:, 1], cells[:, 2], zone))
    zone, x, y = zone[order], cells[order, 1], cells[order, 2]
    begins = np.ones(len(zone), dtype=bool)
    begins[1:] = (zone[1:] != zone[:-1]) | (y[1:] != y[:-1]) | (x[1:] != x[:-1] + 1)
    at = np.flatnonzero(begins)
    ends = np.append(at[1:], len(zone)) - 1
    return np.column_stack([zone[at], x[at], x[ends] + 1, y[at], y[at] + 1])
