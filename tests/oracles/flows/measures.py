"""Slow and plain twins of the measures: every cell is looked at, in exact fractions.

Written from the definitions; nothing is shared with the package.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from typing import NamedTuple

import numpy as np
from pyproj import Geod, Transformer

Tree = Mapping[str, str | None]
"""The parent of every zone; None at the root."""

Number = Fraction | int | float
ELLIPSOID = Geod(ellps="WGS84")
FROM_THE_CENTRE = Transformer.from_crs("EPSG:4979", "EPSG:4978", always_xy=True)


Cell = tuple[str, ...]
"""A tile, or a zone, on every axis: origin, destination and, where there are times, slot."""


class Amount(NamedTuple):
    """An input flow or a released group: where, and how much."""

    cell: Cell
    volume: Fraction


@dataclass(frozen=True)
class Axis:
    """A tree of which only some tiles are held; ``unseen`` is how many more each inner zone has."""

    tree: Tree
    unseen: Mapping[str, int] = field(default_factory=dict)

    def path(self, zone: str) -> list[str]:
        """Return the zone and its ancestors, upwards."""
        above = self.tree[zone]
        return [zone] if above is None else [zone, *self.path(above)]

    @property
    def held(self) -> list[str]:
        """Return the zones without children, sorted by id."""
        return sorted(set(self.tree) - set(self.tree.values()))

    def tiles(self, zone: str) -> set[str]:
        """Return every tile below a zone, held or not."""
        held = {tile for tile in self.held if zone in self.path(tile)}
        inner = [z for z in self.tree if z not in self.held and zone in self.path(z)]
        return held | {f"{z}/{i}" for z in inner for i in range(self.unseen.get(z, 0))}

    def all_tiles(self) -> set[str]:
        """Return every tile of the tree."""
        return set().union(*(self.tiles(zone) for zone in self.tree))


@dataclass(frozen=True)
class World:
    """The axes, what was there and what was released; ``suppressed`` are rows of ``flows``."""

    axes: tuple[Axis, ...]
    flows: Sequence[Amount]
    groups: Sequence[Amount]
    suppressed: frozenset[int]

    @property
    def total(self) -> Fraction:
        """Return V."""
        return sum((flow.volume for flow in self.flows), Fraction(0))

    @property
    def released(self) -> Fraction:
        """Return V+."""
        return sum((group.volume for group in self.groups), Fraction(0))

    @property
    def lost(self) -> Fraction:
        """Return the suppressed volume."""
        return sum((self.flows[i].volume for i in self.suppressed), Fraction(0))

    def original(self) -> dict[Cell, Fraction]:
        """Return the volume of every cell that occurs."""
        return {flow.cell: flow.volume for flow in self.flows}

    def rebuilt(self) -> dict[Cell, Fraction]:
        """Return the volume on every cell after spreading each group evenly over its own."""
        found: dict[Cell, Fraction] = defaultdict(Fraction)
        for group in self.groups:
            cells = list(product(*self.tiles(group.cell)))
            for cell in cells:
                found[cell] += group.volume / len(cells)
        return found

    def tiles(self, zones: Cell) -> list[set[str]]:
        """Return the tiles below zones, axis by axis."""
        return [axis.tiles(zone) for axis, zone in zip(self.axes, zones, strict=True)]

    def cells(self) -> Iterable[Cell]:
        """Yield every cell there is."""
        return product(*(axis.all_tiles() for axis in self.axes))


def ratio(part: Number, whole: Number) -> float | None:
    return None if whole == 0 else float(part / whole)


def reconstruction_loss(world: World) -> float | None:
    before, after = world.original(), world.rebuilt()
    return ratio(sum(abs(after.get(p, 0) - before.get(p, 0)) for p in world.cells()), world.total)


def distribution_loss(world: World) -> float | None:
    if world.total == 0 or world.released == 0:
        return None
    before, after = world.original(), world.rebuilt()
    return float(
        sum(abs(after.get(p, 0) / world.released - before.get(p, 0) / world.total) for p in world.cells())
    )


def cpc(world: World) -> float | None:
    before, after = world.original(), world.rebuilt()
    in_common = sum(min(after.get(p, 0), before.get(p, 0)) for p in world.cells())
    return ratio(2 * in_common, world.total + world.released)


def cpc_of_shares(world: World) -> float | None:
    if world.total == 0 or world.released == 0:
        return None
    before, after = world.original(), world.rebuilt()
    return float(
        sum(min(after.get(p, 0) / world.released, before.get(p, 0) / world.total) for p in world.cells())
    )


class Given(NamedTuple):
    """A released group: the cells of the input it covers, how many cells it says it has, its volume."""

    covers: frozenset[Cell]
    cells: int
    volume: Fraction


class Fidelity(NamedTuple):
    """What is rebuilt on the cells of the input, and E, D and CPC."""

    rebuilt: dict[Cell, Fraction]
    loss: float | None
    shape: float | None
    common: float | None


def fidelity(original: Mapping[Cell, Fraction], groups: Sequence[Given]) -> Fidelity:
    """Return what a reader rebuilds from groups of any kind, and how far off that is."""
    total, released = sum(original.values()), sum((group.volume for group in groups), Fraction(0))
    rebuilt = dict.fromkeys(original, Fraction(0))
    for group in groups:
        for cell in group.covers:
            rebuilt[cell] += group.volume / max(group.cells, len(group.covers))
    empty = released - sum(rebuilt.values())
    wrong = sum(abs(rebuilt[cell] - original[cell]) for cell in original) + empty
    shape = None
    if total and released:
        bent = sum(abs(rebuilt[cell] / released - original[cell] / total) for cell in original)
        shape = float(bent + empty / released)
    in_common = sum(min(rebuilt[cell], original[cell]) for cell in original)
    return Fidelity(rebuilt, ratio(wrong, total), shape, ratio(2 * in_common, total + released))


def generalisation(world: World, tiles: str) -> float | None:
    origins, destinations = ({flow.cell[axis] for flow in world.flows} for axis in (0, 1))
    total = Fraction(0)
    for group in world.groups:
        o, d, *_ = world.tiles(group.cell)
        wide = len(o) + len(d) if tiles == "full" else len(o & origins) + len(d & destinations)
        total += group.volume * wide
    return ratio(total, world.released)


def discernability(world: World) -> Fraction:
    return sum((group.volume**2 for group in world.groups), Fraction(0)) + world.total * world.lost


def metres(a: tuple[float, float], b: tuple[float, float]) -> float:
    """Return the length between two points (lat, lon) on the ellipsoid."""
    return float(ELLIPSOID.inv(a[1], a[0], b[1], b[0])[2])


def earth_movers_distance(a: Sequence[tuple[float, Number]], b: Sequence[tuple[float, Number]]) -> float:
    """Return the least work between weighted values, by walking both piles from the left."""
    whole = [sum(Fraction(weight) for _, weight in pile) for pile in (a, b)]
    piles = [
        [[value, Fraction(weight) / total] for value, weight in sorted(pile)]
        for pile, total in zip((a, b), whole, strict=True)
    ]
    work = 0.0
    left, right = piles
    while left and right:
        share = min(left[0][1], right[0][1])
        work += float(share) * abs(left[0][0] - right[0][0])
        for pile in piles:
            pile[0][1] -= share
            if pile[0][1] == 0:
                pile.pop(0)
    return work


def spread(values: Sequence[tuple[float, Number]]) -> tuple[float, float, float]:
    """Return mean, weighted median and standard deviation."""
    total = sum(Fraction(weight) for _, weight in values)
    mean = sum(value * float(weight / total) for value, weight in values)
    deviation = math.sqrt(sum((value - mean) ** 2 * float(weight / total) for value, weight in values))
    running, low, high = Fraction(0), None, None
    for value, weight in sorted(values):
        running += Fraction(weight)
        low = value if low is None and 2 * running >= total else low
        high = value if high is None and 2 * running > total else high
    assert low is not None
    assert high is not None
    return mean, (low + high) / 2, deviation


def mean_ranks(values: Sequence[Number]) -> list[float]:
    """Return how many are smaller, plus half of the others that are equal."""
    return [
        sum(other < v for other in values) + (sum(other == v for other in values) - 1) / 2 for v in values
    ]


def rank_correlation(a: Sequence[Number], b: Sequence[Number]) -> float | None:
    """Return Spearman's coefficient; None where ``a`` has no order, 0 where only ``b`` has none."""
    ranks = [mean_ranks(values) for values in (a, b)]
    centred = [[rank - sum(column) / len(column) for rank in column] for column in ranks]
    squares = [sum(rank * rank for rank in column) for column in centred]
    if squares[0] == 0:
        return None
    if squares[1] == 0:
        return 0.0
    return sum(x * y for x, y in zip(*centred, strict=True)) / math.sqrt(squares[0] * squares[1])


