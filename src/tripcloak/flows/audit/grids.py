"""Grids: tilings whose zones are known by name alone, whether they occur in the data or not."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from tripcloak.flows.audit import cells

AREA = "q"
"""The study area of a quadtree; every cut adds a digit."""


class NamedGrid(Protocol):
    """What the names of zones tell."""

    def contains(self, zone: str, tile: str) -> bool:
        """Return whether a zone is a tile or holds it."""

    def height_and_tiles(self, zone: str) -> tuple[int, int] | None:
        """Return how high a zone stands above the tiles and how many it holds, None where it is none."""

    def nested(self, zones: Iterable[str]) -> int:
        """Return how many of some zones lie inside another of them."""

    def inside(self, zone: str, area: str) -> bool:
        """Return whether a zone lies in an area, itself a zone."""

    def number(self, area: str, height: int) -> int:
        """Return how many zones cover an area when none is higher than this."""


def grid_of(spec: str) -> NamedGrid | None:
    """Return the grid that a hierarchy's text names, None where its zones are not known by name.

    >>> grid_of("h3:9/root=5"), grid_of("quadtree:8"), grid_of("dendrogram")
    (H3Grid(resolution=9, unions=False), Quadtree(depth=8), None)
    """
    match = re.fullmatch(r"h3:(\d{1,2})((?:/root=(?:\d{1,2}|[0-9a-f]{15})|/binary){0,2})", spec)
    if match and int(match[1]) <= 15:
        return H3Grid(int(match[1]), "/binary" in match[2])
    match = re.fullmatch(r"quadtree:(\d{1,2})", spec)
    return Quadtree(int(match[1])) if match else None


@dataclass(frozen=True)
class H3Grid:
    """Cells of H3, and unions of some that have one parent, by the h3 library."""

    resolution: int
    unions: bool = False

    def contains(self, zone: str, tile: str) -> bool:
        """Return whether a zone is a tile or holds it."""
        return cells.contains(zone, tile, self.resolution, self.unions)

    def height_and_tiles(self, zone: str) -> tuple[int, int] | None:
        """Return how high a zone stands above the tiles and how many it holds, None where it is none."""
        return cells.height_and_tiles(zone, self.resolution, self.unions)

    def nested(self, zones: Iterable[str]) -> int:
        """Return how many of some zones lie inside another of them.

        >>> H3Grid(9).nested(["891fb46622fffff", "881fb46623fffff", "891fb46741bffff"])
        1
        """
        parts = {zone: cells.members(zone, self.unions) for zone in zones}
        held = Counter(part for cells_of_zone in parts.values() for part in cells_of_zone)
        at = {part: cells.resolution_of(part) or 0 for part in held}
        levels = sorted(set(at.values()))

        def shared(part: str) -> bool:
            return held[part] > 1 or any(
                cells.ancestor(part, level) in held for level in levels if level < at[part]
            )

        return sum(any(map(shared, cells_of_zone)) for cells_of_zone in parts.values())

    def inside(self, zone: str, area: str) -> bool:
        """Return whether a zone lies in an area."""
        at, within = cells.resolution_of(zone), cells.resolution_of(area)
        if at is None or within is None or at < within:
            return False
        return cells.ancestor(zone, within) == area

    def number(self, area: str, height: int) -> int:
        """Return how many cells cover an area when none is higher than this.

        >>> H3Grid(9).number("871fb4674ffffff", 1), H3Grid(9).number("871fb4674ffffff", 5)
        (7, 1)
        """
        return cells.number_inside(area, self.resolution - height)


@dataclass(frozen=True)
class Quadtree:
    """Cells of a quadtree: ``q`` and one digit a cut."""

    depth: int

    def contains(self, zone: str, tile: str) -> bool:
        """Return whether a zone is a tile or holds it."""
        return self.height_and_tiles(tile) == (0, 1) and self.inside(tile, zone)

    def height_and_tiles(self, zone: str) -> tuple[int, int] | None:
        """Return how high a zone stands above the tiles and how many it holds, None where it is none.

        >>> Quadtree(4).height_and_tiles("q03"), Quadtree(4).height_and_tiles("q04")
        ((2, 16), None)
        """
        if not re.fullmatch(rf"{AREA}[0-3]{{0,{self.depth}}}", zone):
            return None
        height = self.depth - len(zone) + len(AREA)
        return height, 4**height

    def nested(self, zones: Iterable[str]) -> int:
        """Return how many of some zones lie inside another of them.

        >>> Quadtree(4).nested(["q0", "q012", "q3"])
        1
        """
        known = set(zones)
        return sum(any(zone[:end] in known for end in range(1, len(zone))) for zone in known)

    def inside(self, zone: str, area: str) -> bool:
        """Return whether a zone lies in an area."""
        known = self.height_and_tiles(zone), self.height_and_tiles(area)
        return None not in known and zone.startswith(area)

    def number(self, area: str, height: int) -> int:
        """Return how many cells cover an area when none is higher than this."""
        known = self.height_and_tiles(area)
        return 0 if known is None else int(4 ** max(known[0] - height, 0))
