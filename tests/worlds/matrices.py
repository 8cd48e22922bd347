"""Hypothesis strategies: trees, trips and promises of every awkward kind, in plain and in coded form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from random import Random
from typing import Any

import numpy as np
from hypothesis import strategies as st

from oracles.flows.kernels import Row, Tree, below, tiles
from tripcloak.flows.model import NOBODY, ODMatrix
from tripcloak.hierarchy import Hierarchy
from tripcloak.promises import AllOf, KAnonymity, Promise, Unit
from worlds.depth import size

DYADIC_WEIGHTS = (0.0, 0.25, 1.0, 1.5, 3.0, 6.75)
"""Weights whose sums are exact in any order."""

ROUNDING_WEIGHTS = (0.0, 0.1, 0.2, 0.3, 1.1, 2.7, 1e9 / 3)
"""Weights whose sums depend on the order of the terms."""


Places = dict[str, tuple[float, float]]
"""Latitude and longitude of every tile."""

CITIES = ((48.85, 2.35), (-33.87, 151.2), (-0.002, -0.002), (64.1, -21.9), (89.99, 179.99))
"""On all sides of the equator and of Greenwich, across both, and where degrees of longitude are short."""


def hierarchy_of(tree: Tree, *, unseen_tiles: int = 0, places: Places | None = None) -> Hierarchy:
    """Return the tree in arrays; zones may have more tiles than those held, tiles a place."""
    ids = list(tree)
    at = {} if places is None else _coordinates(tree, places)
    above = [-1 if parent is None else ids.index(parent) for parent in tree.values()]
    full = np.array([len(below(tree, zone)) for zone in ids])
    inner = np.array([zone not in tiles(tree) for zone in ids])
    return Hierarchy.from_parents(ids, above, name="drawn", tiles=full + unseen_tiles * inner, **at)


def grid(tree: Tree) -> Places:
    """Return a place for every tile, three in a row."""
    return {
        tile: (48.85 + number // 3 / 100, 2.35 + number % 3 / 100) for number, tile in enumerate(tiles(tree))
    }


def diced_places(dice: Random, tree: Tree) -> Places:
    """Return a place for every tile; some share a latitude, a longitude or both."""
    south, west = dice.choice(CITIES)
    return {
        tile: (south + dice.randint(0, 5) / 1000, west + dice.randint(0, 5) / 1000) for tile in tiles(tree)
    }


def _coordinates(tree: Tree, places: Places) -> dict[str, Any]:
    """Return the columns that put every zone at the mean of its tiles, each tile a hundredth of a km2."""
    held = [[places[tile] for tile in below(tree, zone)] for zone in tree]
    lat, lon = (np.array([np.mean([place[axis] for place in zone]) for zone in held]) for axis in (0, 1))
    return {"lat": lat, "lon": lon, "area_km2": np.array([0.01 * len(zone) for zone in held])}


@dataclass(frozen=True, kw_only=True)
class Case:
    """Trips between two trees: the raw rows in plain Python, and the matrix made of them."""

    trees: tuple[Tree, Tree]
    rows: tuple[Row, ...]
    has_person: bool = False
    has_weight: bool = False
    has_trips: bool = False
    people_once: bool = False
    unseen_tiles: int = 0
    places: tuple[Places, Places] | None = None

    @cached_property
    def hierarchies(self) -> tuple[Hierarchy, Hierarchy]:
        """Return both trees in arrays."""
        places = self.places or (None, None)
        first, second = (
            hierarchy_of(tree, unseen_tiles=self.unseen_tiles, places=place)
            for tree, place in zip(self.trees, places, strict=True)
        )
        return first, second

    @cached_property
    def columns(self) -> dict[str, Any]:
        """Return the rows as coded columns; tile codes follow the order of the ids."""
        codes = [{tile: code for code, tile in enumerate(tiles(tree))} for tree in self.trees]
        found: dict[str, Any] = {
            "origin": np.array([codes[0][row.origin] for row in self.rows], dtype=np.int32),
            "destination": np.array([codes[1][row.destination] for row in self.rows], dtype=np.int32),
        }
        if self.has_person:
            found["person"] = np.array([row.person for row in self.rows], dtype=np.int32)
        if self.has_weight:
            found["weight"] = np.array([row.weight for row in self.rows], dtype=np.float64)
        if self.has_trips:
            found["trips"] = np.array([row.trips for row in self.rows], dtype=np.int64)
        return found

    def matrix(self) -> ODMatrix:
        """Return a new matrix of the rows."""
        made = ODMatrix.from_trips(*self.hierarchies, **self.columns, repeats=True, weights=True)
        return replace(made, each_trip_is_a_person=self.people_once)

    @property
    def units(self) -> tuple[Unit, ...]:
        """Return the units a promise may count here."""
        units: list[Unit] = ["trips"]
        if self.has_person or self.people_once:
            units.append("travellers")
        if self.has_weight:
            units.append("population")
        return tuple(units)

    def thresholds(self, promise: Promise) -> dict[str, float]:
        """Return what the oracle has to count; where every trip is somebody else, trips are people."""
        asked: dict[str, float] = {}
        for unit, k in _thresholds(promise, self.units).items():
            counted = "trips" if unit == "travellers" and self.people_once else unit
            asked[counted] = max(k, asked.get(counted, 0))
        return asked


def _thresholds(promise: Promise, units: Sequence[Unit]) -> dict[str, float]:
    if isinstance(promise, AllOf):
        parts = [_thresholds(part, units) for part in promise.promises]
        return {unit: max(part.get(unit, 0) for part in parts) for part in parts for unit in part}
    assert isinstance(promise, KAnonymity)
    return {promise.unit or ("travellers" if "travellers" in units else "trips"): promise.k}


# Sizes are drawn by Hypothesis, so that failures shrink; the rest is diced, so that examples differ.
seeds = st.integers(0, 2**32 - 1).map(Random)


@st.composite
def trees(draw: st.DrawFn, max_zones: int = 14) -> Tree:
    """Return a random tree: uneven depths, chains of single children, ids in no order."""
    return diced_tree(draw(seeds), draw(st.integers(1, max_zones)))


def diced_tree(dice: Random, n: int) -> Tree:
    """Return a random tree of n zones; the reach decides whether it is deep or wide."""
    names = dice.sample([f"z{i:02d}" for i in range(n)], n)
    reach = dice.choice([2, 4, 8])
    above = [dice.randint(max(0, i - reach), i - 1) for i in range(1, n)]
    return {names[0]: None} | {names[i + 1]: names[up] for i, up in enumerate(above)}


@st.composite
def cases(
    draw: st.DrawFn,
    *,
    weights: Sequence[float] = ROUNDING_WEIGHTS,
    max_rows: int = size(60, 150),
    max_zones: int = size(18, 40),
    placed: bool = False,
) -> Case:
    """Return random trips between random trees, with any of the optional columns; tiles may have a place."""
    dice = draw(seeds)
    first, second = (diced_tree(dice, draw(st.integers(1, max_zones))) for _ in range(2))
    has_person, has_weight, has_trips = (draw(st.booleans()) for _ in range(3))
    # Few pairs over many rows, so that some flows are safe by themselves and some are not.
    pairs = [(dice.choice(tiles(first)), dice.choice(tiles(second))) for _ in range(draw(st.integers(1, 30)))]
    rows = [
        Row(
            *dice.choice(pairs),
            person=dice.randint(NOBODY, 14) if has_person else NOBODY,
            weight=dice.choice(weights),
            trips=dice.choice([1, 1, 1, 2, 4]) if has_trips else 1,
        )
        for _ in range(draw(st.integers(1, max_rows)))
    ]
    people_once, unseen = not has_person and dice.random() < 0.5, dice.randint(0, 5)
    return Case(
        trees=(first, second),
        rows=tuple(rows),
        has_person=has_person,
        has_weight=has_weight,
        has_trips=has_trips,
        people_once=people_once,
        unseen_tiles=unseen,
        places=(diced_places(dice, first), diced_places(dice, second)) if placed else None,
    )


@st.composite
def single_criteria(draw: st.DrawFn, case: Case) -> KAnonymity:
    """Return k on a unit this case can count, or on the default unit."""
    unit = draw(st.sampled_from([None, *case.units]))
    return KAnonymity(k=draw(st.integers(2, 8)), unit=unit)


def promises(case: Case) -> st.SearchStrategy[Promise]:
    """Return one promise, or several that must all hold."""
    single = single_criteria(case)
    several = st.lists(single, min_size=1, max_size=3).map(lambda parts: AllOf(promises=tuple(parts)))
    return st.one_of(single, several)


limits = st.sampled_from([0.0, 0.05, 0.1, 0.3, 0.5, 0.9])
