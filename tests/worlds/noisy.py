"""Small worlds with a fixed study area, and trips of people in them, for methods that add noise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import NamedTuple

import numpy as np

from tripcloak.flows.model import NOBODY, ODMatrix
from tripcloak.ground.arrays import Ints
from tripcloak.hierarchy import H3Tiling, Hierarchy, QuadtreeTiling
from tripcloak.hierarchy.domains import H3Domain

CELL = 0x861FB4677FFFFFF
KINDS = ("h3", "quadtree", "tree")


class Trip(NamedTuple):
    """A trip: numbers of tiles of a world, who made it, and how many times."""

    origin: int
    destination: int
    person: int = NOBODY
    times: int = 1


@dataclass(frozen=True)
class World:
    """A study area: all its tiles, and how trips in it become a matrix."""

    kind: str

    @property
    def keys(self) -> Ints:
        """Return the keys of all tiles there are."""
        if self.kind == "h3":
            return np.sort(H3Domain(8, CELL).split(np.array([CELL], dtype=np.uint64), 0)[1])
        return np.arange(64 if self.kind == "quadtree" else 12, dtype=np.uint64)

    def matrix(self, trips: Sequence[Trip], *, ids: bool = True, counted: bool = False) -> ODMatrix:
        """Return the matrix of trips, with or without the ids of people and a column of trips."""
        sides = [self._axis(np.array(tiles)) for tiles in list(zip(*trips, strict=True))[:2]]
        person = np.array([trip.person for trip in trips], dtype=np.int32)
        times = np.array([trip.times for trip in trips])
        repeat = 1 if counted else times
        columns = {"person": np.repeat(person, repeat)} if ids else {}
        if counted:
            columns["trips"] = times
        (origins, origin), (destinations, destination) = sides
        ends = np.repeat(origin, repeat), np.repeat(destination, repeat)
        return ODMatrix.from_trips(origins, destinations, *ends, repeats=True, **columns)

    def _axis(self, tiles: Ints) -> tuple[Hierarchy, Ints]:
        if self.kind == "tree":
            return TREE, tiles.astype(np.int32)
        tiling = (
            H3Tiling(8, f"{CELL:x}") if self.kind == "h3" else QuadtreeTiling(3, (40.0, -75.0, 41.0, -73.0))
        )
        keys = self.keys[tiles]
        tree = tiling.hierarchy(np.unique(keys))
        return tree, tiling.tiles(keys, tree)


def diced_trips(dice: Random, world: World, *, trips: int, people: int, repeats: int = 4) -> list[Trip]:
    """Return trips of people who keep to a few flows, some of them without an id."""
    flows = [tuple(dice.choices(range(len(world.keys)), k=2)) for _ in range(max(1, trips // 3))]
    return [
        Trip(*dice.choice(flows), dice.randint(NOBODY, people - 1), dice.randint(1, repeats))
        for _ in range(trips)
    ]


def by_ids(matrix: ODMatrix, values: Ints) -> dict[tuple[str, str], int]:
    """Return a value per flow by the ids of its tiles, without zeros."""
    flows = matrix.flows
    origin, destination = (
        matrix.origins.zones.ids[flows.origin],
        matrix.destinations.zones.ids[flows.destination],
    )
    named = zip(origin.tolist(), destination.tolist(), values.tolist(), strict=True)
    return {(first, second): value for first, second, value in named if value}


def _tree() -> Hierarchy:
    """Return a complete tree of uneven depth over 12 tiles."""
    ids = [*(f"t{i:02d}" for i in range(12)), "a", "b", "c", "ab", "all"]
    parent = [12] * 4 + [13] * 4 + [14] * 3 + [16] + [15, 15, 16, 16, -1]
    return replace(Hierarchy.from_parents(ids, parent), complete=True)


TREE = _tree()
