"""The audit of a release in memory, before it is written: arrays against arrays."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tripcloak.ground.arrays import Ints
from tripcloak.ground.masking import mask_small
from tripcloak.ground.rulebook import BrokenPart, NotPromised, Remark, Rulebook, Verdict
from tripcloak.ground.threads import blocks
from tripcloak.trajectories.audit.containment import (
    RawSupports,
    Supports,
    count_companions,
    count_raw_supports,
    count_supports,
)
from tripcloak.trajectories.audit.crowds import fewest_sharing, people_in_boxes
from tripcloak.trajectories.audit.dummies import dummy_faults
from tripcloak.trajectories.audit.mixing import mixing_faults, read_zones
from tripcloak.trajectories.audit.noise import noise_faults
from tripcloak.trajectories.audit.promise import (
    NO_CHANGES,
    NO_DUMMIES,
    NOT_TOGETHER,
    Stated,
    coarse_faults,
    companion_faults,
    crowd_faults,
    lone_faults,
    raw_faults,
    read_stated,
    sharing_faults,
    support_faults,
    two_sided_faults,
)
from tripcloak.trajectories.audit.screening import BoxSpans, Samples
from tripcloak.trajectories.audit.spread import Machines, count_supports_there
from tripcloak.trajectories.model import Trajectories
from tripcloak.trajectories.release.release import TrajectoryRelease

AT_ONCE = 1 << 22
"""Samples that are looked at at a time."""


def audit_release(
    trajectories: Trajectories,
    release: TrajectoryRelease,
    *,
    jobs: int | None = None,
    machines: Machines | None = None,
) -> Verdict:
    """Return what an independent recount says about a release, before it is written.

    For every original trajectory the released ones that contain all its samples are counted, which is
    what is left to somebody who knows the whole trajectory (Mishra and Fiore 2025, II-B). No code of the
    methods or the measures takes part.

    Parameters
    ----------
    trajectories
        The original trajectories.
    release
        What was made of them.
    jobs
        Threads; as many as there are processors if not given. The audit is the same for any number.
    machines
        Others that count who contains whom, where there are such; the audit is the same.

    Examples
    --------
    >>> from tripcloak.trajectories import Boxes, Grid
    >>> made = Trajectories.of(user=[0, 1], t=[0, 0], x=[3, 7], y=[0, 0], grid=Grid())
    >>> wide = Boxes(*(np.array([v, v]) for v in (0, 1, 3, 8, 0, 1)))
    >>> from tripcloak.promises import Containment
    >>> told = dict(method="by hand", parameters={}, promise=Containment(k=2), grid=made.grid)
    >>> where = dict(offsets=np.arange(3), released_of=np.arange(2), box_of=np.arange(2))
    >>> release = TrajectoryRelease(boxes=wide, input_digest=made.digest, **told, **where)
    >>> audit = audit_release(made, release)
    >>> audit.safe, audit.smallest_support
    (True, 2)
    """
    case = Arrays(trajectories, release, jobs, machines)
    findings = BOOK.judge(case)
    try:
        counted = case.promise.whole
        numbers = Supports.told(case.supports if counted else None)
        numbers |= RawSupports.told(case.raw_supports if counted else None)
    except BrokenPart:
        numbers = Supports.told(None) | RawSupports.told(None)
    return Verdict.of(findings, **numbers)


@dataclass(frozen=True)
class Arrays:
    """What is audited: the original trajectories and a release of them."""

    trajectories: Trajectories
    release: TrajectoryRelease
    jobs: int | None = None
    machines: Machines | None = None

    @cached_property
    def promise(self) -> Stated:
        """Return what is promised, as the manifest will state it: the promise's own code decides nothing."""
        return read_stated(self.release.promise.to_manifest())

    @cached_property
    def supports(self) -> Supports:
        """Return in how many released trajectories each original one is contained."""
        if self.machines is not None:
            return count_supports_there(self.machines, *self.sides())
        return count_supports(*self.sides(), jobs=self.jobs)

    @cached_property
    def raw_supports(self) -> RawSupports:
        """Return in how many released trajectories people are found by what was dropped of them."""
        samples, spans = self.sides()
        owner, *columns = self.trajectories.dropped
        offsets = np.searchsorted(owner, np.arange(self.trajectories.n_users + 1))
        return count_raw_supports(samples, Samples(offsets, *columns), spans)

    def sides(self) -> tuple[Samples, BoxSpans]:
        """Return the original samples and the released boxes, or raise where boxes are not whole."""
        if shape_faults(self.release):
            raise BrokenPart("could not be checked: the released boxes are not whole")
        made = self.trajectories
        samples = Samples(made.offsets, made.t, made.x, made.y)
        return samples, BoxSpans(self.release.offsets, *self.release.boxes)

    @cached_property
    def companions(self) -> Ints:
        """Return how many others keep within delta of each released trajectory."""
        release, boxes, delta = self.release, self.release.boxes, self.promise.delta
        if shape_faults(release) or delta is None:
            raise BrokenPart("could not be checked: the released boxes or the promise are not whole")
        x, y = (np.asarray(side, np.float64) * release.grid.metres for side in (boxes.x0, boxes.y0))
        return count_companions(release.offsets, boxes.t0, x, y, delta=delta, jobs=self.jobs)


