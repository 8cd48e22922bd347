"""Rules about the promise: counted afresh, raw fixes against published edges."""

from __future__ import annotations

import numpy as np

from tripcloak.findings import some
from tripcloak.trajectories.audit.evidence import Evidence
from tripcloak.trajectories.audit.promise import (
    companion_faults,
    lone_faults,
    support_faults,
    two_sided_faults,
)
from tripcloak.trajectories.audit.rulebook import Remark
from tripcloak.trajectories.audit.rules.book import BOOK


@BOOK.rule("as-many-as-people")
def as_many_as_people(case: Evidence) -> str | Remark | None:
    """There is one released trajectory for every person of the raw input."""
    released, people = len(case.spans.offsets) - 1, case.tracks.n_users
    if released > people:
        return "there are more released trajectories than people"
    if case.manifest.promise == "colocation":
        return Remark("there are no more released trajectories than people; some may be deleted")
    return f"{some(people - released, 'people')} have no released trajectory" if released < people else None


@BOOK.rule("support-reaches-k")
def support_reaches_k(case: Evidence) -> str | Remark | None:
    """All fixes of each person are contained in k released trajectories or more."""
    return support_faults(case.supports, case.manifest.k, case.manifest.promise)


@BOOK.rule("two-sided-support-reaches-k")
def two_sided_support_reaches_k(case: Evidence) -> str | Remark | None:
    """K or more of them hold one of the fixes in every box, for those who know that they know all."""
    return two_sided_faults(case.supports, case.manifest.k, case.manifest.promise)


@BOOK.rule("nobody-alone")
def nobody_alone(case: Evidence) -> str | Remark | None:
    """Every released trajectory may stand for two people or more."""
    return lone_faults(case.supports, case.manifest.promise)


@BOOK.rule("companions-reach-k")
def companions_reach_k(case: Evidence) -> str | Remark | None:
    """Each released trajectory has k - 1 others with its time stamps within delta at all of them."""
    if case.manifest.promise != "colocation":
        return Remark("not promised: released trajectories are boxes that hold several people")
    spans = case.spans
    step, metres = case.manifest.seconds * 1e6, case.manifest.metres
    sizes = ((spans.t0, spans.t1, step), (spans.x0, spans.x1, metres), (spans.y0, spans.y1, metres))
    if any(np.any(high - low != size) for low, high, size in sizes):
        return "a promise of colocation is about points, and some released boxes are larger"
    return companion_faults(case.companions, case.manifest.k)
