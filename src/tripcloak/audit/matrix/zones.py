"""Rules about zones: they hold the tiles they stand for, and keep what is promised about them."""

from __future__ import annotations

import numpy as np

from tripcloak.audit.closeness import too_far_sql
from tripcloak.audit.findings import some
from tripcloak.audit.matrix.book import BOOK
from tripcloak.audit.matrix.boxes import outside_boxes, wrong_boxes
from tripcloak.audit.matrix.case import AXES, MatrixCase
from tripcloak.audit.overlap import overlaps_sql


@BOOK.rule("zones-contain-tiles", "recount")
def zones_contain_tiles(case: MatrixCase) -> str | None:
    """Every released zone is an ancestor of the tiles it stands for, or the tile itself."""
    for axis, (_, zones, _), (tree, _) in zip(case.axes, case.release.axes, case.matrix.axes, strict=True):
        boxes = case.boxes(axis)
        if case.value(f"select count(*) from groups where {axis} not between 0 and {len(zones) - 1}"):
            return f"some {axis} zones do not exist"
        if boxes is not None:
            wrong = outside_boxes(case, axis)
            if wrong:
                return f"{some(wrong, f'{axis} tiles')} were sent to a zone that does not hold them"
            continue
        if not np.array_equal(zones.ids, tree.zones.ids):
            return f"the {axis} zones are neither those of the hierarchy nor boxes"
        pairs = f"select distinct flows.{axis}, groups.{axis} from flows join groups using (number)"
        wrong = case.value(
            f"""with recursive pairs(tile, zone) as ({pairs}), climb(here, zone) as (
                select tile, zone from pairs
                union all
                select tree.parent, climb.zone from climb join {axis}_tree tree on tree.zone = climb.here
                where climb.here <> climb.zone and tree.parent is not null
            )
            select (select count(*) from pairs) - (select count(*) from climb where here = zone)"""
        )
        if wrong:
            return f"{some(wrong, f'{axis} tiles')} were sent to a zone that does not hold them"
    return None


@BOOK.rule("zones-disjoint", "recount")
def zones_disjoint(case: MatrixCase) -> str | None:
    """In a release that promises it, zones of one axis do not overlap and each tile goes to one zone."""
    for axis in case.axes if case.release.homogeneous else ():
        if case.boxes(axis) is not None:
            return "zones are boxes, which may overlap, and the release says that they do not"
        nested = case.value(
            f"""with recursive released as (select distinct {axis} as zone from groups),
            climb(zone, above) as (
                select zone, parent from {axis}_tree join released using (zone) where parent is not null
                union all
                select climb.zone, tree.parent from climb join {axis}_tree tree on tree.zone = climb.above
                where tree.parent is not null
            )
            select count(distinct climb.zone) from climb join released on released.zone = climb.above"""
        )
        if nested:
            return f"{some(nested, f'{axis} zones')} lie inside another released {axis} zone"
    return None


@BOOK.rule("flows-never-overlap", "recount")
def flows_never_overlap(case: MatrixCase) -> str | None:
    """In a release with times, no two flows share a pair of places at the same time."""
    if case.matrix.times is None:
        return None
    if case.has_boxes:
        return "zones are boxes, and whether flows of boxes and times overlap cannot be told"
    case.con.execute("create or replace temp table released as select * from groups")
    for axis in case.axes:
        _lineage(case, axis)
    pairs = case.value(overlaps_sql("released", case.axes, "{axis}_lineage"))
    return f"{some(pairs, 'pairs of released flows')} overlap" if pairs else None


@BOOK.rule("zones-table-matches", "recount")
def zones_table_matches(case: MatrixCase) -> str | None:
    """Released boxes have the sizes, places and outlines that their names tell."""
    for axis in AXES[:2]:
        wrong = wrong_boxes(case, axis)
        if wrong:
            return f"{some(wrong, f'{axis} boxes')} have a wrong size or place"
    return None


@BOOK.rule("zones-diverse", "recount")
def zones_diverse(case: MatrixCase) -> str | None:
    """Every released zone covers as many different places that occur in the matrix as promised."""
    for what, least_of in case.release.criterion.floors.items():
        if case.has_boxes:
            return "the release promises different places in every box, which cannot be told"
        for axis in AXES[:2]:
            covered = _places_below(case, axis) if what == "places" else _tiles_below(axis)
            narrow = case.value(
                f"""select count(*) from (select distinct {axis} as zone from groups)
                left join ({covered}) using (zone) where coalesce(n, 0) < {least_of}"""
            )
            if narrow:
                return f"{some(narrow, f'{axis} zones')} cover fewer than {least_of:,} {what} that occur"
    return None


def _tiles_below(axis: str) -> str:
    """Return SQL for the number of tiles with flows below every zone."""
    return f"""with recursive climb(tile, here) as (
            select distinct {axis}, {axis} from flows
            union all
            select climb.tile, tree.parent from climb join {axis}_tree tree on tree.zone = climb.here
            where tree.parent is not null
        )
        select here as zone, count(distinct tile) as n from climb group by here"""


def _places_below(case: MatrixCase, axis: str) -> str:
    """Return SQL for the number of places below every zone; the matrix knows no more of them than that."""
    covered = case.matrix.covers("places")[AXES.index(axis)]
    case.put(f"{axis}_places", {"zone": np.arange(len(covered), dtype=np.int32), "n": covered})
    return f"select zone, n from {axis}_places"


@BOOK.rule("destinations-close", "recount")
def destinations_close(case: MatrixCase) -> str | None:
    """The destinations of every released origin zone are as close to those of all as promised."""
    closeness, volume = case.release.closeness, case.release.volume
    if closeness is None:
        return None
    if case.has_boxes:
        return "the release promises close destinations of boxes, which means nothing"
    zones = case.release.destinations
    case.put("sizes", {"zone": np.arange(len(zones), dtype=np.int32), "tiles": zones.tiles.astype(float)})
    far = case.value(
        too_far_sql(
            f"select origin, destination, round_even({volume}::double, 0) as volume from groups",
            lineage=_lineage(case, "destination"),
            sizes="select * from sizes",
            t=closeness.t,
        )
    )
    return f"the destinations of {some(far, 'origin zones')} give away more than promised" if far else None


def _lineage(case: MatrixCase, axis: str) -> str:
    """Make a table (zone, above) of an axis: every released zone with itself and those that hold it."""
    case.con.execute(
        f"""create or replace temp table {axis}_lineage as
        with recursive zones as (select distinct {axis} as zone from groups),
        climb(zone, above) as (
            select zone, zone from zones
            union all
            select climb.zone, tree.parent from climb join {axis}_tree tree on tree.zone = climb.above
            where tree.parent is not null
        )
        select climb.zone, climb.above from climb join zones on zones.zone = climb.above"""
    )
    return f"{axis}_lineage"
