"""H3BinaryTiling: hexagons of H3 and, between a hexagon and its children, unions of neighbouring siblings.

Seven children become one parent at once: a zone that is just too small has to grow sevenfold. Here they
are joined two by two instead, always the same two, in an order that gives compact unions::

    0236145 = the hexagon
    |- 0236             centre and three of the ring
    |  |- 06
    |  '- 23
    '- 145              the other three of the ring
       |- 45
       '- 1             which a pentagon lacks

The order never looks at the data: unions that followed the data would tell where it lies.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tripcloak.ground.arrays import Floats, Ints
from tripcloak.ground.errors import HierarchyError
from tripcloak.hierarchy.geometry import to_degrees, unit_vectors
from tripcloak.hierarchy.h3.cells import (
    cells_to_text,
    child_cells,
    descendants,
    is_pentagon,
    last_digits,
    resolution_of,
    text_to_cells,
)
from tripcloak.hierarchy.h3.tiling import WORLD, CellRows, H3Tiling, measure_cells, outlined
from tripcloak.hierarchy.tiling import OUTSIDE, Keys, occurring
from tripcloak.hierarchy.tree import Hierarchy, Zones

STEPS = 3
"""Heights from one resolution of H3 to the next: pairs, then threes and fours, then the parent."""

# Every union by the digits of its members: its two parts, the union it is a part of, and how much
# higher than its members it stands. Larger ones first.
_UNIONS: dict[str, tuple[tuple[str, str], str | None, int]] = {
    "0236": (("06", "23"), None, 2),
    "145": (("45", "1"), None, 2),
    "06": (("0", "6"), "0236", 1),
    "23": (("2", "3"), "0236", 1),
    "45": (("4", "5"), "145", 1),
}
_DIGITS = 7


@dataclass(frozen=True)
class H3BinaryTiling(H3Tiling):
    """Tiles that are H3 cells, in a tree that climbs from resolution to resolution in three small steps.

    Every hexagon of :class:`H3Tiling`'s tree is a zone of this one too. A union of siblings is named by
    its parent and the digits of its members, such as ``8928308280fffff/0236``; :func:`member_cells`
    lists them. A union one of whose two parts does not occur is left out: it would hold the same flows as
    the other part, only coarser. Heights depend on the zone alone, never on what occurs below it.

    Examples
    --------
    >>> tiling = H3BinaryTiling(7)
    >>> keys = np.unique(tiling.encode(np.array([48.8584, 48.8606]), np.array([2.2945, 2.3376])))
    >>> tree = tiling.hierarchy(keys)
    >>> tree.zones.ids.tolist()
    ['871fb4674ffffff', '871fb4675ffffff', '861fb4677ffffff/45', '861fb4677ffffff', 'world']
    >>> tree.zones.height.tolist(), tree.zones.tiles[:4].tolist()
    ([0, 0, 1, 3, 22], [1, 1, 2, 7])
    """

    @property
    def name(self) -> str:
        """Return the tiling's text, ``h3:10/binary`` or ``h3:10/root=5/binary``."""
        return super().name + "/binary"

    def hierarchy(self, keys: Keys) -> Hierarchy:
        """Return the hierarchy over these cells, their ancestors, and unions of siblings between them."""
        cells = self._rows(occurring(keys))
        unions = _Unions(cells)
        sizes = unions.sizes(self.resolution)
        tree = Hierarchy.from_parents(
            np.concatenate([cells.ids, unions.ids]),
            unions.parent,
            name=self.name,
            tiles=np.concatenate([cells.tiles, sizes.tiles]),
            height=unions.heights(self.resolution),
            area_km2=np.concatenate([cells.area_km2, sizes.area_km2]),
            lat=np.concatenate([cells.lat, sizes.lat]),
            lon=np.concatenate([cells.lon, sizes.lon]),
        )
        return replace(tree, zones=outlined(tree.zones, self.resolution, _cells_of))


def member_cells(zone: str) -> list[str]:
    """Return the H3 cells that a zone is made of: several for a union of siblings, otherwise itself.

    Examples
    --------
    >>> member_cells("8928308280fffff/06")
    ['8a28308280c7fff', '8a28308280f7fff']
    >>> member_cells("8928308280fffff")
    ['8928308280fffff']
    """
    match = re.fullmatch(r"([0-9a-f]{15})(?:/([0-6]{2,4}))?", zone)
    parent = text_to_cells([match[1]]) if match else np.array([OUTSIDE])
    if match is None or parent[0] == OUTSIDE or (match[2] is not None and not _is_union(parent, match[2])):
        raise HierarchyError(
            "a zone of h3:RESOLUTION/binary is an H3 cell, or a cell and the digits of children that are "
            f"joined ({', '.join(_UNIONS)}), such as 8928308280fffff/0236; found {zone!r}"
        )
    if match[2] is None:
        return [zone]
    digits = np.array([int(digit) for digit in match[2]])
    members: list[str] = cells_to_text(child_cells(np.repeat(parent, len(digits)), digits)).tolist()
    return members


