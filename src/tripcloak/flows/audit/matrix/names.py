"""Zones in memory that are known by name alone: boxes, and cells of a grid."""

from __future__ import annotations

import math

import numpy as np

from tripcloak.flows.audit.boxes import DEGREES, SLACK, Box, area_km2, is_outline, read_box, right_tiles
from tripcloak.flows.audit.centres import ROUNDING, in_millionths, inside_sql
from tripcloak.flows.audit.grids import NamedGrid, grid_of
from tripcloak.flows.audit.matrix.case import AXES, MatrixCase
from tripcloak.ground.arrays import Ints
from tripcloak.hierarchy import BoxZones, Hierarchy


def outside_boxes(case: MatrixCase, axis: str) -> int:
    """Return how many pairs of a tile and the box it was sent to have the tile's centre outside."""
    _put(case, axis)
    pairs = (
        f"select distinct flows.{axis} as tile, groups.{axis} as zone from flows join groups using (number)"
    )
    number = case.value(f"select count(*) from ({pairs})")
    inside = case.value(
        f"""select count(*) from ({pairs}) pair join {axis}_boxes box using (zone)
        join {axis}_centres centre using (tile) where {inside_sql(0)}"""
    )
    return int(number - inside)


def wrong_boxes(case: MatrixCase, axis: str) -> int:
    """Return how many released boxes of an axis have facts that their names do not tell."""
    zones, tree = case.release.axes[AXES.index(axis)][1], case.matrix.axes[AXES.index(axis)][0]
    assert isinstance(zones, BoxZones)
    tile_km2 = None if math.isnan(zones.tile_km2) else zones.tile_km2
    released = released_rows(case, axis)
    if not _true_tile(tile_km2, tree):
        return len(released)
    held = _held(case, axis) if tree.complete or tile_km2 is None else None
    return sum(
        not _true(zones, row, tile_km2, None if held is None else held.get(row, 0))
        for row in released.tolist()
    )


def released_rows(case: MatrixCase, axis: str) -> Ints:
    """Return the rows of the zones that occur in a released group."""
    _, zones, column = case.release.axes[AXES.index(axis)]
    rows = np.unique(column)
    return rows[(rows >= 0) & (rows < len(zones))]


def _put(case: MatrixCase, axis: str) -> None:
    """Make tables of the released boxes and of the centres of all tiles of an axis."""
    zones, tree = case.release.axes[AXES.index(axis)][1], case.matrix.axes[AXES.index(axis)][0]
    n, rows = tree.n_tiles, released_rows(case, axis)
    read = {row: read_box(str(zones.ids[row])) for row in rows.tolist()}
    boxes = {row: box for row, box in read.items() if box is not None}
    sides = np.array(list(boxes.values()), dtype=np.int64).reshape(-1, 4).T
    names = ("south", "west", "north", "east")
    case.put(
        f"{axis}_boxes",
        {"zone": np.array(list(boxes), dtype=np.int32), **dict(zip(names, sides, strict=True))},
    )
    lat, lon = (in_millionths(degrees[:n]) for degrees in (tree.zones.lat, tree.zones.lon))
    case.put(f"{axis}_centres", {"tile": np.arange(n, dtype=np.int32), "lat": lat, "lon": lon})


def _held(case: MatrixCase, axis: str) -> dict[int, int]:
    """Return how many tiles each box holds."""
    _put(case, axis)
    found = case.con.execute(
        f"""select box.zone, count(*) from {axis}_boxes box join {axis}_centres centre on {inside_sql(0)}
        group by box.zone"""
    )
    return dict(found.fetchall())


def _true_tile(tile_km2: float | None, tree: Hierarchy) -> bool:
    """Return whether the stated area of a tile is the mean of the tiles, up to rounding."""
    mean = float(np.mean(tree.zones.area_km2[: tree.n_tiles]))
    if math.isnan(mean):
        return tile_km2 is None
    return tile_km2 is not None and math.isclose(tile_km2, mean, rel_tol=ROUNDING)


def _true(zones: BoxZones, row: int, tile_km2: float | None, held: int | None) -> bool:
    box = read_box(str(zones.ids[row]))
    if box is None or zones.height[row] != 0:
        return False
    area, tiles = area_km2(box, tile_km2), int(zones.tiles[row])
    fits = tiles == held if held is not None else right_tiles(tiles, area, tile_km2 or math.nan)
    near = math.dist((zones.lat[row], zones.lon[row]), box.middle) <= DEGREES
    return (
        fits
        and near
        and math.isclose(zones.area_km2[row], area, rel_tol=SLACK)
        and _true_outline(zones, row, box, tile_km2)
    )


def _true_outline(zones: BoxZones, row: int, box: Box, tile_km2: float | None) -> bool:
    outline = zones.outline(row)
    if outline is None or outline.get("type") != "Polygon" or len(outline["coordinates"]) != 1:
        return False
    return is_outline([(lon, lat) for lon, lat in outline["coordinates"][0]], box, tile_km2)


def outside_names(case: MatrixCase, axis: str) -> int:
    """Return how many pairs of a tile and the zone it was sent to have the tile outside."""
    zones, tiles = case.release.axes[AXES.index(axis)][1].ids, case.matrix.axes[AXES.index(axis)][0].zones.ids
    pairs = case.con.execute(
        f"select distinct flows.{axis}, groups.{axis} from flows join groups using (number)"
    ).fetchall()
    grid = _grid(case, axis)
    return sum(not grid.contains(str(zones[zone]), str(tiles[tile])) for tile, zone in pairs)


def nested_names(case: MatrixCase, axis: str) -> int:
    """Return how many released zones lie inside another one."""
    return _grid(case, axis).nested(_released(case, axis))


def wrong_names(case: MatrixCase, axis: str) -> int:
    """Return how many released zones have another height or number of tiles than their names tell."""
    _, zones, _ = case.release.axes[AXES.index(axis)]
    grid = _grid(case, axis)
    return sum(
        grid.height_and_tiles(str(zones.ids[row])) != (zones.height[row], zones.tiles[row])
        for row in released_rows(case, axis).tolist()
    )


def _released(case: MatrixCase, axis: str) -> list[str]:
    _, zones, _ = case.release.axes[AXES.index(axis)]
    names: list[str] = zones.ids[released_rows(case, axis)].tolist()
    return names


def _grid(case: MatrixCase, axis: str) -> NamedGrid:
    grid = grid_of(case.matrix.axes[AXES.index(axis)][0].name)
    assert grid is not None
    return grid
