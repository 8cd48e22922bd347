"""Small requests to cut two or three trees, in coded form and as plain boxes to hold the answers against."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np
import pytest
from hypothesis import assume
from hypothesis import strategies as st

from oracles.flows.cuts import Box, Boxes, Frontier, critical, least_mean
from oracles.flows.kernels import Row, Tree, below, children, tiles
from tripcloak.flows.methods.losses import LossName
from tripcloak.flows.methods.tree_method import Withhold
from tripcloak.flows.model import ODMatrix
from tripcloak.flows.release import Release
from tripcloak.ground.arrays import Floats, Ints
from tripcloak.hierarchy import Hierarchy
from tripcloak.promises import AllOf, KAnonymity, LDiversity, Promise
from worlds.matrices import DYADIC_WEIGHTS, Case, cases, diced_tree, hierarchy_of, promises, seeds

EARTH_M = 6_371_008.8
"""The mean radius of the earth (IUGG)."""


class Place(NamedTuple):
    """Where a zone is, and how large."""

    lat: float
    lon: float
    area_km2: float


def placed(hierarchy: Hierarchy, places: Mapping[str, Place]) -> Hierarchy:
    """Return the hierarchy with a place for every zone."""
    lat, lon, area = np.array([places[str(name)] for name in hierarchy.zones.ids]).T
    return replace(hierarchy, zones=replace(hierarchy.zones, lat=lat, lon=lon, area_km2=area))


@dataclass(frozen=True, kw_only=True)
class PlacedCase(Case):
    """A case whose zones have a place, and whose trips have a slot in a tree of time if there is one."""

    places: tuple[Mapping[str, Place], Mapping[str, Place]]
    time_tree: Tree | None = None
    slots: tuple[str, ...] = ()

    @cached_property
    def hierarchies(self) -> tuple[Hierarchy, Hierarchy]:
        """Return both trees of space in arrays."""
        first, second = (placed(*pair) for pair in zip(super().hierarchies, self.places, strict=True))
        return first, second

    @property
    def all_trees(self) -> tuple[Tree, ...]:
        """Return the trees of all axes."""
        return self.trees if self.time_tree is None else (*self.trees, self.time_tree)

    def matrix(self) -> ODMatrix:
        """Return a new matrix of the rows, in slots of time where there are any."""
        time: dict[str, Any] = {}
        if self.time_tree is not None:
            time["times"] = hierarchy_of(self.time_tree)
            time["slot"] = np.array([tiles(self.time_tree).index(slot) for slot in self.slots], np.int32)
        origins, destinations = self.hierarchies
        made = ODMatrix.from_trips(origins, destinations, **self.columns, **time, repeats=True, weights=True)
        return replace(made, each_trip_is_a_person=self.people_once)

    def flows(self) -> dict[Box, list[Row]]:
        """Return the rows of every combination of tiles."""
        found: dict[Box, list[Row]] = defaultdict(list)
        for number, row in enumerate(self.rows):
            time = () if self.time_tree is None else (self.slots[number],)
            found[row.origin, row.destination, *time].append(row)
        return dict(found)


@dataclass(frozen=True, eq=False)
class TableLoss:
    """A loss that is any number for any tile and zone: nothing like a size, and not monotone."""

    seed: int
    name: str = "table"

    def of_ancestors(self, tree: Hierarchy, ancestors: Ints) -> Floats:
        """Return the number of every tile and ancestor; NaN where there is none."""
        ids = tree.zones.ids
        losses = [
            [
                math.nan if zone < 0 else self.of(str(ids[tile]), str(ids[zone]))
                for tile, zone in enumerate(row)
            ]
            for row in ancestors
        ]
        return np.array(losses)

    def of(self, tile: str, zone: str) -> float:
        """Return the number of one tile and zone: a few different ones, so that costs tie."""
        return (0.0, 1.0, 2.0, 3.0, 7.0)[crc32(f"{self.seed} {tile} {zone}".encode()) % 5]


@dataclass(frozen=True, kw_only=True)
class Request:
    """What is asked of a method on a case, and the same in boxes."""

    case: PlacedCase
    promise: Promise
    limit: float
    loss: LossName
    table: TableLoss
    withhold: Withhold = "worst"

    @cached_property
    def boxes(self) -> Boxes:
        """Return all boxes under the named loss."""
        case = self.case
        by_name = {"tiles": self._tiles, "area": self._area, "metres": self._metres}[self.loss]
        time = [lambda slot, zone: float(len(below(case.all_trees[2], zone)))]
        losses = [by_name(0), by_name(1), *(time if case.time_tree else [])]
        return self._boxes(losses)

    @cached_property
    def table_boxes(self) -> Boxes:
        """Return all boxes under the loss that is any table of numbers."""
        return self._boxes([self.table.of] * len(self.case.all_trees))

    @property
    def budget(self) -> float:
        """Return the volume that may be suppressed; a whisker more, for limits that are no binary number."""
        return self.limit * self.boxes.total * (1 + 1e-12)

    @property
    def parameters(self) -> dict[str, Any]:
        """Return what every method over products of zones takes."""
        told = {} if self.withhold == "worst" else {"withhold": self.withhold}
        return {"promise": self.promise, "suppression_limit": self.limit, "loss": self.loss, **told}

    def _boxes(self, losses: list[Callable[[str, str], float]]) -> Boxes:
        floor = self.promise.floors.get("tiles", 0)
        flows, keeps = self.case.flows(), self.withhold == "unsafe"
        return Boxes(self.case.all_trees, flows, self._thresholds, tuple(losses), floor, keeps_safe=keeps)

    @property
    def _thresholds(self) -> dict[str, float]:
        parts = self.promise.promises if isinstance(self.promise, AllOf) else (self.promise,)
        return self.case.thresholds(AllOf(promises=tuple(p for p in parts if not isinstance(p, LDiversity))))

    def _tiles(self, axis: int) -> Callable[[str, str], float]:
        tree = self.case.trees[axis]
        size = {
            zone: float(len(below(tree, zone)) + self.case.unseen_tiles * bool(children(tree, zone)))
            for zone in tree
        }
        return lambda tile, zone: size[zone]

    def _area(self, axis: int) -> Callable[[str, str], float]:
        return lambda tile, zone: self.case.places[axis][zone].area_km2

    def _metres(self, axis: int) -> Callable[[str, str], float]:
        places = self.case.places[axis]
        return lambda tile, zone: expected_metres(places[tile], places[zone])


def expected_metres(tile: Place, zone: Place) -> float:
    """Return the distance on the sphere, with the mean distance inside a disc of the tile's area."""
    within = 2 / 3 * math.sqrt(tile.area_km2 * 1e6 / math.pi)
    return math.hypot(EARTH_M * angle(tile, zone), within)