def named_zones(ids: NDArray[np.str_], resolution: int) -> Zones:
    """Return zones of H3, cells, unions or the world, with the areas and outlines that their names tell.

    Points are those of cells, NaN for unions and the world; none of the tiles is said to occur.

    >>> named_zones(np.array(["861fb4677ffffff", "861fb4677ffffff/06"]), 8).tiles.tolist()
    [49, 14]
    """
    members = [[] if zone == WORLD else text_to_cells(member_cells(zone)).tolist() for zone in ids.tolist()]
    tiles = [int(descendants(np.array(cells, dtype=np.uint64), resolution).sum()) for cells in members]
    lat, lon, area = (np.full(len(ids), np.nan) for _ in range(3))
    alone = np.array([len(cells) == 1 for cells in members], dtype=bool)
    single = np.array([cells[0] for cells in members if len(cells) == 1], dtype=np.uint64)
    lat[alone], lon[alone], area[alone] = measure_cells(single)
    none = np.zeros(len(ids), dtype=np.int64)
    zones = Zones(ids, none.astype(np.int32), np.array(tiles, dtype=np.int64), none, area, lat, lon)
    return outlined(zones, resolution, _cells_of)


def _is_union(parent: Keys, digits: str) -> bool:
    return (
        digits in _UNIONS and resolution_of(parent)[0] < 15 and not ("1" in digits and is_pentagon(parent)[0])
    )


class _Sizes(NamedTuple):
    tiles: Ints
    area_km2: Floats
    lat: Floats
    lon: Floats


class _Unions:
    """The unions of siblings to be put among cells, one row each behind the rows of the cells."""

    def __init__(self, cells: CellRows) -> None:
        self.cells = cells
        n = len(cells.cells)
        self.child = np.flatnonzero((cells.parent[:n] >= 0) & (cells.parent[:n] < n))
        self.above = cells.parent[self.child]
        self.digit = last_digits(cells.cells[self.child])
        occurs = np.bincount(self.above, 1 << self.digit, minlength=n).astype(np.int64)
        self.hexagons = {
            digits: np.flatnonzero((occurs & _mask(one) > 0) & (occurs & _mask(other) > 0))
            for digits, ((one, other), _, _) in _UNIONS.items()
        }

    @cached_property
    def ids(self) -> NDArray[np.str_]:
        """Return the parent's text, a slash and the members' digits."""
        parts = [
            np.strings.add(self.cells.ids[hexagon], f"/{digits}") for digits, hexagon in self.hexagons.items()
        ]
        return np.concatenate(parts)

    @cached_property
    def parent(self) -> Ints:
        """Return the parent row of all zones, cells and unions: the smallest union above, or the cell."""
        up, start = [self.cells.parent.copy()], len(self.cells.ids)
        row_of = {}
        for digits, hexagon in self.hexagons.items():
            row = np.full(len(self.cells.cells), -1, dtype=np.int64)
            row[hexagon] = np.arange(start, start + len(hexagon))
            row_of[digits], start = row, start + len(hexagon)
            wider = _UNIONS[digits][1]
            over = row_of[wider][hexagon] if wider else np.full(len(hexagon), -1)
            up.append(np.where(over >= 0, over, hexagon))
            # Larger unions come first, so a child ends up below the smallest that holds it.
            joined = (_mask(digits) >> self.digit & 1 > 0) & (row[self.above] >= 0)
            up[0][self.child[joined]] = row[self.above[joined]]
        return np.concatenate(up)

    def heights(self, resolution: int) -> Ints:
        """Return the height of all zones, cells and unions."""
        cells = STEPS * (resolution - resolution_of(self.cells.cells))
        world = np.full(len(self.cells.ids) - len(cells), STEPS * resolution + 1)
        unions = [cells[hexagon] - STEPS + _UNIONS[digits][2] for digits, hexagon in self.hexagons.items()]
        return np.concatenate([cells, world, *unions])

    def sizes(self, resolution: int) -> _Sizes:
        """Return tiles, area and area-weighted centre of every union, with the members that never occur."""
        cells, member, lat, lon, area = self._members()
        pull = unit_vectors(lat, lon) * area[:, None]
        below = descendants(cells, resolution)
        rows = [
            member[hexagon][:, [int(digit) for digit in digits]] for digits, hexagon in self.hexagons.items()
        ]
        return _Sizes(
            np.concatenate([below[row].sum(axis=1) for row in rows]),
            np.concatenate([area[row].sum(axis=1) for row in rows]),
            *to_degrees(np.concatenate([pull[row].sum(axis=1) for row in rows])),
        )

    def _members(self) -> tuple[Keys, Ints, Floats, Floats, Floats]:
        """Return cells, for every hexagon and digit the place among them, and latitude, longitude, area."""
        cells, n = self.cells, len(self.cells.cells)
        place = np.full((n, _DIGITS), -1, dtype=np.int64)
        place[self.above, self.digit] = self.child
        needed = np.zeros(place.shape, dtype=bool)
        for digits, hexagon in self.hexagons.items():
            for digit in digits:
                needed[hexagon, int(digit)] = True
        missing = np.nonzero(needed & (place < 0))
        others = child_cells(cells.cells[missing[0]], missing[1])
        place[missing] = n + np.arange(len(others))
        known = (cells.lat[:n], cells.lon[:n], cells.area_km2[:n])
        lat, lon, area = map(np.append, known, measure_cells(others))
        return np.append(cells.cells, others), place, lat, lon, area


def _mask(digits: str) -> int:
    return sum(1 << int(digit) for digit in digits)


def _cells_of(zone: str) -> list[str]:
    return [zone] if zone == WORLD else member_cells(zone)
