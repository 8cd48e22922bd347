"""Tilings over the zones of a file: joined two by two, or under the parents that its columns name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tripcloak.ground.arrays import Bools, Floats, Ints
from tripcloak.ground.errors import HierarchyError
from tripcloak.hierarchy.geometry import EARTH_RADIUS_KM, to_degrees, unit_vectors
from tripcloak.hierarchy.tiling import OUTSIDE, Keys, occurring
from tripcloak.hierarchy.tree import ROOT, Geometry, Hierarchy
from tripcloak.hierarchy.zonefile.zones import ZoneFile


@dataclass(frozen=True, eq=False)
class ZoneTiling:
    """Tiles that are the zones of a file; a tile's key is the zone's row in it.

    Every zone of the file is a tile of the hierarchy, whether it occurs in the data or not.
    """

    zones: ZoneFile

    def encode(self, lat: Floats, lon: Floats) -> Keys:
        """Return the zone that holds each point, or OUTSIDE; the nearest where zones have no outlines."""
        return self.zones.locate(lat, lon)

    def keys(self, ids: Sequence[str] | NDArray[np.str_]) -> Keys:
        """Return the key of every zone named, or OUTSIDE where the file has no such zone."""
        return self.zones.keys(ids)

    def tiles(self, keys: Keys, hierarchy: Hierarchy) -> Ints:
        """Return the row of every key's zone in a hierarchy of this tiling, or -1."""
        return np.where(keys < hierarchy.n_tiles, keys, 0).astype(np.int32) - (keys >= hierarchy.n_tiles)

    def _observed(self, keys: Keys, zones: int) -> Bools:
        """Return which of all zones (the file's first) are tiles that occur."""
        if int(occurring(keys)[-1]) >= len(self.zones):
            raise HierarchyError(f"tile keys must be rows of the zones file, 0 to {len(self.zones) - 1}")
        seen = np.zeros(zones, dtype=bool)
        seen[keys] = True
        return seen


def with_places(tree: Hierarchy, zones: ZoneFile) -> Hierarchy:
    """Return the tree, complete, with areas summed up, points averaged on the sphere and outlines joined.

    Rows of tiles are rows of the file: both are sorted by id. Every tile weighs the same in its zone's
    point, as it does in the number of tiles that measures a zone. A point outside its zone, such as that of
    zones around a bay, gives way to the nearest of its tiles.
    """
    tiles = unit_vectors(zones.lat, zones.lon)
    lat, lon = to_degrees(np.column_stack([tree.sum_below(tiles[:, axis]) for axis in range(3)]))
    lat[: len(zones)], lon[: len(zones)] = zones.lat, zones.lon
    lat, lon = _inside(tree, zones, lat, lon)
    shape = partial(_joined, tree, zones)
    area = tree.sum_below(zones.area_km2)
    placed = replace(tree.zones, area_km2=area, lat=lat, lon=lon, shape=shape)
    return replace(tree, zones=placed, complete=True)


def _inside(tree: Hierarchy, zones: ZoneFile, lat: Floats, lon: Floats) -> tuple[Floats, Floats]:
    """Return points of zones, those outside their zone moved into it: to a point of the nearest tile."""
    if zones.geometries is None:
        return lat, lon
    places = zones.inner_points
    tile = zones.locate(lat, lon)
    known = np.where(tile == OUTSIDE, 0, tile).astype(np.int64)
    within = (tile != OUTSIDE) & (tree.lineage.ancestors[:, known] == np.arange(len(tree))).any(axis=0)
    lat, lon = lat.copy(), lon.copy()
    for row in np.flatnonzero(~within):
        members = tree.members(int(row))
        near = unit_vectors(*places[members].T) @ unit_vectors(lat[row], lon[row])
        lat[row], lon[row] = places[members[near.argmax()]]
    return lat, lon


