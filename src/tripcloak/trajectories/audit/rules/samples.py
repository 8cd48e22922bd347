"""Rules about the published boxes, and about the promise counted afresh against raw fixes."""

from __future__ import annotations

import numpy as np

from tripcloak.ground.masking import mask_small
from tripcloak.ground.rulebook import Remark
from tripcloak.trajectories.audit.evidence import BOOK, MICRO, TrajectoryEvidence
from tripcloak.trajectories.audit.promise import (
    companion_faults,
    lone_faults,
    support_faults,
    two_sided_faults,
)


@BOOK.rule("boxes-have-extent")
def boxes_have_extent(case: TrajectoryEvidence) -> str | None:
    """Every released box lasts some time and is wide and high."""
    empty = case.value(
        f"SELECT count(*) FROM {case.table} WHERE NOT (t_start < t_end AND x_min < x_max AND y_min < y_max)"
    )
    return f"{mask_small(empty, 'released boxes')} have no extent" if empty else None


@BOOK.rule("edges-on-the-grid")
def edges_on_the_grid(case: TrajectoryEvidence) -> str | None:
    """Every edge lies on the stated grid, so that none tells a raw time or place."""
    told = case.manifest
    step = told.seconds * MICRO
    times = " OR ".join(
        f"(epoch_us({name}) - {told.start * MICRO}) % {step} <> 0" for name in ("t_start", "t_end")
    )
    places = " OR ".join(f"{name} % {told.metres} <> 0" for name in ("x_min", "x_max", "y_min", "y_max"))
    off = case.value(f"SELECT count(*) FROM {case.table} WHERE {times} OR {places}")
    return f"{mask_small(off, 'released boxes')} have an edge off the grid" if off else None


@BOOK.rule("no-overlap-in-time")
def no_overlap_in_time(case: TrajectoryEvidence) -> str | None:
    """Boxes of one released trajectory do not overlap in time."""
    overlaps = case.value(
        f"""SELECT count(*) FROM (
            SELECT t_start < lag(t_end) OVER (PARTITION BY trajectory ORDER BY t_start, row) AS collides
            FROM {case.table}
        ) WHERE collides"""
    )
    return (
        f"{mask_small(overlaps, 'released boxes')} overlap in time with the one before" if overlaps else None
    )


@BOOK.rule("ordered-by-pseudonym")
def ordered_by_pseudonym(case: TrajectoryEvidence) -> str | None:
    """Rows come by pseudonym and time, so that their order tells nothing."""
    astray = case.value(
        f"""SELECT count(*) FROM (
            SELECT (trajectory, t_start) <= lag((trajectory, t_start)) OVER (ORDER BY row) AS astray
            FROM {case.table}
        ) WHERE astray"""
    )
    return "the rows are not ordered by pseudonym and time" if astray else None


@BOOK.rule("as-many-as-people")
def as_many_as_people(case: TrajectoryEvidence) -> str | Remark | None:
    """There is one released trajectory for every person of the raw input."""
    released, people = len(case.spans.offsets) - 1, case.tracks.n_users
    if released > people:
        return "there are more released trajectories than people"
    if case.manifest.promise.moves:
        return Remark("there are no more released trajectories than people; some may be deleted")
    return (
        f"{mask_small(people - released, 'people')} have no released trajectory"
        if released < people
        else None
    )


@BOOK.rule("support-reaches-k")
def support_reaches_k(case: TrajectoryEvidence) -> str | Remark | None:
    """All fixes of each person are contained in k released trajectories or more."""
    return support_faults(case.supports, case.manifest.promise)


@BOOK.rule("two-sided-support-reaches-k")
def two_sided_support_reaches_k(case: TrajectoryEvidence) -> str | Remark | None:
    """K or more of them hold one of the fixes in every box, for those who know that they know all."""
    return two_sided_faults(case.supports, case.manifest.promise)


@BOOK.rule("nobody-alone")
def nobody_alone(case: TrajectoryEvidence) -> str | Remark | None:
    """Every released trajectory may stand for two people or more."""
    return lone_faults(case.supports, case.manifest.promise)


@BOOK.rule("companions-reach-k")
def companions_reach_k(case: TrajectoryEvidence) -> str | Remark | None:
    """Each released trajectory has k - 1 others with its time stamps within delta at all of them."""
    if not case.manifest.promise.moves:
        return Remark("not promised: released trajectories are boxes that hold several people")
    spans = case.spans
    step, metres = case.manifest.seconds * 1e6, case.manifest.metres
    sizes = ((spans.t0, spans.t1, step), (spans.x0, spans.x1, metres), (spans.y0, spans.y1, metres))
    if any(np.any(high - low != size) for low, high, size in sizes):
        return "a promise of colocation is about points, and some released boxes are larger"
    return companion_faults(case.companions, case.manifest.promise)
