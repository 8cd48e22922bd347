"""H3 cells as the h3 library itself knows them, one at a time."""

from __future__ import annotations

from h3.api import basic_str as h3

WORLD = "world"
"""The zone above several base cells."""


def resolution_of(zone: str) -> int | None:
    """Return a zone's resolution, -1 for the world, None where the text names no cell.

    >>> resolution_of("8a1fb46622dffff"), resolution_of("world"), resolution_of("x")
    (10, -1, None)
    """
    if zone == WORLD:
        return -1
    return int(h3.get_resolution(zone)) if h3.is_valid_cell(zone) else None


def ancestor(tile: str, resolution: int) -> str:
    """Return the zone of this resolution that holds a valid tile.

    >>> ancestor("8a1fb46622dffff", 9), ancestor("8a1fb46622dffff", -1)
    ('891fb46622fffff', 'world')
    """
    return WORLD if resolution < 0 else str(h3.cell_to_parent(tile, resolution))


def contains(zone: str, tile: str, tile_resolution: int) -> bool:
    """Return whether a zone is a tile's ancestor or the tile itself, and the tile one of this resolution.

    >>> contains("891fb46622fffff", "8a1fb46622dffff", 10), contains("891fb46622fffff", "8a1fb46622dffff", 9)
    (True, False)
    """
    at = resolution_of(zone)
    if at is None or at > tile_resolution or resolution_of(tile) != tile_resolution:
        return False
    return ancestor(tile, at) == zone


def height_and_tiles(zone: str, tile_resolution: int) -> tuple[int, int] | None:
    """Return how high a zone stands above the tiles and how many it holds, None where it is no such zone.

    >>> height_and_tiles("891fb46622fffff", 10), height_and_tiles("world", 0)
    ((1, 7), (1, 122))
    """
    at = resolution_of(zone)
    if at is None or at > tile_resolution:
        return None
    held = h3.get_num_cells(tile_resolution) if at < 0 else h3.cell_to_children_size(zone, tile_resolution)
    return tile_resolution - at, int(held)


def centre(zone: str) -> tuple[float, float] | None:
    """Return the latitude and longitude of a cell's centre; the world has none."""
    return None if zone == WORLD else h3.cell_to_latlng(zone)
