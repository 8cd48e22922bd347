"""The rule that holds tables beside the flows against the matrix, before a file is written."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace

import numpy as np

from tripcloak.flows.audit.matrix.case import BOOK, MatrixCase
from tripcloak.flows.audit.promise import least
from tripcloak.ground.arrays import Bools, Ints
from tripcloak.ground.masking import mask_small
from tripcloak.ground.rulebook import NotPromised, Remark
from tripcloak.hierarchy import Hierarchy

EVERYWHERE = -1


@BOOK.rule("tables-match-recount", "recount")
def tables_of_safe_sets(case: MatrixCase) -> str | Remark | None:
    """Tables beside the flows count whole sets of records, each safe, in zones that hold them."""
    tables = case.release.tables
    if tables is None:
        return NotPromised("not told: totals and other heights beside the flows")
    of_flow = tables.brick_of_flow
    if not np.array_equal(np.where(case.release.suppressed, -1, of_flow), case.release.group_of_flow):
        return "a table counts a released flow elsewhere than where it is released"
    # Numbers that are sums of whole sets differ by whole sets: no combination of them is of fewer people.
    short = _few(case, of_flow)
    if short:
        return short
    trips = np.bincount(of_flow[of_flow >= 0], case.matrix.flows.trips[of_flow >= 0], len(tables.trips))
    if not np.array_equal(trips, tables.trips):
        return "the sets that tables are sums of hold other numbers than the matrix"
    for table in tables.tables:
        counted = np.append(table.cell_of_brick, -1)[of_flow]
        for axis, zones in enumerate((table.origin, table.destination)):
            tree, tile = case.matrix.axes[axis]
            held = _lies_in(tree, tile[counted >= 0], zones[counted[counted >= 0]])
            if not held.all():
                return (
                    f"{mask_small(int((~held).sum()), 'flows')} are counted in a zone that does not hold them"
                )
    return None


def _few(case: MatrixCase, of_flow: Ints) -> str | None:
    """Return which sets of flows do not reach a threshold, in a recount of their own."""
    # Another connection to the same engine: tables of its own, within the same limit of memory.
    with closing(case.con.cursor()) as con:
        sets = MatrixCase(case.matrix, replace(case.release, group_of_flow=of_flow), con)
        sets.load("recount")
        for unit, k in case.promise.thresholds.items():
            reached = f"coalesce({unit}, 0) >= {least(unit, k)!r}"
            short = sets.value(f"select count(*) from recount where number >= 0 and not {reached}")
            if short:
                return f"{mask_small(short, 'sets of flows')} in tables hold fewer than {k:g} {unit}"
    return None


def _lies_in(tree: Hierarchy, tile: Ints, zone: Ints) -> Bools:
    """Return whether each tile lies in a zone; all lie everywhere."""
    here = tile.astype(np.int64)
    found: Bools = zone == EVERYWHERE
    while (here >= 0).any():
        found |= here == zone
        # Above the root, which is the last zone, is none, and above none neither.
        here = tree.parent[here]
    return found
