"""Rules on releases that promise differential privacy: is the noise enough, and is it there."""

from __future__ import annotations

import math

import numpy as np

from tripcloak.audit.counted import Counted, counted_trips, id_marks
from tripcloak.audit.matrix.book import BOOK
from tripcloak.audit.matrix.case import MatrixCase
from tripcloak.audit.noise import CANNOT_TELL, TOO_CLOSE, TOO_MANY, Noisy, beside, too_many, verdict
from tripcloak.audit.privacy import ENTRY, Privacy, read_privacy, too_little
from tripcloak.audit.rulebook import BrokenPart, Remark


@BOOK.rule("noise-suffices", "recount")
def noise_suffices(case: MatrixCase) -> str | None:
    """Where differential privacy is promised, the stated noise gives the stated epsilon and delta."""
    privacy = _stated(case)
    if privacy is None:
        return None
    if case.release.criterion.thresholds or case.release.seed is not None:
        return "noise goes with no threshold, and with no seed that could take it off again"
    if not (
        case.release.trips.dtype.kind == "i" and case.release.trips.min() >= math.ceil(privacy.threshold)
    ):
        return "some noisy numbers are not whole, or below the smallest that may be published"
    return too_little(privacy)


@BOOK.rule("noise-as-stated", "recount")
def noise_as_stated(case: MatrixCase) -> str | Remark | None:
    """Where noise is promised, published numbers are as far from the recount as it takes them."""
    privacy = _stated(case)
    if privacy is None:
        return None
    numbers = _numbers(case, privacy)
    if too_many(privacy, numbers):
        return TOO_MANY
    found = verdict(privacy, numbers)
    return Remark(CANNOT_TELL) if found is None else None if found else TOO_CLOSE


def _stated(case: MatrixCase) -> Privacy | None:
    stated = case.release.privacy
    return None if stated is None else read_privacy({ENTRY: stated.to_dict()})


def _numbers(case: MatrixCase, privacy: Privacy) -> Noisy:
    release, flows = case.release, case.matrix.flows
    group, groups = release.group_of_flow, release.n_groups
    kept = (group >= 0) & (group < groups)
    recount = np.bincount(group[kept], flows.trips[kept], minlength=groups).astype(np.int64)
    if flows.travellers is None:
        return Noisy(release.trips, recount, recount, np.ones(groups, dtype=bool))
    if flows.repeats is None:
        raise BrokenPart("the matrix does not tell how many trips each traveller makes in each flow")
    flow = np.repeat(np.arange(case.matrix.n_flows), np.diff(flows.travellers.offsets))
    origin, destination = (
        id_marks(tree.zones.ids[: tree.n_tiles].tolist())[tile[flow]] for tree, tile in case.matrix.axes[:2]
    )
    counted = counted_trips(
        flows.travellers.people, origin, destination, flows.repeats, privacy.contributions
    )
    total = int(counted.trips.sum())
    here = kept[flow]
    counted = Counted(counted.trips[here], counted.busy[here])
    found = beside(release.trips, recount, group[flow][here], flows.repeats[here], counted)
    return found._replace(all_counted=total)