def angle(one: Place, other: Place) -> float:
    """Return the angle between two places, seen from the centre of the earth."""
    a, b = (
        np.array([math.cos(y) * math.cos(x), math.cos(y) * math.sin(x), math.sin(y)])
        for y, x in ((math.radians(place.lat), math.radians(place.lon)) for place in (one, other))
    )
    return math.atan2(float(np.linalg.norm(np.cross(a, b))), float(a @ b))


@st.composite
def requests(
    draw: st.DrawFn,
    *,
    max_zones: int = 9,
    max_rows: int = 24,
    with_time: bool = False,
    diverse: bool = True,
    any_withholding: bool = False,
) -> Request:
    """Return a request that can be met: odd trees, ties, people who come again, any promise and loss."""
    plain = draw(cases(weights=DYADIC_WEIGHTS, max_rows=max_rows, max_zones=max_zones))
    dice = draw(seeds)
    # Few different numbers, so that costs tie; areas that do not grow upwards, so that nothing helps.
    first, second = (
        {
            z: Place(dice.randint(0, 9) / 100, dice.randint(0, 9) / 100, dice.choice([0, 1, 2, 5]))
            for z in tree
        }
        for tree in plain.trees
    )
    time_tree = diced_tree(dice, draw(st.integers(1, 5))) if with_time else None
    slots = tuple(dice.choice(tiles(time_tree)) for _ in plain.rows) if time_tree else ()
    case = PlacedCase(**vars_of(plain), places=(first, second), time_tree=time_tree, slots=slots)
    promise = draw(promises(case))
    if diverse and draw(st.integers(0, 4)) == 0:
        promise = AllOf(promises=(promise, LDiversity(l=2)))
    request = Request(
        case=case,
        promise=promise,
        limit=draw(st.sampled_from([0.0, 0.05, 0.1, 0.3, 0.5, 0.9])),
        loss=draw(st.sampled_from(["tiles", "tiles", "area", "metres"])),
        table=TableLoss(dice.randrange(1000)),
        withhold=draw(st.sampled_from(["worst", "unsafe"])) if any_withholding else "worst",
    )
    assume(request.boxes.all[request.boxes.root].safe)
    return request


def vars_of(case: Case) -> dict[str, Any]:
    """Return the fields of a case, its places apart."""
    return {name: getattr(case, name) for name in Case.__dataclass_fields__ if name != "places"}


def sent(matrix: ODMatrix, release: Release) -> dict[Box, Box | None]:
    """Return the box every flow is released in, None where it is withheld."""
    flows = zip(*(tree.zones.ids[tile].tolist() for tree, tile in matrix.axes), strict=True)
    groups = list(zip(*(zones.ids[rows].tolist() for _, zones, rows in release.axes), strict=True))
    return {
        flow: None if group < 0 else groups[group]
        for flow, group in zip(flows, release.group_of_flow.tolist(), strict=True)
    }


def hold_to(request: Request, matrix: ODMatrix, release: Release, reached: Frontier) -> float:
    """Check a release against all that can be reached, and its certificate; return its mean loss."""
    boxes = request.boxes
    released = sent(matrix, release)
    loss, hidden = boxes.outcome(released)
    assert hidden <= request.budget
    mean = loss / (boxes.total - hidden)
    optimum = least_mean(reached, boxes.total, request.budget)
    # Flows of one group differ in metres; where single ones are withheld, that may beat whole groups.
    assert mean >= optimum * (1 - 1e-9) or (request.loss == "metres" and torn(boxes, released))
    bound = release.bound
    if bound is None:
        # Prices cannot prove what lies between a way that loses nothing and one that is within the limit.
        assert mean > 0
        # Where safe groups are kept, nor what lies between some suppression and none.
        unproven = request.withhold == "unsafe" or critical(reached, request.budget)[0] == pytest.approx(0)
        assert unproven or torn(boxes, released)
    else:
        assert 0 <= bound.value <= optimum * (1 + 1e-9)
        assert bound.gap >= 0
        assert bound.value * (1 + bound.gap / 100) == pytest.approx(mean, rel=1e-9)
    return mean


def torn(boxes: Boxes, released: Mapping[Box, Box | None]) -> bool:
    """Return whether some group is released without all of its flows."""
    volume: dict[Box, float] = defaultdict(float)
    for flow, box in released.items():
        if box is not None:
            volume[box] += boxes.volume(flow)
    return any(boxes.all[box].volume > held for box, held in volume.items())


def k_of(k: int) -> Promise:
    """Return k on trips."""
    return KAnonymity(k=k, unit="trips")
