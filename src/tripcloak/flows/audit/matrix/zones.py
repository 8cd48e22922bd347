"""Rules about zones: they hold the tiles they stand for, and keep what is promised about them."""

from __future__ import annotations

import numpy as np

from tripcloak.flows.audit.matrix.case import AXES, BOOK, Form, MatrixCase
from tripcloak.flows.audit.matrix.names import (
    nested_names,
    outside_boxes,
    outside_names,
    wrong_boxes,
    wrong_names,
)
from tripcloak.flows.audit.queries import climb, overlaps_sql, too_far_sql
from tripcloak.ground.masking import mask_small


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
    pairs = f"select distinct groups.{axis}, flows.{axis} from flows join groups using (number)"
    case.con.execute(f"create or replace temp table pairs as {pairs}")
    climb(case.con, "reached", "from pairs", f"from {axis}_tree", until_met=True)
    return int(
        case.value("select (select count(*) from pairs) - (select count(*) from reached where here = who)")
    )


@BOOK.rule("zones-disjoint", "recount")
def zones_disjoint(case: MatrixCase) -> str | None:
    """In a release that promises it, zones of one axis do not overlap and each tile goes to one zone."""
    for axis in case.axes if case.release.homogeneous else ():
        if case.form(axis) not in (Form.TREE, Form.NAMES):
            return "zones are boxes, which may overlap, and the release says that they do not"
        nested = nested_names(case, axis) if case.form(axis) is Form.NAMES else _nested_subtrees(case, axis)
        if nested:
            return f"{mask_small(nested, f'{axis} zones')} lie inside another released {axis} zone"
    return None


def _nested_subtrees(case: MatrixCase, axis: str) -> int:
    return int(case.value(f"select count(distinct zone) from {_lineage(case, axis)} where zone <> above"))


@BOOK.rule("flows-never-overlap", "recount")
def flows_never_overlap(case: MatrixCase) -> str | None:
    """In a release with times, no two flows share a pair of places at the same time."""
    if case.matrix.times is None:
        return None
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
def zones_diverse(case: MatrixCase) -> str | None:
    """Every released zone covers as many different places that occur in the matrix as promised."""
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
    climb(case.con, "occurring", f"select distinct {axis}, {axis} from flows", f"from {axis}_tree")
    return "select here as zone, count(*) as n from occurring group by here"


def _places_below(case: MatrixCase, axis: str) -> str:
    """Return SQL for the number of places below every zone; the matrix knows no more of them than that."""
    covered = case.matrix.covers("places")[AXES.index(axis)]
    case.put(f"{axis}_places", {"zone": np.arange(len(covered), dtype=np.int32), "n": covered})
    return f"select zone, n from {axis}_places"


@BOOK.rule("destinations-close", "recount")
def destinations_close(case: MatrixCase) -> str | None:
    """The destinations of every released origin zone are as close to those of all as promised."""
    t, volume = case.promise.closeness, case.release.volume
    if t is None:
        return None
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
    climb(case.con, "above", f"select distinct {axis}, {axis} from groups", f"from {axis}_tree")
    case.con.execute(
        f"""create or replace temp table {axis}_lineage as
        select who as zone, here as above from above where here in (select {axis} from groups)"""
    )
    return f"{axis}_lineage"
