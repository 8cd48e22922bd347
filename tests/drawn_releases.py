"""Hypothesis strategies: small matrices with raw points, and releases of every shape made of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from hypothesis import strategies as st

from oracle_metrics import Axis, Flow, Group, World
from tripcloak.criteria import KAnonymity
from tripcloak.hierarchy import Hierarchy
from tripcloak.matrix import ODMatrix, Points, Volume
from tripcloak.release import Release, build_release

SHAPES = ("cuts", "nested", "product", "any")
"""One cut an axis; a cut of destinations for each origin zone; a recursive partition; any ancestors."""

Place = dict[str, tuple[float, float]]
WEIGHTS = (0.0, 0.25, 1.0, 1.5, 6.75)
"""Sums of these are exact in any order."""


@dataclass(frozen=True)
class Trip:
    """A raw trip: tiles, points and weight."""

    origin: str
    destination: str
    start: tuple[float, float]
    end: tuple[float, float]
    weight: float


@dataclass(frozen=True, kw_only=True)
class Drawn:
    """A drawn input and, for every flow that is kept, the pair of zones it goes to."""

    axes: tuple[Axis, Axis]
    places: tuple[Place, Place]
    trips: tuple[Trip, ...]
    zones: dict[tuple[str, str], tuple[str, str]]
    suppressed: frozenset[tuple[str, str]]
    shape: str
    chunk: int = 3
    has_points: bool = True

    @cached_property
    def matrix(self) -> ODMatrix:
        """Return the matrix, with its raw points in chunks unless they are gone."""
        trees = [hierarchy_of(axis, places) for axis, places in zip(self.axes, self.places, strict=True)]
        codes = [{str(name): i for i, name in enumerate(tree.zones.ids)} for tree in trees]
        origin = np.array([codes[0][trip.origin] for trip in self.trips], dtype=np.int32)
        destination = np.array([codes[1][trip.destination] for trip in self.trips], dtype=np.int32)
        weight = np.array([trip.weight for trip in self.trips])
        start = np.array([trip.start for trip in self.trips])
        end = np.array([trip.end for trip in self.trips])

        def points() -> Iterator[Points]:
            columns = (origin, destination, *start.T.copy(), *end.T.copy(), weight)
            for at in range(0, len(origin), self.chunk):
                yield Points(*(column[at : at + self.chunk] for column in columns))

        made = ODMatrix.from_trips(*trees, origin, destination, weight=weight)
        return replace(made, points=points if self.has_points else None)

    @cached_property
    def pairs(self) -> list[tuple[str, str]]:
        """Return the pair of tiles of every flow of the matrix."""
        m = self.matrix
        return [
            (str(m.origins.zones.ids[o]), str(m.destinations.zones.ids[d]))
            for o, d in zip(m.flows.origin, m.flows.destination, strict=True)
        ]

    @cached_property
    def release(self) -> Release:
        """Return the release; every pair of tiles holds at least two trips, so every group is safe."""
        m = self.matrix
        rows = [{str(name): i for i, name in enumerate(t.zones.ids)} for t in (m.origins, m.destinations)]
        return build_release(
            m,
            method="drawn",
            parameters={},
            criterion=KAnonymity(k=2, unit="trips"),
            suppression_limit=1.0,
            origin_zone=np.array([rows[0][self.zones[pair][0]] for pair in self.pairs], dtype=np.int32),
            destination_zone=np.array([rows[1][self.zones[pair][1]] for pair in self.pairs], dtype=np.int32),
            suppressed=np.array([pair in self.suppressed for pair in self.pairs]),
            homogeneous=self.shape == "cuts",
        )

    def volume(self, volume: Volume) -> dict[tuple[str, str], Fraction]:
        """Return the volume of every flow, added up from the raw trips."""
        found = dict.fromkeys(self.pairs, Fraction(0))
        for trip in self.trips:
            found[trip.origin, trip.destination] += Fraction(trip.weight) if volume == "population" else 1
        return found

    def world(self, volume: Volume) -> World:
        """Return the same input and release for the oracle."""
        before = self.volume(volume)
        groups: dict[tuple[str, str], Fraction] = {}
        for pair in self.pairs:
            if pair not in self.suppressed:
                zones = self.zones[pair]
                groups[zones] = groups.get(zones, Fraction(0)) + before[pair]
        return World(
            origins=self.axes[0],
            destinations=self.axes[1],
            flows=[Flow(*pair, before[pair]) for pair in self.pairs],
            groups=[Group(*zones, total) for zones, total in groups.items()],
            suppressed=frozenset(i for i, pair in enumerate(self.pairs) if pair in self.suppressed),
        )


def one_group(matrix: ODMatrix) -> Release:
    """Return the release that puts all flows in one group."""
    return build_release(
        matrix,
        method="by hand",
        parameters={},
        criterion=KAnonymity(k=2, unit="trips"),
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
        lat=np.array([places[zone][0] for zone in ids]),
        lon=np.array([places[zone][1] for zone in ids]),
    )


@st.composite
def drawn_releases(draw: st.DrawFn, shapes: tuple[str, ...] = SHAPES, *, suppress: bool = True) -> Drawn:
    """Return a random release: uneven trees, tiles that never occur, suppressed flows within groups."""
    axes = draw(axis_strategy()), draw(axis_strategy())
    places = tuple({zone: draw(POINT) for zone in axis.tree} for axis in axes)
    pair = st.tuples(*(st.sampled_from(axis.held) for axis in axes))
    pairs = draw(st.lists(pair, min_size=1, max_size=9, unique=True))
    trips = [
        Trip(*pair, draw(POINT), draw(POINT), draw(st.sampled_from(WEIGHTS)))
        for pair in pairs
        for _ in range(draw(st.integers(2, 4)))
    ]
    shape = draw(st.sampled_from(shapes))
    left_out = draw(st.sets(st.sampled_from(pairs[1:]))) if suppress and len(pairs) > 1 else set()
    return Drawn(
        axes=axes,
        places=(places[0], places[1]),
        trips=tuple(draw(st.permutations(trips))),
        zones=dict(zip(pairs, _zones(draw, axes, pairs, shape), strict=True)),
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


Pairs = list[tuple[str, str]]


def _zones(draw: st.DrawFn, axes: tuple[Axis, Axis], pairs: Pairs, shape: str) -> Pairs:
    if shape == "any":
        return [(draw(_ancestor(axes[0], o)), draw(_ancestor(axes[1], d))) for o, d in pairs]
    if shape == "product":
        choice = _remembered(lambda _: draw(st.sampled_from(["stop", "origin", "destination"])))
        return [_descend(axes, pair, choice) for pair in pairs]
    origin_cut = draw(_chosen(axes[0]))
    cut_of = _remembered(lambda _: draw(_chosen(axes[1])))
    found = []
    for o, d in pairs:
        zone = _highest(axes[0], o, origin_cut)
        found.append((zone, _highest(axes[1], d, cut_of(zone if shape == "nested" else None))))
    return found


def _descend(axes: tuple[Axis, Axis], pair: tuple[str, str], choice: Callable[[Any], str]) -> tuple[str, str]:
    """Return where a pair of tiles ends up when products of zones are split until a choice says stop."""
    origin, destination = axes[0].path(pair[0])[::-1], axes[1].path(pair[1])[::-1]
    while (what := choice((origin[0], destination[0]))) != "stop":
        way = origin if what == "origin" else destination
        if len(way) == 1:
            break
        way.pop(0)
    return origin[0], destination[0]


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
