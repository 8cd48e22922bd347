"""Rules about zones: they hold the tiles they stand for, and keep what is promised about them."""

from __future__ import annotations

import math

import numpy as np

from tripcloak.flows.audit import cells
from tripcloak.flows.audit.box_grid import right_step, tells_nobody, tile_extent
from tripcloak.flows.audit.boxes import DEGREES, SLACK, Box, area_km2, is_outline, read_box, right_tiles
from tripcloak.flows.audit.centres import CENTRE_INSIDE, ROUNDING, SIDES, WHOLLY_INSIDE, in_millionths
from tripcloak.flows.audit.grids import H3Grid, NamedGrid, grid_of
from tripcloak.flows.audit.matrix.case import AXES, BOOK, Form, MatrixCase
from tripcloak.flows.audit.queries import overlaps_sql, too_far_sql
from tripcloak.ground.arrays import Floats, Ints
from tripcloak.ground.masking import mask_small
from tripcloak.ground.rulebook import NotPromised, Remark
from tripcloak.hierarchy import BoxZones, Hierarchy


@BOOK.rule("zones-contain-tiles", "recount")
def zones_contain_tiles(case: MatrixCase) -> str | None:
    """Every released zone is an ancestor of the tiles it stands for, or the tile itself."""
    for axis, (_, zones, _) in zip(case.axes, case.release.axes, strict=True):
        if case.value(f"select count(*) from groups where {axis} not between 0 and {len(zones) - 1}"):
            return f"some {axis} zones do not exist"
        if case.form(axis) is Form.UNKNOWN:
            return f"the {axis} zones are neither those of the hierarchy nor known by name"
        find = {Form.TREE: _outside_subtrees, Form.BOXES: outside_boxes, Form.NAMES: outside_names}
        wrong = find[case.form(axis)](case, axis)
        if wrong:
            return f"{mask_small(wrong, f'{axis} tiles')} were sent to a zone that does not hold them"
    return None


def _outside_subtrees(case: MatrixCase, axis: str) -> int:
    parent = case.matrix.axes[AXES.index(axis)][0].parent
    pairs = f"distinct groups.{axis} as zone, flows.{axis} as tile from flows join groups using (number)"
    zone, here = case.con.execute(f"select {pairs}").fetchnumpy().values()
    going = np.flatnonzero(here != zone)
    # Invariant: who is going has not met the zone yet and is not beyond the root.
    while len(going):
        here[going] = parent[here[going]]
        going = going[(here[going] != zone[going]) & (here[going] >= 0)]
    return int(np.count_nonzero(here != zone))


@BOOK.rule("zones-disjoint", "recount")
def zones_disjoint(case: MatrixCase) -> str | Remark | None:
    """In a release that promises it, zones of one axis do not overlap and each tile goes to one zone."""
    if not case.release.homogeneous:
        return NotPromised("not promised: zones may overlap, each flow as fine as its own numbers allow")
    for axis in case.axes:
        if case.form(axis) not in (Form.TREE, Form.NAMES):
            return "zones are boxes, which may overlap, and the release says that they do not"
        nested = nested_names(case, axis) if case.form(axis) is Form.NAMES else _nested_subtrees(case, axis)
        if nested:
            return f"{mask_small(nested, f'{axis} zones')} lie inside another released {axis} zone"
    return None


def _nested_subtrees(case: MatrixCase, axis: str) -> int:
    return int(case.value(f"select count(distinct zone) from {_lineage(case, axis)} where zone <> above"))


@BOOK.rule("flows-never-overlap", "recount")
def flows_never_overlap(case: MatrixCase) -> str | Remark | None:
    """In a release with times, no two flows share a pair of places at the same time."""
    if case.matrix.times is None:
        return NotPromised("not promised: time is no axis of this release")
    if not case.in_trees:
        return "zones are not those of the hierarchy, and whether their flows overlap cannot be told"
    case.con.execute("create or replace temp table released as select * from groups")
    for axis in case.axes:
        _lineage(case, axis)
    pairs = case.value(overlaps_sql("released", case.axes, "{axis}_lineage"))
    return f"{mask_small(pairs, 'pairs of released flows')} overlap" if pairs else None


