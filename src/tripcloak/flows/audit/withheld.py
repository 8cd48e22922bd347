"""The auditor's own reckoning of what may be told of the withheld volume."""

from __future__ import annotations

import math
from collections.abc import Mapping
from decimal import Decimal, localcontext
from typing import Any

from tripcloak.flows.audit.evidence import FlowEvidence
from tripcloak.flows.audit.totals import counts_more
from tripcloak.ground.entries import unreadable, whole

ENTRY = "withheld"
SHARES = ("0.01", "0.02", "0.05", "0.1", "0.2", "0.5")
"""Shares of the whole volume at which a band may end, if the limit is larger."""


def told_band(facts: Mapping[str, Any]) -> tuple[int, int] | None:
    """Return the ends of the band that the manifest tells, None where it tells none, or raise."""
    entry = facts.get(ENTRY)
    if not isinstance(entry, Mapping) or set(entry) != {"at_least", "at_most", "words"}:
        raise unreadable(ENTRY, "at_least, at_most and words")
    if not isinstance(entry["words"], str):
        raise unreadable(ENTRY, "at_least, at_most and words")
    if entry["at_least"] is None and entry["at_most"] is None:
        return None
    return whole(entry, "at_least"), whole(entry, "at_most")


def band_around(case: FlowEvidence, volume: float) -> tuple[int, int, list[str]]:
    """Return the band in which a volume must be told, and the numbers in its words.

    Every step from below is climbed that is allowed, and that the volume passes; the next ends the band.
    """
    steps = _steps(case)
    climbed = sum(volume > end for end, _ in steps[:-1])
    below, low = steps[climbed - 1] if climbed else (-1, 0.0)
    above, high = steps[climbed]
    return below + 1, above, [f"{low:g}", f"{high:g}"] if high else []


def _steps(case: FlowEvidence) -> list[tuple[int, float]]:
    """Return where bands may end and the percent there, the limit last."""
    promise, released = case.promise, whole(case.facts, "released")
    # A traveller makes a trip at least; a trip may stand for any population.
    counted = {"trips": ("trips", "travellers"), "population": ("population",)}[promise.volume]
    heads = [k for unit, k in promise.thresholds.items() if unit in counted]
    last = _most(released, promise.limit, promise.volume)
    held_by_others = _others(case) * (min(heads) - 1)
    steps = []
    for text in SHARES:
        share = Decimal(text)
        end = int(released * share / (1 - share))
        if max(heads) - 1 <= end < last and end + 1 <= held_by_others:
            steps.append((end, float(100 * share)))
    return [*steps, (last, 100 * promise.limit)]


def _others(case: FlowEvidence) -> int:
    """Return how many absent pairs there are beside any one; none where more than the limit is not told."""
    promise = case.promise
    if promise.known_items is not None or not promise.homogeneous or counts_more(case):
        return 0
    axes = ", ".join(f"count(distinct {axis})" for axis in promise.axes)
    rows, *zones = next(case.rows(f"select count(*), {axes} from audit_flows"))
    return int(max(math.prod(zones) - rows - 1, 0))


def _most(released: int, limit: float, volume: str) -> int:
    """Return the largest volume that the limit allows; a released population is told in whole people."""
    with localcontext(prec=60):
        hair = Decimal("1e-12")
        share = min(Decimal(limit) * (1 + hair), 1 - hair)
        if volume == "population":
            return math.ceil((released + Decimal("0.5")) * share / (1 - share))
        return math.floor(released * share / (1 - share))