BOOK: Rulebook[Arrays] = Rulebook()


@BOOK.rule("promise-valid")
def promise_valid(case: Arrays) -> str | None:
    """The release makes a promise that means something."""
    assert case.promise
    return None


@BOOK.rule("input-unchanged")
def input_unchanged(case: Arrays) -> str | None:
    """The release was made of these very samples, on their grid."""
    if case.release.grid != case.trajectories.grid:
        return "the release is told on another grid than its input"
    return (
        None if case.release.input_digest == case.trajectories.digest else "the release is of another input"
    )


@BOOK.rule("boxes-whole")
def boxes_whole(case: Arrays) -> str | None:
    """Every released trajectory has samples, each with an extent, by time and without overlaps."""
    return shape_faults(case.release)


def shape_faults(release: TrajectoryRelease) -> str | None:
    """Return what is wrong with the shape of the released trajectories."""
    offsets, boxes = np.asarray(release.offsets), release.boxes
    n = len(boxes.t0)
    if len(offsets) < 2 or n == 0:
        return "nothing is released"
    if offsets[0] != 0 or offsets[-1] != n or (np.diff(offsets) < 1).any():
        return "a released trajectory has no samples"
    if any(len(side) != n for side in boxes):
        return "the sides of the released boxes differ in number"
    if any((high <= low).any() for low, high in (boxes[:2], boxes[2:4], boxes[4:])):
        return "a released box has no extent"
    within = np.ones(n, dtype=bool)
    within[offsets[:-1]] = False
    return "released boxes overlap in time" if (boxes.t0[1:] < boxes.t1[:-1])[within[1:]].any() else None


@BOOK.rule("everybody-accounted")
def everybody_accounted(case: Arrays) -> str | None:
    """Every original trajectory has a released one of its own, or none; no released one is left over."""
    told = np.asarray(case.release.released_of)
    if len(told) != case.trajectories.n_users:
        return "the release does not account for every original trajectory"
    kept = told[told >= 0]
    if case.promise.made_up:
        return "a made-up trajectory is said to be somebody's" if len(kept) else None
    if case.promise.parted:
        return _piece_faults(case)
    if not np.array_equal(np.sort(kept), _own_trajectories(case)):
        return "a released trajectory is nobody's, or two people's"
    if case.promise.contains and len(kept) < len(told):
        return (
            f"{mask_small(len(told) - len(kept), 'original trajectories')} are deleted, which nobody promised"
        )
    return None


def _own_trajectories(case: Arrays) -> Ints:
    """Return the released trajectories that must be somebody's: all that are not said to be dummies."""
    guards = case.release.guards
    if case.promise.profile is None or guards is None:
        return np.arange(case.release.n_released)
    return np.flatnonzero(np.asarray(guards) < 0)


