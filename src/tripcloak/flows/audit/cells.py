"""H3 cells as the h3 library itself knows them, one at a time.

In a hierarchy with unions a zone may also be several children of one cell, joined: the cell's text, a
slash, and the digits of those children, such as ``8928308280fffff/0236``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import lru_cache

from h3.api import basic_str as h3

WORLD = "world"
"""The zone above several base cells."""

UNIONS = {"06": 1, "23": 1, "45": 1, "145": 2, "0236": 2}
"""The unions of a hierarchy with unions, and how much higher than their members they stand."""

STEPS = 3
"""Heights from one resolution to the next in a hierarchy with unions."""


def resolution_of(zone: str) -> int | None:
    """Return a cell's resolution, -1 for the world, None where the text names no cell.

    >>> resolution_of("8a1fb46622dffff"), resolution_of("world"), resolution_of("x")
    (10, -1, None)
    """
    if zone == WORLD:
        return -1
    return int(h3.get_resolution(zone)) if h3.is_valid_cell(zone) else None


def ancestor(tile: str, resolution: int) -> str:
    """Return the cell of this resolution that holds a valid tile, or the world.

    >>> ancestor("8a1fb46622dffff", 9), ancestor("8a1fb46622dffff", -1)
    ('891fb46622fffff', 'world')
    """
    return WORLD if resolution < 0 else str(h3.cell_to_parent(tile, resolution))


def cells_above(tiles: Iterable[str], resolution: int) -> list[tuple[str, str | None, int]]:
    """Return tiles and all cells that hold one, each with the cell above and its height; the world is last.

    >>> [above for _, above, _ in cells_above(["811fbffffffffff"], 1)], cells_above([], 1)
    (['801ffffffffffff', 'world', None], [('world', None, 2)])
    """
    found: list[tuple[str, str | None, int]] = []
    here = set(tiles)
    for at in range(resolution, -1, -1):
        above = {cell: ancestor(cell, at - 1) for cell in sorted(here)}
        found += [(cell, up, resolution - at) for cell, up in above.items()]
        here = set(above.values())
    return [*found, (WORLD, None, resolution + 1)]


@lru_cache(maxsize=1 << 17)
def members(zone: str, unions: bool = False) -> tuple[str, ...]:
    """Return the cells that a zone is made of, none where the text names no zone.

    >>> members("891fb46622fffff/06", unions=True)
    ('8a1fb46622c7fff', '8a1fb46622f7fff')
    >>> members("891fb46622fffff", unions=True), members("891fb46622fffff/06"), members("world")
    (('891fb46622fffff',), (), ('world',))
    """
    cell, slash, digits = zone.partition("/")
    if not slash:
        return () if resolution_of(zone) is None else (zone,)
    if not unions or digits not in UNIONS or not h3.is_valid_cell(cell) or h3.get_resolution(cell) == 15:
        return ()
    found = tuple(sorted(child for child in h3.cell_to_children(cell) if _digit(child) in digits))
    return found if len(found) == len(digits) else ()


def _digit(cell: str) -> str:
    """Return which child of its parent a cell is."""
    return str(int(cell, 16) >> 3 * (15 - h3.get_resolution(cell)) & 7)


def contains(zone: str, tile: str, tile_resolution: int, unions: bool = False) -> bool:
    """Return whether a zone holds a tile or is the tile itself, and the tile is one of this resolution.

    >>> contains("891fb46622fffff", "8a1fb46622dffff", 10), contains("891fb46622fffff", "8a1fb46622dffff", 9)
    (True, False)
    >>> [contains(f"891fb46622fffff/{digits}", "8a1fb46622dffff", 10, unions=True) for digits in ("06", "23")]
    [False, True]
    """
    parts = members(zone, unions)
    at = resolution_of(parts[0]) if parts else None
    if at is None or at > tile_resolution or resolution_of(tile) != tile_resolution:
        return False
    return ancestor(tile, at) in parts


def height_and_tiles(zone: str, tile_resolution: int, unions: bool = False) -> tuple[int, int] | None:
    """Return how high a zone stands above the tiles and how many it holds, None where it is no such zone.

    >>> height_and_tiles("891fb46622fffff", 10), height_and_tiles("world", 0)
    ((1, 7), (1, 122))
    >>> height_and_tiles("881fb46623fffff/145", 10, unions=True)
    (5, 21)
    """
    parts = members(zone, unions)
    at = resolution_of(parts[0]) if parts else None
    if at is None or at > tile_resolution:
        return None
    if at < 0:
        return (STEPS if unions else 1) * tile_resolution + 1, int(h3.get_num_cells(tile_resolution))
    above = tile_resolution - at
    height = STEPS * above + UNIONS.get(zone.partition("/")[2], 0) if unions else above
    return height, sum(int(h3.cell_to_children_size(part, tile_resolution)) for part in parts)


def centre(zone: str, unions: bool = False) -> tuple[float, float] | None:
    """Return the latitude and longitude of a cell's centre, of a union's by area; the world has none.

    >>> [round(degrees, 4) for degrees in centre("891fb46622fffff/0236", unions=True)]
    [48.8548, 2.3724]
    """
    if zone == WORLD:
        return None
    parts = members(zone, unions)
    if len(parts) == 1:
        lat, lon = h3.cell_to_latlng(zone)
        return float(lat), float(lon)
    pulls = [(h3.cell_area(part), *map(math.radians, h3.cell_to_latlng(part))) for part in parts]
    x = math.fsum(area * math.cos(lat) * math.cos(lon) for area, lat, lon in pulls)
    y = math.fsum(area * math.cos(lat) * math.sin(lon) for area, lat, lon in pulls)
    z = math.fsum(area * math.sin(lat) for area, lat, lon in pulls)
    return math.degrees(math.atan2(z, math.hypot(x, y))), math.degrees(math.atan2(y, x))


def area_km2(cell: str) -> float:
    """Return the area of a cell.

    >>> round(area_km2("8a1fb46622dffff"), 4)
    0.0134
    """
    return float(h3.cell_area(cell))


def extent(cell: str) -> tuple[float, float, float, float]:
    """Return south, west, north and east of a cell in degrees; all longitudes across the antimeridian.

    >>> [round(side, 3) for side in extent("891fb46622fffff")]
    [48.853, 2.371, 48.857, 2.375]
    """
    lats, lons = zip(*h3.cell_to_boundary(cell), strict=True)
    south, west, north, east = min(lats), min(lons), max(lats), max(lons)
    if east - west > 180:
        west, east = -180.0, 180.0
        for pole in (-90.0, 90.0):
            if h3.latlng_to_cell(pole, 0.0, h3.get_resolution(cell)) == cell:
                south, north = min(south, pole), max(north, pole)
    return south, west, north, east


def millionths(cell: str) -> tuple[int, int, int, int]:
    """Return the same in millionths of a degree, rounded inwards.

    >>> millionths("891fb46622fffff")
    (48853446, 2370606, 48856979, 2375258)
    """
    south, west, north, east = (side * 1_000_000 for side in extent(cell))
    return math.ceil(south), math.ceil(west), math.floor(north), math.floor(east)


def number_inside(cell: str, resolution: int) -> int:
    """Return how many cells of a resolution lie in a cell or the world; 1 where the cell is no coarser.

    >>> number_inside("891fb46622fffff", 10), number_inside("world", 0), number_inside("world", -1)
    (7, 122, 1)
    """
    at = resolution_of(cell)
    if at is None or resolution <= at:
        return 0 if at is None else 1
    return int(h3.get_num_cells(resolution) if at < 0 else h3.cell_to_children_size(cell, resolution))


def edge_km(resolution: int) -> float:
    """Return the mean length of an edge of the cells of a resolution.

    >>> round(edge_km(10), 3)
    0.076
    """
    return float(h3.average_hexagon_edge_length(resolution, unit="km"))