@BOOK.rule("zones-table-matches", "recount")
def zones_table_matches(case: MatrixCase) -> str | None:
    """Released zones that are not those of the hierarchy have the sizes and places that their names tell."""
    find = {Form.BOXES: wrong_boxes, Form.NAMES: wrong_names}
    for axis in AXES[:2]:
        wrong = find[case.form(axis)](case, axis) if case.form(axis) in find else 0
        if wrong:
            return f"{mask_small(wrong, f'{axis} zones')} have a wrong size or place"
    return None


@BOOK.rule("zones-diverse", "recount")
def zones_diverse(case: MatrixCase) -> str | Remark | None:
    """Every released zone covers as many different places that occur in the matrix as promised."""
    if not case.promise.floors:
        return NotPromised("not promised: how many different places a zone covers (no l-diversity)")
    for what, least_of in case.promise.floors.items():
        if not case.in_trees:
            return "the release promises different places in zones of its own, which cannot be told"
        for axis in AXES[:2]:
            covered = _places_below(case, axis) if what == "places" else _tiles_below(case, axis)
            narrow = case.value(
                f"""select count(*) from (select distinct {axis} as zone from groups)
                left join ({covered}) using (zone) where coalesce(n, 0) < {least_of}"""
            )
            if narrow:
                return (
                    f"{mask_small(narrow, f'{axis} zones')} cover fewer than {least_of:,} {what} that occur"
                )
    return None


def _tiles_below(case: MatrixCase, axis: str) -> str:
    """Return SQL for the number of tiles with flows below every zone."""
    tree, tiles = case.matrix.axes[AXES.index(axis)]
    covered = np.zeros(len(tree), dtype=np.int64)
    here = np.unique(tiles)
    while len(here):
        covered += np.bincount(here, minlength=len(tree))
        here = tree.parent[here]
        here = here[here >= 0]
    case.put(f"{axis}_tiles", {"zone": np.arange(len(tree), dtype=np.int32), "n": covered})
    return f"select zone, n from {axis}_tiles"


def _places_below(case: MatrixCase, axis: str) -> str:
    """Return SQL for the number of places below every zone; the matrix knows no more of them than that."""
    covered = case.matrix.covers("places")[AXES.index(axis)]
    case.put(f"{axis}_places", {"zone": np.arange(len(covered), dtype=np.int32), "n": covered})
    return f"select zone, n from {axis}_places"


@BOOK.rule("destinations-close", "recount")
def destinations_close(case: MatrixCase) -> str | Remark | None:
    """The destinations of every released origin zone are as close to those of all as promised."""
    t, volume = case.promise.closeness, case.release.volume
    if t is None:
        return NotPromised("not promised: that an origin hides where its trips go (no t-closeness)")
    if not case.in_trees:
        return "the release promises close destinations of zones of its own, which means nothing"
    zones = case.release.destinations
    case.put("sizes", {"zone": np.arange(len(zones), dtype=np.int32), "tiles": zones.tiles.astype(float)})
    far = case.value(
        too_far_sql(
            f"select origin, destination, round_even({volume}::double, 0) as volume from groups",
            lineage=_lineage(case, "destination"),
            sizes="select * from sizes",
            t=t,
        )
    )
    return (
        f"the destinations of {mask_small(far, 'origin zones')} give away more than promised" if far else None
    )


def _lineage(case: MatrixCase, axis: str) -> str:
    """Make a table (zone, above) of an axis: every released zone with itself and those that hold it."""
    parent, released = case.matrix.axes[AXES.index(axis)][0].parent, released_rows(case, axis)
    zone = here = released
    zones, above = [zone], [here]
    while len(here):
        here = parent[here]
        zone, here = zone[here >= 0], here[here >= 0]
        found = np.isin(here, released)
        zones.append(zone[found])
        above.append(here[found])
    case.put(f"{axis}_lineage", {"zone": np.concatenate(zones), "above": np.concatenate(above)})
    return f"{axis}_lineage"


