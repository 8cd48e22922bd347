"""Hypothesis strategies: small matrices with raw points, and releases of every shape made of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from hypothesis import strategies as st

from oracles.flows.measures import Amount, Axis, Cell, World
from tripcloak.flows.model import ODMatrix, TripEnds
from tripcloak.flows.release import Release, build_release
from tripcloak.hierarchy import Hierarchy
from tripcloak.promises import KAnonymity, Volume

SHAPES = ("cuts", "nested", "product", "any")
"""One cut an axis; cuts that depend on the zones before; a recursive partition; any ancestors."""

Place = dict[str, tuple[float, float]]
NOWHERE = (float("nan"), float("nan"))
WEIGHTS = (0.0, 0.25, 1.0, 1.5, 6.75)
"""Sums of these are exact in any order."""


@dataclass(frozen=True)
class Trip:
    """A raw trip: its tile on every axis, points and weight."""

    cell: Cell
    start: tuple[float, float]
    end: tuple[float, float]
    weight: float


@dataclass(frozen=True, kw_only=True)
class Drawn:
    """A drawn input and, for every flow that is kept, the zones it goes to; a third axis is time."""

    axes: tuple[Axis, ...]
    places: tuple[Place, Place]
    trips: tuple[Trip, ...]
    zones: dict[Cell, Cell]
    suppressed: frozenset[Cell]
    shape: str
    chunk: int = 3
    has_points: bool = True

    @cached_property
    def matrix(self) -> ODMatrix:
        """Return the matrix, with its raw points in chunks unless they are gone."""
        places = (*self.places, {})
        trees = [hierarchy_of(axis, place) for axis, place in zip(self.axes, places, strict=False)]
        numbers = [{str(name): i for i, name in enumerate(tree.zones.ids)} for tree in trees]
        codes = [
            np.array([numbers[axis][trip.cell[axis]] for trip in self.trips], dtype=np.int32)
            for axis in range(len(trees))
        ]
        weight = np.array([trip.weight for trip in self.trips])
        start = np.array([trip.start for trip in self.trips])
        end = np.array([trip.end for trip in self.trips])
        timed = {"times": trees[2], "slot": codes[2]} if len(trees) == 3 else {}

        def points() -> Iterator[TripEnds]:
            columns = (*codes[:2], *start.T.copy(), *end.T.copy(), weight, *codes[2:])
            for at in range(0, len(weight), self.chunk):
                yield TripEnds(*(column[at : at + self.chunk] for column in columns))

        made = ODMatrix.from_trips(*trees[:2], *codes[:2], weight=weight, **timed)
        return replace(made, points=points if self.has_points else None)

    @cached_property
    def cells(self) -> list[Cell]:
        """Return the cell of every flow of the matrix."""
        columns = [tree.zones.ids[tile].tolist() for tree, tile in self.matrix.axes]
        return list(zip(*columns, strict=True))

    @cached_property
    def release(self) -> Release:
        """Return the release; every flow holds at least two trips, so every group is safe."""
        rows = [{str(name): i for i, name in enumerate(t.zones.ids)} for t, _ in self.matrix.axes]
        zones = [
            np.array([rows[axis][self.zones[cell][axis]] for cell in self.cells], dtype=np.int32)
            for axis in range(len(rows))
        ]
        return build_release(
            self.matrix,
            method="drawn",
            parameters={},
            promise=KAnonymity(k=2, unit="trips"),
            suppression_limit=1.0,
            origin_zone=zones[0],
            destination_zone=zones[1],
            time_zone=zones[2] if len(zones) == 3 else None,
            suppressed=np.array([cell in self.suppressed for cell in self.cells]),
            homogeneous=self.shape == "cuts",
        )

    def volume(self, volume: Volume) -> dict[Cell, Fraction]:
        """Return the volume of every flow, added up from the raw trips."""
        found = dict.fromkeys(self.cells, Fraction(0))
        for trip in self.trips:
            found[trip.cell] += Fraction(trip.weight) if volume == "population" else 1
        return found

    def world(self, volume: Volume) -> World:
        """Return the same input and release for the oracle."""
        before = self.volume(volume)
        groups: dict[Cell, Fraction] = {}
        for cell in self.cells:
            if cell not in self.suppressed:
                zones = self.zones[cell]
                groups[zones] = groups.get(zones, Fraction(0)) + before[cell]
        return World(
            axes=self.axes,
            flows=[Amount(cell, before[cell]) for cell in self.cells],
            groups=[Amount(zones, total) for zones, total in groups.items()],
            suppressed=frozenset(i for i, cell in enumerate(self.cells) if cell in self.suppressed),
        )


def one_group(matrix: ODMatrix) -> Release:
    """Return the release that puts all flows in one group."""
    return build_release(
        matrix,
        method="by hand",
        parameters={},
        promise=KAnonymity(k=2, unit="trips"),
        suppression_limit=0.0,
        origin_zone=np.full(matrix.n_flows, matrix.origins.root, dtype=np.int32),
        destination_zone=np.full(matrix.n_flows, matrix.destinations.root, dtype=np.int32),
        suppressed=np.zeros(matrix.n_flows, dtype=bool),
        homogeneous=True,
    )


def hierarchy_of(axis: Axis, places: Place) -> Hierarchy:
    """Return an axis in arrays, with the full number of tiles of every zone."""
    ids = list(axis.tree)
    return Hierarchy.from_parents(
        ids,
        [-1 if above is None else ids.index(above) for above in axis.tree.values()],
        tiles=np.array([len(axis.tiles(zone)) for zone in ids]),
        lat=np.array([places.get(zone, NOWHERE)[0] for zone in ids]),
        lon=np.array([places.get(zone, NOWHERE)[1] for zone in ids]),
    )


@st.composite
def drawn_releases(draw: st.DrawFn, shapes: tuple[str, ...] = SHAPES, *, suppress: bool = True) -> Drawn:
    """Return a random release: uneven trees, tiles that never occur, suppressed flows within groups."""
    axes = draw(axis_strategy()), draw(axis_strategy()), draw(axis_strategy(max_zones=4))
    axes = axes if draw(st.booleans()) else axes[:2]
    places = tuple({zone: draw(POINT) for zone in axis.tree} for axis in axes[:2])
    cell = st.tuples(*(st.sampled_from(axis.held) for axis in axes))
    cells = draw(st.lists(cell, min_size=1, max_size=9, unique=True))
    trips = [
        Trip(cell, draw(POINT), draw(POINT), draw(st.sampled_from(WEIGHTS)))
        for cell in cells
        for _ in range(draw(st.integers(2, 4)))
    ]
    shape = draw(st.sampled_from(shapes))
    left_out = draw(st.sets(st.sampled_from(cells[1:]))) if suppress and len(cells) > 1 else set()
    return Drawn(
        axes=axes,
        places=(places[0], places[1]),
        trips=tuple(draw(st.permutations(trips))),
        zones=dict(zip(cells, _zones(draw, axes, cells, shape), strict=True)),
        suppressed=frozenset(left_out),
        shape=shape,
        chunk=draw(st.integers(1, 8)),
    )


POINT = st.tuples(
    st.floats(47.0, 49.0).map(lambda x: round(x, 4)), st.floats(1.0, 3.0).map(lambda x: round(x, 4))
)


@st.composite
def axis_strategy(draw: st.DrawFn, max_zones: int = 9) -> Axis:
    """Return a random tree with inner zones of which some tiles are not held."""
    n = draw(st.integers(1, max_zones))
    above = [draw(st.integers(max(0, i - 4), i - 1)) for i in range(1, n)]
    names = draw(st.permutations([f"z{i}" for i in range(n)]))
    tree: dict[str, str | None] = {names[0]: None}
    tree |= {names[i + 1]: names[up] for i, up in enumerate(above)}
    inner = sorted(set(tree.values()) - {None}, key=str)
    return Axis(tree, {str(zone): draw(st.integers(0, 3)) for zone in inner})


def _zones(draw: st.DrawFn, axes: tuple[Axis, ...], cells: list[Cell], shape: str) -> list[Cell]:
    if shape == "any":
        return [tuple(draw(_ancestor(*part)) for part in zip(axes, cell, strict=True)) for cell in cells]
    if shape == "product":
        choice = _remembered(lambda _: draw(st.sampled_from(["stop", *range(len(axes))])))
        return [_descend(axes, cell, choice) for cell in cells]
    cut_of = _remembered(lambda key: draw(_chosen(axes[key[0]])))
    found = []
    for cell in cells:
        zones: Cell = ()
        for i, axis in enumerate(axes):
            # Nested: the cut of an axis depends on the zones before it.
            zones += (_highest(axis, cell[i], cut_of((i, zones if shape == "nested" else ()))),)
        found.append(zones)
    return found


def _descend(axes: tuple[Axis, ...], cell: Cell, choice: Callable[[Any], Any]) -> Cell:
    """Return where a cell ends up when products of zones are split until a choice says stop."""
    ways = [axis.path(tile)[::-1] for axis, tile in zip(axes, cell, strict=True)]
    while (what := choice(tuple(way[0] for way in ways))) != "stop":
        if len(ways[what]) == 1:
            break
        ways[what].pop(0)
    return tuple(way[0] for way in ways)


def _ancestor(axis: Axis, tile: str) -> st.SearchStrategy[str]:
    return st.sampled_from(axis.path(tile))


def _chosen(axis: Axis) -> st.SearchStrategy[set[str]]:
    return st.sets(st.sampled_from(sorted(axis.tree)), max_size=3)


def _highest(axis: Axis, tile: str, chosen: set[str]) -> str:
    return next((zone for zone in axis.path(tile)[::-1] if zone in chosen), tile)


def _remembered(decide: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a function that decides once for every key."""
    decided: dict[Any, Any] = {}

    def answer(key: Any) -> Any:
        if key not in decided:
            decided[key] = decide(key)
        return decided[key]

    return answer
