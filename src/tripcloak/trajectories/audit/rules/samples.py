"""Rules about the published boxes: their shape, their edges, their order."""

from __future__ import annotations

from tripcloak.findings import some
from tripcloak.trajectories.audit.evidence import MICRO, Evidence
from tripcloak.trajectories.audit.rules.book import BOOK


@BOOK.rule("boxes-have-extent")
def boxes_have_extent(case: Evidence) -> str | None:
    """Every released box lasts some time and is wide and high."""
    empty = case.value(
        f"SELECT count(*) FROM {case.table} WHERE NOT (t_start < t_end AND x_min < x_max AND y_min < y_max)"
    )
    return f"{some(empty, 'released boxes')} have no extent" if empty else None


@BOOK.rule("edges-on-the-grid")
def edges_on_the_grid(case: Evidence) -> str | None:
    """Every edge lies on the stated grid, so that none tells a raw time or place."""
    told = case.manifest
    step = told.seconds * MICRO
    times = " OR ".join(
        f"(epoch_us({name}) - {told.start * MICRO}) % {step} <> 0" for name in ("t_start", "t_end")
    )
    places = " OR ".join(f"{name} % {told.metres} <> 0" for name in ("x_min", "x_max", "y_min", "y_max"))
    off = case.value(f"SELECT count(*) FROM {case.table} WHERE {times} OR {places}")
    return f"{some(off, 'released boxes')} have an edge off the grid" if off else None


@BOOK.rule("no-overlap-in-time")
def no_overlap_in_time(case: Evidence) -> str | None:
    """Boxes of one released trajectory do not overlap in time."""
    overlaps = case.value(
        f"""SELECT count(*) FROM (
            SELECT t_start < lag(t_end) OVER (PARTITION BY trajectory ORDER BY t_start, row) AS collides
            FROM {case.table}
        ) WHERE collides"""
    )
    return f"{some(overlaps, 'released boxes')} overlap in time with the one before" if overlaps else None


@BOOK.rule("ordered-by-pseudonym")
def ordered_by_pseudonym(case: Evidence) -> str | None:
    """Rows come by pseudonym and time, so that their order tells nothing."""
    astray = case.value(
        f"""SELECT count(*) FROM (
            SELECT (trajectory, t_start) <= lag((trajectory, t_start)) OVER (ORDER BY row) AS astray
            FROM {case.table}
        ) WHERE astray"""
    )
    return "the rows are not ordered by pseudonym and time" if astray else None