def fresh_id(wanted: str, taken: set[str]) -> str:
    """Return an id like the one wanted that no zone has yet.

    >>> fresh_id("all", {"all", "a"})
    'all*'
    """
    while wanted in taken:
        wanted += "*"
    return wanted


def _joined(tree: Hierarchy, zones: ZoneFile, row: int) -> Geometry:
    return zones.outline(tree.members(row))


@dataclass(frozen=True, eq=False)
class DendrogramTiling(ZoneTiling):
    """Tiles that are the zones of a file, under a Ward dendrogram of their points.

    For zones without a natural hierarchy: taxi zones, base stations, stops. Ward's method joins the two
    groups whose union spreads least about its centre, so zones stay compact; distances are chords
    through the globe, in km, and know no antimeridian. Inner zones are named ``d`` and the number of the
    merge. The order of the file's rows does not matter.

    Examples
    --------
    >>> from tripcloak.hierarchy import ZoneFile
    >>> zones = ZoneFile(np.array(["a", "b", "c"]), np.array([0.0, 0.1, 5.0]), np.array([0.0, 0.0, 0.0]))
    >>> tree = DendrogramTiling(zones).hierarchy(np.array([0, 2], dtype=np.uint64))
    >>> tree.zones.ids.tolist(), tree.parent.tolist(), tree.zones.tiles_observed.tolist()
    (['a', 'b', 'c', 'd0', 'd1'], [3, 3, 4, 4, -1], [1, 0, 1, 1, 2])
    """

    @property
    def name(self) -> str:
        """Return the tiling's text, ``dendrogram``."""
        return "dendrogram"

    def hierarchy(self, keys: Keys) -> Hierarchy:
        """Return the dendrogram over all zones of the file; the keys say which of them occur."""
        parent = self._parents
        ids = np.append(self.zones.ids, self._merge_names(len(parent) - len(self.zones)))
        observed = self._observed(keys, len(parent))
        return with_places(Hierarchy.from_parents(ids, parent, name=self.name, observed=observed), self.zones)

    @cached_property
    def _parents(self) -> Ints:
        """The row of every zone's parent: the file's zones first, then one zone a merge."""
        zones = len(self.zones)
        parent = np.full(2 * zones - 1, ROOT, dtype=np.int64)
        if zones > 1:
            from scipy.cluster.hierarchy import linkage

            # A hundredth of a millimetre: coarse enough that every machine rounds to the same points.
            points = np.round(unit_vectors(self.zones.lat, self.zones.lon) * EARTH_RADIUS_KM, 8)
            pairs = linkage(points, method="ward")[:, :2].astype(np.int64)
            parent[pairs] = np.arange(zones, 2 * zones - 1)[:, None]
        return parent

    def _merge_names(self, merges: int) -> NDArray[np.str_]:
        taken = set(self.zones.ids.tolist())
        width = len(str(max(merges - 1, 0)))
        return np.array([fresh_id(f"d{merge:0{width}}", taken) for merge in range(merges)], dtype=np.str_)


