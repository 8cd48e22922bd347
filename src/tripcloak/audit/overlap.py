"""Do released flows overlap: two of them do where, on every axis, one's zone holds the other's."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product


def overlaps_sql(flows: str, axes: Sequence[str], lineage: str) -> str:
    """Return SQL for the number of pairs of flows that overlap.

    Zones of a tree hold one another or have nothing in common. So a pair overlaps if and only if, axis
    by axis, the first is above the second or the other way round: every such pattern is one join, the
    lower side of each axis lifted to the zones above it. The first axis needs one direction only.

    Parameters
    ----------
    flows
        A table with a column of zones per axis.
    lineage
        Name of tables (zone, above), with ``{axis}`` in it: every released zone with itself and the
        released zones that hold it.
    """
    patterns = product((True,), *[(True, False)] * (len(axes) - 1))
    return f"select sum(n) from ({' union all '.join(_pattern(flows, axes, p, lineage) for p in patterns)})"


def _pattern(flows: str, axes: Sequence[str], lifted: Sequence[bool], lineage: str) -> str:
    low = _lift(flows, [axis for axis, up in zip(axes, lifted, strict=True) if up], axes, lineage)
    high = _lift(flows, [axis for axis, up in zip(axes, lifted, strict=True) if not up], axes, lineage)
    return f"""select count(*) as n from ({low}) low join ({high}) high using ({", ".join(axes)})
        where low.id <> high.id"""


def _lift(flows: str, lifted: Sequence[str], axes: Sequence[str], lineage: str) -> str:
    columns = ", ".join(f"{axis}_up.above as {axis}" if axis in lifted else f"flow.{axis}" for axis in axes)
    joins = " ".join(
        f"join {lineage.format(axis=axis)} {axis}_up on {axis}_up.zone = flow.{axis}" for axis in lifted
    )
    return f"select flow.rowid as id, {columns} from {flows} flow {joins}"