def outside_boxes(case: MatrixCase, axis: str) -> int:
    """Return how many pairs of a tile and the box it was sent to have some of the tile outside."""
    _put(case, axis)
    pairs = (
        f"select distinct flows.{axis} as tile, groups.{axis} as zone from flows join groups using (number)"
    )
    number = case.value(f"select count(*) from ({pairs})")
    inside = case.value(
        f"""select count(*) from ({pairs}) pair join {axis}_boxes box using (zone)
        join {axis}_centres centre using (tile) where {WHOLLY_INSIDE}"""
    )
    return int(number - inside)


def wrong_boxes(case: MatrixCase, axis: str) -> int:
    """Return how many released boxes of an axis have facts that their names do not tell."""
    zones, tree = case.release.axes[AXES.index(axis)][1], case.matrix.axes[AXES.index(axis)][0]
    assert isinstance(zones, BoxZones)
    tile_km2 = None if math.isnan(zones.tile_km2) else zones.tile_km2
    released = released_rows(case, axis)
    extents = _extents(case, axis)
    step = right_step(tree.name, float(extents[4].max(initial=0.0)))
    if not _true_tile(tile_km2, tree) or zones.step != step:
        return len(released)
    tiles = None if grid_of(tree.name) else extents[:4].astype(np.int64)
    held = _held(case, axis) if tree.complete or tile_km2 is None else None
    return sum(
        not _true(zones, row, tile_km2, None if held is None else held.get(row))
        or not tells_nobody(Box(*(int(side[row]) for side in zones.corners)), step, tiles)
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
    extents = dict(zip(SIDES, _extents(case, axis)[:4].astype(np.int64), strict=True))
    case.put(f"{axis}_centres", {"tile": np.arange(n, dtype=np.int32), "lat": lat, "lon": lon, **extents})


def _extents(case: MatrixCase, axis: str) -> Floats:
    """Return how far every tile reaches, one column each, and its longer side in degrees."""
    if axis not in case.extents:
        tree = case.matrix.axes[AXES.index(axis)][0]
        zones, n = tree.zones, tree.n_tiles
        rows: list[tuple[float, ...]]
        if isinstance(grid_of(tree.name), H3Grid):
            rows = [(*cells.millionths(str(tile)), 0.0) for tile in zones.ids[:n]]
        else:
            columns = (column[:n].tolist() for column in (zones.lat, zones.lon, zones.area_km2))
            facts = enumerate(zip(*columns, strict=True))
            rows = [tile_extent(zones.outline(row), *fact) for row, fact in facts]
        case.extents[axis] = np.array(rows, dtype=float).T
    return case.extents[axis]


def _held(case: MatrixCase, axis: str) -> dict[int, int]:
    """Return how many tiles each box holds."""
    _put(case, axis)
    found = case.con.execute(
        f"""select box.zone, count(centre.tile) from {axis}_boxes box
        left join {axis}_centres centre on {CENTRE_INSIDE} group by box.zone"""
    )
    return dict(found.fetchall())


def _true_tile(tile_km2: float | None, tree: Hierarchy) -> bool:
    """Return whether the stated area of a tile is the mean of the tiles, to three digits."""
    mean = float(np.mean(tree.zones.area_km2[: tree.n_tiles]))
    if math.isnan(mean):
        return tile_km2 is None
    if tile_km2 is None or tile_km2 != float(f"{tile_km2:.3g}"):
        return False
    return math.isclose(tile_km2, mean, rel_tol=ROUNDING)


def _true(zones: BoxZones, row: int, tile_km2: float | None, held: int | None) -> bool:
    box = read_box(str(zones.ids[row]))
    if box is None or zones.height[row] != 0:
        return False
    area, tiles = area_km2(box), int(zones.tiles[row])
    fits = tiles == held if held is not None else right_tiles(tiles, area, tile_km2 or math.nan)
    near = math.dist((zones.lat[row], zones.lon[row]), box.middle) <= DEGREES
    return (
        fits
        and near
        and math.isclose(zones.area_km2[row], area, rel_tol=SLACK)
        and _true_outline(zones, row, box)
    )


def _true_outline(zones: BoxZones, row: int, box: Box) -> bool:
    outline = zones.outline(row)
    if outline is None or outline.get("type") != "Polygon" or len(outline["coordinates"]) != 1:
        return False
    return is_outline([(lon, lat) for lon, lat in outline["coordinates"][0]], box)


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