@dataclass(frozen=True, eq=False)
class TableTiling(ZoneTiling):
    """Tiles that are the zones of a file, under the zones named in its columns: tract, county, state.

    A zone without a value in some column skips that level, so depths may differ. Zones without a common
    parent are joined under a root named ``all``. An inner zone's id is its value; where that is also the
    id of another zone it becomes ``column=value``.

    Parameters
    ----------
    zones
        The file.
    levels
        Columns that name parents, from the finest to the coarsest.

    Examples
    --------
    >>> from tripcloak.hierarchy import ZoneFile
    >>> county = np.array(["Kings", "Kings", ""])
    >>> zones = ZoneFile(np.array(["t1", "t2", "t3"]), np.zeros(3), np.arange(3.0), {"county": county})
    >>> tree = TableTiling(zones, ("county",)).hierarchy(np.array([0, 1, 2], dtype=np.uint64))
    >>> tree.zones.ids.tolist(), tree.parent.tolist()
    (['t1', 't2', 't3', 'Kings', 'all'], [3, 3, 4, 4, -1])
    """

    levels: tuple[str, ...]

    def __post_init__(self) -> None:
        if not self.levels or len(set(self.levels)) != len(self.levels):
            raise HierarchyError(
                "a table of parents needs one or more different columns, such as table:county,state"
            )
        for level in self.levels:
            self.zones.attribute(level)

    @property
    def name(self) -> str:
        """Return the tiling's text, such as ``table:county,state``."""
        return "table:" + ",".join(self.levels)

    def hierarchy(self, keys: Keys) -> Hierarchy:
        """Return the hierarchy over all zones of the file; the keys say which of them occur."""
        levels = [_coded(self.zones.attribute(level)) for level in self.levels]
        starts = np.cumsum([len(self.zones), *(len(level.values) for level in levels)])
        # What every zone of the file lies in, one column a level; -1 where the file leaves it open.
        within = np.column_stack([level.code for level in levels])
        above = [within.copy()] + [self._lies_in(at, levels, within) for at in range(len(levels))]
        parent = np.concatenate([_first_parent(codes, starts) for codes in above])
        ids = self._ids(levels)
        if np.count_nonzero(parent == ROOT) > 1:
            parent = np.append(np.where(parent == ROOT, len(ids), parent), ROOT)
            ids.append(fresh_id("all", set(ids)))
        observed = self._observed(keys, len(ids))
        tree = Hierarchy.from_parents(ids, parent, name=self.name, observed=observed)
        return with_places(tree, self.zones)

    def _lies_in(self, at: int, levels: list[_Coded], within: Ints) -> Ints:
        """Return what every value of a level lies in, and complete the rows that hold it accordingly.

        Levels are taken from the finest up, so what one row says of a county is known of all its tracts
        when their states are compared.
        """
        found = np.full((len(levels[at].values), len(levels)), -1)
        holds = np.flatnonzero(within[:, at] >= 0)
        for above in range(at + 1, len(levels)):
            named = holds[within[holds, above] >= 0]
            found[within[named, at], above] = within[named, above]
            differs = named[found[within[named, at], above] != within[named, above]]
            if differs.size:
                value = within[differs[0], at]
                two = within[differs[0], above], found[value, above]
                raise HierarchyError(
                    f"the zones file contradicts itself: column {self.levels[above]!r} puts "
                    f"{levels[at].values[value]!r} of column {self.levels[at]!r} into "
                    f"{' and into '.join(repr(levels[above].values[code]) for code in two)}; "
                    "every zone has one parent"
                )
            within[holds, above] = found[within[holds, at], above]
        return found

    def _ids(self, levels: list[_Coded]) -> list[str]:
        """Return the ids of the file's zones and of the inner ones, which carry their column where needed."""
        ids: list[str] = self.zones.ids.tolist()
        seen = Counter(ids)
        for level in levels:
            seen.update(level.values)
        for name, level in zip(self.levels, levels, strict=True):
            ids += [f"{name}={value}" if seen[value] > 1 else value for value in level.values]
        return ids


class _Coded(NamedTuple):
    """A column: its distinct values, and per row which of them it holds, -1 where it is empty."""

    values: list[str]
    code: Ints


def _coded(column: NDArray[np.str_]) -> _Coded:
    values, code = np.unique(column, return_inverse=True)
    if values[0] == "":
        return _Coded(values[1:].tolist(), code - 1)
    return _Coded(values.tolist(), code)


def _first_parent(codes: Ints, starts: Ints) -> Ints:
    """Return the row of the finest zone named above each zone, or ROOT where none is."""
    parent = np.full(len(codes), ROOT)
    for at in reversed(range(codes.shape[1])):
        parent = np.where(codes[:, at] >= 0, starts[at] + codes[:, at], parent)
    return parent