def _piece_faults(case: Arrays) -> str | None:
    """Return whether a piece is nobody's, or somebody's first piece another than is said."""
    release, told = case.release, np.asarray(case.release.released_of)
    pieces = np.full(release.n_released, -1) if release.pieces is None else np.asarray(release.pieces)
    if len(pieces) != release.n_released or pieces.min() < 0 or pieces.max() >= len(told):
        return "a piece of a trajectory is nobody's"
    first = np.full(len(told), -1, np.int64)
    latest = np.argsort(-release.boxes.t0[release.offsets[:-1]].astype(np.int64), kind="stable")
    first[pieces[latest]] = latest
    return None if np.array_equal(first, told) else "somebody's first piece is another than is said"


@BOOK.rule("own-samples-held")
def own_samples_held(case: Arrays) -> str | Remark | None:
    """Every sample lies in a box of its own person's released trajectory."""
    made, release = case.trajectories, case.release
    if case.promise.moves:
        return NotPromised("not promised: released points may lie elsewhere than the original ones")
    box = np.asarray(release.box_of)
    if len(box) != made.n_samples or len(release.released_of) != made.n_users:
        return "the release does not account for every sample"
    if case.promise.contains and (box < 0).any():
        return f"{mask_small(int((box < 0).sum()), 'samples')} are deleted, which nobody promised"
    if (box >= release.n_boxes).any():
        return "a sample is said to be in a box that there is not"
    if shape_faults(release):
        raise BrokenPart("could not be checked: the released boxes are not whole")
    if case.promise.parted and (release.pieces is None or len(release.pieces) != release.n_released):
        return "a piece of a trajectory is nobody's"
    strays = sum(_strays(made, release, box, part) for part in blocks(made.n_samples, AT_ONCE))
    return f"{mask_small(strays, 'samples')} lie outside the box that stands for them" if strays else None


def _strays(made: Trajectories, release: TrajectoryRelease, box: Ints, part: slice) -> int:
    """Return how many of some samples do not lie in a box of their own person's released trajectory."""
    samples = np.arange(part.start, part.stop)
    owner = np.searchsorted(made.offsets, samples, side="right") - 1
    at = box[part]
    whose = np.searchsorted(release.offsets, at, side="right") - 1
    if release.pieces is None:
        held = whose == np.asarray(release.released_of)[owner]
    else:
        held = release.pieces[whose] == owner
    for column, low, high in zip(
        (made.t, made.x, made.y), release.boxes[::2], release.boxes[1::2], strict=True
    ):
        held &= (low[at] <= column[part]) & (column[part] < high[at])
    return int(np.count_nonzero(~held & (at >= 0)))


@BOOK.rule("support-reaches-k")
def support_reaches_k(case: Arrays) -> str | Remark | None:
    """All samples of each original trajectory are contained in k released ones or more."""
    if not case.promise.whole:
        return NotPromised(case.promise.not_linkage)
    return support_faults(case.supports, case.promise)


@BOOK.rule("two-sided-support-reaches-k")
def two_sided_support_reaches_k(case: Arrays) -> str | Remark | None:
    """K or more of them hold one of its samples in every box, for those who know that they know all."""
    if not case.promise.contains:
        return NotPromised(case.promise.not_linkage)
    return two_sided_faults(case.supports, case.promise)


@BOOK.rule("nobody-alone")
def nobody_alone(case: Arrays) -> str | Remark | None:
    """Every released trajectory may stand for two people or more."""
    if not case.promise.contains:
        return NotPromised(case.promise.not_linkage)
    return lone_faults(case.supports, case.promise)


@BOOK.rule("raw-record-reaches-k")
def raw_record_reaches_k(case: Arrays) -> str | Remark | None:
    """Kept samples and any that were dropped are contained in k released trajectories or more, or in none."""
    if not case.promise.contains:
        return NotPromised(case.promise.not_linkage)
    return raw_faults(case.raw_supports, case.promise)


