"""Zones of a grid in memory that are known by name alone: some of them may not occur in the matrix."""

from __future__ import annotations

from tripcloak.audit.grids import Grid, grid_of
from tripcloak.audit.matrix.boxes import released_rows
from tripcloak.audit.matrix.case import AXES, MatrixCase


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


def _grid(case: MatrixCase, axis: str) -> Grid:
    grid = grid_of(case.matrix.axes[AXES.index(axis)][0].name)
    assert grid is not None
    return grid