def next_released(parent: Sequence[int], released: Sequence[bool]) -> list[int]:
    """Return, for every zone, the first released zone met when walking up from its parent."""
    found = []
    for zone in range(len(parent)):
        up = parent[zone]
        while up != -1 and not released[up]:
            up = parent[up]
        found.append(up)
    return found


def sum_of_covering(
    flows: Sequence[tuple[int, ...]],
    parents: Sequence[Sequence[int]],
    groups: Sequence[tuple[tuple[int, ...], float]],
) -> list[float]:
    """Return, for every flow, the sum of the shares of the groups whose zones hold it on every axis."""

    def path(parent: Sequence[int], zone: int) -> list[int]:
        return [zone] if parent[zone] == -1 else [zone, *path(parent, parent[zone])]

    paths = [[path(parent, tile) for parent, tile in zip(parents, flow, strict=True)] for flow in flows]
    return [
        sum(share for zones, share in groups if all(z in up for z, up in zip(zones, above, strict=True)))
        for above in paths
    ]


def places(lat: Sequence[float], lon: Sequence[float]) -> np.ndarray:
    """Return x, y and z in metres from the Earth's centre, by the library, and the sine of the latitude."""
    x, y, z = FROM_THE_CENTRE.transform(lon, lat, np.zeros(len(lat)))
    return np.stack([x, y, z, np.sin(np.radians(lat))], axis=1)


