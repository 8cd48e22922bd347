"""The centres of tiles, by which boxes hold them, and the table of boxes held against their names."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tripcloak.flows.audit import cells
from tripcloak.flows.audit.box_grid import right_step, tells_nobody, tile_extent
from tripcloak.flows.audit.boxes import (
    DEGREES,
    MICRO,
    SLACK,
    Box,
    area_km2,
    is_outline,
    read_box,
    right_tiles,
)
from tripcloak.flows.audit.encoding import tiling_of
from tripcloak.flows.audit.evidence import FlowEvidence
from tripcloak.flows.audit.promise import SPACE
from tripcloak.ground.errors import InputError
from tripcloak.ground.masking import mask_small
from tripcloak.hierarchy.tiling import OUTSIDE, Tiling

if TYPE_CHECKING:
    import pyarrow as pa

    from tripcloak.ground.arrays import Floats, Ints


ROUNDING = 0.00501
"""The most that rounding to three digits moves a number, as a share of it."""

Centre = tuple[str, float, float, float, tuple[float, ...]]
"""A tile's name, the latitude and longitude of its centre, its area in km2, and how far it reaches.

That is south, west, north and east in millionths of a degree, and the longer side in degrees."""


@dataclass(frozen=True)
class TileCentres:
    """How to find the centres: H3 cells need nothing, other tiles the tiling of the release.

    Attributes
    ----------
    tiling : Tiling, optional
        Rebuilt from the release's own record if not given.
    """

    tiling: Tiling | None = None

    def load(self, case: FlowEvidence) -> None:
        """Make ``audit_centres``: tiles of each axis with their centres in millionths of a degree."""
        case.load("groups")
        parts = [self._axis(case, axis) for axis in SPACE]
        import pyarrow as pa

        case.keep("audit_centres", "select * from audit_reader", pa.concat_tables(parts).to_reader())

    def _axis(self, case: FlowEvidence, axis: str) -> pa.Table:
        import pyarrow as pa

        tiles = [tile for (tile,) in case.rows(f"select distinct {axis} from audit_groups")]
        resolution = case.promise.resolution
        found = list(self._tiled(case, tiles) if resolution is None else _cells(tiles, resolution))
        names, lat, lon, km2, reach = zip(*found, strict=True) if found else ((), (), (), (), ())
        extents = np.array(reach, dtype=float).reshape(-1, 5).T
        columns = {
            "axis": pa.array([axis] * len(found), pa.string()),
            "tile": pa.array(names, pa.string()),
            "lat": in_millionths(np.array(lat)),
            "lon": in_millionths(np.array(lon)),
            "km2": np.array(km2, dtype=float),
            **dict(zip(SIDES, extents[:4].astype(np.int64), strict=True)),
            "longer": extents[4],
        }
        return pa.table(columns)

    def _tiled(self, case: FlowEvidence, names: Sequence[str]) -> Iterator[Centre]:
        """Yield the tiles named; all there are where the tiling is complete."""
        tiling = tiling_of(case, self.tiling)
        if tiling is None:
            raise InputError("the release has boxes: the audit needs the zones that it was made with")
        keys = np.unique(tiling.keys(names))
        keys = keys[keys != OUTSIDE]
        if len(keys):
            tree = tiling.hierarchy(keys)
            zones, n = tree.zones, tree.n_tiles
            columns = zones.ids[:n], zones.lat[:n], zones.lon[:n], zones.area_km2[:n]
            facts = zip(*(column.tolist() for column in columns), strict=True)
            for row, (tile, lat, lon, km2) in enumerate(facts):
                yield tile, lat, lon, km2, tile_extent(zones.outline(row), lat, lon, km2)


def in_millionths(degrees: Floats) -> Ints:
    """Return degrees as whole millionths.

    >>> in_millionths(np.array([48.8566141, -2.0000004])).tolist()
    [48856614, -2000000]
    """
    whole: Ints = np.rint(degrees * MICRO).astype(np.int64)
    return whole


def _cells(tiles: Sequence[str], resolution: int) -> Iterator[Centre]:
    for tile in tiles:
        place = cells.centre(tile) if cells.resolution_of(tile) == resolution else None
        if place is not None:
            yield tile, *place, cells.area_km2(tile), (*cells.millionths(tile), 0.0)


def keep_boxes(case: FlowEvidence, table: str, zones: str) -> str:
    """Make a table (zone, south, west, north, east) of the zones of a query that are named as boxes."""
    import pyarrow as pa

    read = {zone: read_box(zone) for (zone,) in case.rows(f"select distinct zone from ({zones})")}
    boxes = {zone: box for zone, box in read.items() if box is not None}
    sides = zip(*boxes.values(), strict=True) if boxes else ((), (), (), ())
    columns = {
        name: pa.array(side, pa.int64())
        for name, side in zip(("south", "west", "north", "east"), sides, strict=True)
    }
    made = pa.table({"zone": pa.array(list(boxes), pa.string()), **columns})
    case.keep(table, "select * from audit_reader", made.to_reader())
    return table


SIDES = ("south", "west", "north", "east")

CENTRE_INSIDE = "centre.lat between box.south and box.north and centre.lon between box.west and box.east"
"""SQL that is true where the centre of a tile lies in a box, which then holds it."""

WHOLLY_INSIDE = """centre.south >= box.south and centre.west >= box.west
    and centre.north <= box.north and centre.east <= box.east"""
"""SQL that is true where all of a tile lies in a box, and with it the trip ends in the tile."""


def pairs_in_boxes(case: FlowEvidence, axis: str, query: str) -> tuple[int, int]:
    """Return how many (tile, zone) rows a query has, and in how many the zone is a box around the tile."""
    case.load("centres")
    pairs = f"({query}) pair(tile, zone)"
    boxes = keep_boxes(case, f"audit_{axis}_boxes", f"select zone from {pairs}")
    inside = case.value(
        f"""select count(*) from {pairs} join {boxes} box using (zone)
        join audit_centres centre on centre.tile = pair.tile and centre.axis = '{axis}'
        where {WHOLLY_INSIDE}"""
    )
    return int(case.value(f"select count(*) from {pairs}")), int(inside)


def wrong_boxes(case: FlowEvidence) -> str | None:
    """Return what is wrong with the sizes and places of the boxes in the zones table."""
    case.load("centres")
    for axis in SPACE:
        if not _true_tile(case, axis):
            return f"the manifest's area of a tile is not that of the {axis} tiles"
        if case.promise.box_grid[axis] * MICRO != _step(case, axis):
            return f"the manifest's grid of boxes is not the one that follows from the {axis} tiles"
    if "geometry" not in case.columns("audit_zones"):
        return "release/zones.parquet lacks the column 'geometry'"
    told = sum(_telling(case, axis) for axis in SPACE)
    if told:
        return f"{mask_small(told, 'boxes')} have an edge off the grid, or one that tells a tile"
    wrong = sum(not right for axis in SPACE for right in _rows(case, axis))
    return (
        f"release/zones.parquet gives {mask_small(wrong, 'zones')} a wrong size or place" if wrong else None
    )


def _true_tile(case: FlowEvidence, axis: str) -> bool:
    """Return whether the stated area of a tile is the median of the tiles, to three digits."""
    told = case.promise.tile_km2[axis]
    median = case.value(f"select median(km2) from audit_centres where axis = '{axis}'")
    if median is None or math.isnan(median):
        return told is None
    return told is not None and told == float(f"{told:.3g}") and math.isclose(told, median, rel_tol=ROUNDING)


def _step(case: FlowEvidence, axis: str) -> int:
    """Return the step of the grid, in millionths of a degree, that follows from the tiles."""
    longer = case.value(f"select max(longer) from audit_centres where axis = '{axis}'")
    return right_step(case.promise.spec, longer or 0.0)


def _telling(case: FlowEvidence, axis: str) -> int:
    """Return how many boxes have an edge that does not lie on the grid, or gives a tile away."""
    tiles = None
    if not case.promise.grid:
        sides = case.rows(f"select {', '.join(SIDES)} from audit_centres where axis = '{axis}'")
        tiles = np.array(list(sides), dtype=np.int64).reshape(-1, 4).T
    step = _step(case, axis)
    named = case.rows(f"select zone from audit_zones where axis = '{axis}'")
    boxes = [read_box(zone) for (zone,) in named]
    return sum(box is not None and not tells_nobody(box, step, tiles) for box in boxes)


def _rows(case: FlowEvidence, axis: str) -> Iterator[bool]:
    """Yield, for every box that is listed, whether all that is said of it is right."""
    held = None if case.promise.grid and case.promise.tile_km2[axis] is not None else _held(case, axis)
    columns = "zone, height, tiles, area_km2, lat, lon, geometry"
    for zone, *facts, geometry in case.rows(f"select {columns} from audit_zones where axis = '{axis}'"):
        box = read_box(zone)
        yield (
            box is not None
            and _true_facts(box, case.promise.tile_km2[axis], None if held is None else held[zone], *facts)
            and _true_outline(box, geometry)
        )


def _held(case: FlowEvidence, axis: str) -> dict[str, int]:
    """Return how many tiles every box holds."""
    boxes = keep_boxes(case, f"audit_{axis}_listed", f"select zone from audit_zones where axis = '{axis}'")
    return dict(
        case.rows(
            f"""select box.zone, count(centre.tile) from {boxes} box
            left join (select * from audit_centres where axis = '{axis}') centre on {CENTRE_INSIDE}
            group by box.zone"""
        )
    )


def _true_facts(
    box: Box,
    tile_km2: float | None,
    held: int | None,
    height: int,
    tiles: int,
    area: float | None,
    lat: float | None,
    lon: float | None,
) -> bool:
    if height != 0 or not _true_place(box, area, lat, lon):
        return False
    if held is not None:
        return tiles == held
    return tile_km2 is not None and right_tiles(tiles, area_km2(box), tile_km2)


def is_drawn_as_named(
    zone: str, area: float | None, lat: float | None, lon: float | None, geometry: Any
) -> bool:
    """Return whether area, point and outline of a zone are those of the box that its name tells."""
    box = read_box(zone)
    return box is not None and _true_place(box, area, lat, lon) and _true_outline(box, geometry)


def _true_place(box: Box, area: float | None, lat: float | None, lon: float | None) -> bool:
    if area is None or lat is None or lon is None:
        return False
    right = math.isclose(area, area_km2(box), rel_tol=SLACK)
    return right and math.dist((lat, lon), box.middle) <= DEGREES


def _true_outline(box: Box, geometry: Any) -> bool:
    import shapely

    if geometry is None:
        return False
    try:
        outline = shapely.from_wkb(bytes(geometry))
    except shapely.errors.ShapelyError:
        return False
    if outline.geom_type != "Polygon" or outline.is_empty or outline.interiors:
        return False
    return is_outline(outline.exterior.coords, box)
