"""The rule on what can be solved for from the withheld volume, told or not."""

from __future__ import annotations

import math

from tripcloak.audit.entries import whole
from tripcloak.audit.evidence import Evidence
from tripcloak.audit.rules.book import BOOK


@BOOK.rule("suppressed-not-solvable", "flows")
def suppressed_not_solvable(case: Evidence) -> str | None:
    """Neither the withheld volume nor silence about it settles a number below k."""
    if case.facts.get("suppressed") is None or case.promise.privacy is not None:
        return None
    told = whole(case.facts, "suppressed")
    if told == 0 and _silence_means_one(case):
        return "the manifest tells that nothing is withheld, so that silence elsewhere would mean one"
    if told and told == _volume_of_full_pairs(case):
        return "the withheld volume fits only if every absent pair of zones holds one less than k"
    return None


def _silence_means_one(case: Evidence) -> bool:
    """Return whether a withheld volume that must not be told could be one, and no other number.

    Where zero is told, silence excludes it. It also excludes k and more, and what the limit has no room
    for, which together may leave nothing but one.
    """
    released, limit = whole(case.facts, "released"), case.promise.limit
    # The manifest rounds a population to whole people, so it is a range.
    ends = (released - 0.5, released + 0.5) if case.promise.volume == "population" else (released, released)
    below_k = min(case.promise.thresholds.values()) <= 2
    for volume in ends:
        room = volume * limit / (1 - limit) * (1 + 1e-9)
        if room < 1 or (room >= 2 and not below_k):
            return False
    return True


def _volume_of_full_pairs(case: Evidence) -> float | None:
    """Return the trips there would be if every absent pair of released zones held one less than k."""
    if case.promise.volume != "trips":
        return None
    axes = ", ".join(f"count(distinct {axis})" for axis in case.promise.axes)
    rows, *zones = next(case.rows(f"select count(*), {axes} from audit_flows"))
    return float((math.prod(zones) - rows) * (case.promise.k - 1))
