"""FixedZones: the zones of an earlier release, whatever the data say now."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from tripcloak.flows.methods.method import FlowMethod, Solution, budget_of, whole_units
from tripcloak.flows.model import ODMatrix, group_flows
from tripcloak.flows.model.kept import AXES, KeptZones
from tripcloak.flows.release import main_volume
from tripcloak.ground.arrays import Bools, Ints
from tripcloak.ground.errors import ImpossibleRequestError, InputError
from tripcloak.ground.progress import Progress
from tripcloak.ground.spelling import spelt, spelt_command
from tripcloak.hierarchy import BoxZones, Corners, Hierarchy, Zones, box_zones, read_box_names, tile_extents
from tripcloak.promises import Promise

NOWHERE = -1


class Placed(NamedTuple):
    """Where kept zones put every flow: rows of the zones of each axis, and whether there is such a place."""

    zone: tuple[Ints, ...]
    known: Bools
    boxes: tuple[Zones, Zones] | None = None


@dataclass(frozen=True, kw_only=True)
class FixedZones(FlowMethod):
    """Zones taken over from an earlier release: what is not safe in them is withheld, and nothing is merged.

    The zones do not look at the data, so that releases of several periods can be compared zone by zone, there
    is nothing to subtract between zones of two of them, and nobody can reason backwards from the choice of
    a zone to the flows in it. Where the earlier release has one cut an axis, every pair of its zones may be
    released; elsewhere the pairs that it released. A flow in none of them is withheld. Where pairs overlap
    a flow goes to the lowest one that holds it, and of boxes to the smallest.

    Parameters
    ----------
    zones
        The zones to use.

    Examples
    --------
    >>> from tripcloak.promises import KAnonymity
    >>> tree = Hierarchy.from_parents(["a", "b", "c", "ab", "all"], [3, 3, 4, 4, -1])
    >>> zones = KeptZones(digest="0" * 64, zones={"origin": ("ab", "c"), "destination": ("all",)})
    >>> june = ODMatrix.from_trips(tree, tree, np.array([0, 1, 2]), np.array([0, 2, 1]))
    >>> method = FixedZones(zones=zones, promise=KAnonymity(k=2), suppression_limit=0.4)
    >>> release = method.anonymise(june)
    >>> [str(tree.zones.ids[zone]) for zone in release.group_origin], release.trips.tolist()
    (['ab'], [2])
    """

    name: ClassVar[str] = "fixed-zones"
    summary: ClassVar[str] = "the zones of an earlier release; what is not safe in them is withheld"
    source: ClassVar[str] = "ours"
    handles_time: ClassVar[bool] = True
    judges_products: ClassVar[bool] = True

    zones: KeptZones

    def parameters(self, matrix: ODMatrix | None = None) -> dict[str, Any]:
        """Return where the zones are from."""
        return {"zones_from": self.zones.digest}

    @classmethod
    def restated(cls, told: Mapping[str, Any], limit: Mapping[str, Any]) -> dict[str, Any]:
        """Return its parameters as a manifest must tell them, or raise where it cannot have been made so."""
        nobody = {"origin": ("",), "destination": ("",)}
        return cls(zones=KeptZones(digest=told["zones_from"], zones=nobody), **limit).parameters()

    def refuse(self, matrix: ODMatrix) -> None:
        """Raise if the promise is one that zones would have to be changed for."""
        super().refuse(matrix)
        if self.promise.by_release:
            raise InputError(
                f"t-closeness is reached by merging zones, and the zones are kept; leave out {spelt('t')} or "
                f"{spelt('zones_from')}"
            )
        if self.zones.boxes and (self.promise.floors or self.promise.segments):
            raise InputError(
                f"the kept zones are boxes, for which l-diversity ({spelt('l')}) and segments in one release "
                f"({spelt('segment_joint')}) are not defined; leave them out"
            )
        if (len(self.zones.zones) > 2) != (matrix.times is not None):
            raise InputError(
                "the kept zones have times and the matrix has none, or the other way round; read it in the "
                "slots of time of the earlier release"
            )

    def solve(self, matrix: ODMatrix, promise: Promise, progress: Progress) -> Solution:
        """Return the flows in the zones that are kept, those that are in none or not safe withheld."""
        placed = place_flows(self.zones, matrix)
        origin, destination, *time = placed.zone
        when = time[0] if time else None
        suppressed = ~placed.known
        if placed.known.any():
            groups = group_flows(matrix, origin, destination, time_zone=when, keep=placed.known)
            assert groups is not None
            suppressed = ~np.append(promise.safe(groups), False)[groups.of_flow]
        self._refuse_beyond(matrix, promise, placed, suppressed)
        return Solution(
            origin, destination, suppressed, self.zones.homogeneous, time_zone=when, zones=placed.boxes
        )

    def _refuse_beyond(self, matrix: ODMatrix, promise: Promise, placed: Placed, suppressed: Bools) -> None:
        units = whole_units(matrix.volume(main_volume(promise)))
        hidden = float(units[suppressed].sum())
        if hidden <= budget_of(units, self.suppression_limit):
            return
        if not placed.known.any():
            raise ImpossibleRequestError(
                "not possible: no trip lies in any of the kept zones. They are of another area, or of "
                f"times that come but once: fold slots over days or weeks ({spelt('fold')}) to compare"
            )
        percent = next(p for p in range(101) if p == 100 or hidden <= budget_of(units, p / 100))
        lost = float(units[~placed.known].sum()) / float(units.sum())
        nowhere = f" Trips in none of these zones are up to {_ceil(lost)} %." if lost else ""
        way = f"A limit of {percent} % would do ({spelt('suppress')}), or" if percent < 100 else "Choose"
        raise ImpossibleRequestError(
            f"not possible: in the zones that are kept, more than the limit of {self.suppression_limit:.0%} "
            f"would have to be withheld; nothing was written.{nowhere} {way} zones that are as coarse as the "
            f"smallest period needs ({spelt_command('series')} plans such)"
        )


def _ceil(share: float) -> int:
    return int(np.ceil(100 * share))


def place_flows(kept: KeptZones, matrix: ODMatrix) -> Placed:
    """Return where kept zones put every flow of a matrix."""
    if kept.boxes:
        return _in_boxes(kept, matrix)
    return _in_cuts(kept, matrix) if kept.pairs is None else _in_pairs(kept, kept.pairs, matrix)


def _in_cuts(kept: KeptZones, matrix: ODMatrix) -> Placed:
    zone, known = [], np.ones(matrix.n_flows, dtype=bool)
    for axis, (tree, tile) in zip(AXES, matrix.axes, strict=False):
        chosen = np.zeros(len(tree), dtype=bool)
        rows = kept.rows(axis, tree)
        chosen[rows[rows >= 0]] = True
        own = tree.highest(chosen)[tile]
        known &= chosen[own]
        zone.append(own)
    return Placed(tuple(zone), known)


def _in_pairs(kept: KeptZones, pairs: Ints, matrix: ODMatrix) -> Placed:
    """Return the kept pair of every flow: heights are tried in turn, from the lowest on."""
    trees = [tree for tree, _ in matrix.axes]
    rows = [kept.rows(axis, tree) for axis, tree in zip(AXES, trees, strict=False)]
    wanted = np.stack([row[column] for row, column in zip(rows, pairs.T, strict=True)], 1)
    # A zone that the tree does not have holds no tile of it either.
    wanted = wanted[(wanted >= 0).all(axis=1)]
    heights = np.stack([tree.zones.height[column] for tree, column in zip(trees, wanted.T, strict=True)], 1)
    shapes, shape = np.unique(heights, axis=0, return_inverse=True)
    found = np.full((len(trees), matrix.n_flows), NOWHERE, dtype=np.int64)
    for one in np.argsort(shapes.sum(axis=1), kind="stable").tolist():
        left = np.flatnonzero(found[0] == NOWHERE)
        own = np.stack(
            [
                _ancestors(tree, int(height))[tile[left]]
                for (tree, tile), height in zip(matrix.axes, shapes[one], strict=True)
            ]
        )
        there: Bools = np.all(own >= 0, axis=0)
        widths = [len(tree) for tree in trees]
        there[there] &= np.isin(_keys(own[:, there], widths), _keys(wanted[shape == one].T, widths))
        found[:, left[there]] = own[:, there]
    known = found[0] != NOWHERE
    zone = tuple(
        np.where(known, column, tile).astype(np.int32)
        for column, (_, tile) in zip(found, matrix.axes, strict=True)
    )
    return Placed(zone, known)


def _ancestors(tree: Hierarchy, height: int) -> Ints:
    """Return, for every tile, its ancestor of exactly this height, -1 where it has none."""
    zone = tree.lift(height)
    return np.where(tree.zones.height[zone] == height, zone, NOWHERE)


def _keys(columns: Ints, widths: list[int]) -> Ints:
    key = np.zeros(columns.shape[1], dtype=np.int64)
    for column, width in zip(columns, widths, strict=True):
        key = key * width + column
    return key


def _in_boxes(kept: KeptZones, matrix: ODMatrix) -> Placed:
    """Return the smallest kept pair of boxes that holds both tiles of a flow, wholly."""
    assert kept.pairs is not None
    sides = [_boxes(kept, axis, *side) for axis, side in zip(AXES, matrix.axes[:2], strict=False)]
    tiles = sum(zones.tiles[column] for (zones, _), column in zip(sides, kept.pairs.T, strict=True))
    best = np.full(matrix.n_flows, len(kept.pairs), dtype=np.int64)
    # Pairs stand in the order of their names, which decides between those of one size.
    order = np.argsort(tiles, kind="stable")
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    by_origin = np.argsort(kept.pairs[:, 0], kind="stable")
    starts = np.searchsorted(kept.pairs[by_origin, 0], np.arange(len(kept.zones["origin"]) + 1))
    for box in range(len(kept.zones["origin"])):
        inside = np.flatnonzero(sides[0][1](box)[matrix.flows.origin])
        for pair in by_origin[starts[box] : starts[box + 1]].tolist():
            here = inside[sides[1][1](int(kept.pairs[pair, 1]))[matrix.flows.destination[inside]]]
            best[here] = np.minimum(best[here], rank[pair])
    known = best < len(kept.pairs)
    chosen = kept.pairs[np.append(order, 0)[best]]
    zone = tuple(np.where(known, column, 0).astype(np.int32) for column in chosen.T)
    return Placed(zone, known, (sides[0][0], sides[1][0]))


def _boxes(kept: KeptZones, axis: str, tree: Hierarchy, tile: Ints) -> tuple[BoxZones, Any]:
    """Return the boxes of an axis, and what tells of a box which tiles lie in it."""
    corners, extents = read_box_names(np.asarray(kept.zones[axis], dtype=np.str_)), tile_extents(tree)
    occurs = np.bincount(tile, minlength=tree.n_tiles) > 0

    def holds(box: int) -> Bools:
        south, west, north, east = (int(side[box]) for side in corners)
        inside: Bools = (extents.south >= south) & (extents.west >= west)
        return inside & (extents.north <= north) & (extents.east <= east)

    return box_zones(tree, occurs, Corners(*corners)), holds