def metres_between(lat: np.ndarray, lon: np.ndarray, to_lat: np.ndarray, to_lon: np.ndarray) -> np.ndarray:
    """Return the metres between points on the ellipsoid, by the library."""
    return np.asarray(ELLIPSOID.inv(lon, lat, to_lon, to_lat)[2])


def metres_to(lat: np.ndarray, lon: np.ndarray, to_lat: np.ndarray, to_lon: np.ndarray) -> np.ndarray:
    """Return the same: the library does not mind whether the kernel had seen one end before."""
    return metres_between(lat, lon, to_lat, to_lon)


def weigh_digits(bits: Sequence[int], weights: Sequence[float], prefix: int) -> dict[int, float]:
    """Return the weight on every digit: the upper half, or the lower half below a prefix."""
    found: dict[int, float] = defaultdict(float)
    for i, number in enumerate(bits):
        upper, lower = divmod(number, 1 << 16)
        if prefix < 0:
            found[upper] += weights[i] if weights else 1
        elif upper == prefix:
            found[lower] += weights[i] if weights else 1
    return found


def sum_in_boxes(
    points: Sequence[Sequence[int]],
    low: Sequence[Sequence[int]],
    high: Sequence[Sequence[int]],
    volume: Sequence[float],
    cells: Sequence[float],
) -> list[float]:
    """Return, for every point, what the boxes around it give each of their cells, box by box."""
    found = [0.0] * len(points)
    for box in range(len(volume)):
        sides = list(zip(low[box], high[box], strict=True))
        inside = [
            i
            for i, point in enumerate(points)
            if all(a <= x <= b for x, (a, b) in zip(point, sides, strict=True))
        ]
        for i in inside:
            found[i] += volume[box] / max(cells[box], len(inside))
    return found