@BOOK.rule("companions-reach-k")
def companions_reach_k(case: Arrays) -> str | Remark | None:
    """Each released trajectory has k - 1 others with its time stamps within delta at all of them."""
    if case.promise.delta is None:
        return NotPromised(NOT_TOGETHER)
    spans = zip(case.release.boxes[::2], case.release.boxes[1::2], strict=True)
    if any((np.asarray(high) - low != 1).any() for low, high in spans):
        return "a promise of colocation is about points, and some released boxes are larger"
    return companion_faults(case.companions, case.promise)


@BOOK.rule("boxes-hold-k")
def boxes_hold_k(case: Arrays) -> str | Remark | None:
    """In every released box k people or more have a sample."""
    if case.promise.kind != "presence":
        return NotPromised("not promised: no number of people in every box by itself")
    samples, spans = case.sides()
    people = people_in_boxes(samples, spans, enough=case.promise.asked, jobs=case.jobs)
    return crowd_faults(people, case.promise)


@BOOK.rule("m-samples-reach-k")
def m_samples_reach_k(case: Arrays) -> str | Remark | None:
    """Any m boxes of a released trajectory, or fewer, are those of k or more."""
    if case.promise.m is None:
        return NotPromised("not promised: nothing of whoever knows no more than some samples")
    return sharing_faults(fewest_sharing(case.sides()[1], case.promise.m), case.promise)


@BOOK.rule("pseudonyms-change-among-k")
def pseudonyms_change_among_k(case: Arrays) -> str | Remark | None:
    """Pseudonyms change only where k people are silent in one zone at once; everything else is told."""
    promise, release = case.promise, case.release
    if promise.width is None or promise.longest is None:
        return NotPromised(NO_CHANGES)
    samples, spans = case.sides()
    if release.pieces is None or _piece_faults(case):
        raise BrokenPart("could not be checked: nothing says whose the pieces are")
    return mixing_faults(
        samples,
        spans,
        release.pieces,
        read_zones(release.facts.get("zones"), 1.0),
        k=promise.asked,
        width=promise.width / release.grid.metres,
        longest=promise.longest / release.grid.seconds,
    )


@BOOK.rule("dummies-meet-profile")
def dummies_meet_profile(case: Arrays) -> str | Remark | None:
    """Everybody's trajectory is told as recorded, beside dummies like it that meet the promised profile."""
    profile, release = case.promise.profile, case.release
    if profile is None:
        return NotPromised(NO_DUMMIES)
    samples, spans = case.sides()
    if release.guards is None or len(release.guards) != release.n_released:
        raise BrokenPart("could not be checked: nothing says which trajectories are dummies")
    metres = release.grid.metres
    samples = samples._replace(
        x=np.asarray(samples.x) * float(metres), y=np.asarray(samples.y) * float(metres)
    )
    places = {side: np.asarray(getattr(spans, side)) * float(metres) for side in ("x0", "x1", "y0", "y1")}
    return dummy_faults(
        samples,
        spans._replace(**places),
        release.whose,
        release.guards,
        profile,
        step=float(metres),
        asked=release.profiles,
    )


@BOOK.rule("noise-adds-up")
def noise_adds_up(case: Arrays) -> str | Remark | None:
    """What noisy numbers spend is no more than is promised, and their noise no less than that takes."""
    return noise_faults(case.promise, case.release.method, case.release.parameters)


@BOOK.rule("made-up-is-coarse")
def made_up_is_coarse(case: Arrays) -> str | Remark | None:
    """Made-up samples are cells and slots of a grid that was laid without the input, and no finer."""
    if not case.promise.made_up:
        return NotPromised("not promised: released trajectories are made of people's own")
    grid, spans = case.release.grid, case.sides()[1]
    times = [np.asarray(side, np.int64) * grid.seconds + grid.start for side in spans[1:3]]
    places = [np.asarray(side, np.int64) * grid.metres for side in spans[3:]]
    return coarse_faults(case.release.parameters, (grid.seconds, grid.metres), [*times, *places])
