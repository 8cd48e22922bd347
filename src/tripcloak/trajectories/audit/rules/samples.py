"""Rules about the published boxes, and about the promise counted afresh against raw fixes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from tripcloak.ground.arrays import Bools, Floats
from tripcloak.ground.manifest import read_run
from tripcloak.ground.masking import mask_small
from tripcloak.ground.rulebook import NotPromised, Remark
from tripcloak.trajectories.audit.crowds import fewest_sharing, people_in_boxes
from tripcloak.trajectories.audit.dummies import dummy_faults
from tripcloak.trajectories.audit.evidence import BOOK, MICRO, TrajectoryEvidence
from tripcloak.trajectories.audit.mixing import mixing_faults, read_zones
from tripcloak.trajectories.audit.noise import noise_faults
from tripcloak.trajectories.audit.promise import (
    NO_CHANGES,
    NO_DUMMIES,
    NOT_TOGETHER,
    coarse_faults,
    companion_faults,
    crowd_faults,
    lone_faults,
    raw_faults,
    sharing_faults,
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
    if case.manifest.promise.made_up:
        return NotPromised("not promised: released trajectories are nobody's, and their number is noisy")
    if case.manifest.promise.parted:
        return NotPromised("not promised: trajectories are released in pieces")
    if case.manifest.promise.profile is not None:
        return NotPromised("not promised: dummies are released beside people's own trajectories")
    if released > people:
        return "there are more released trajectories than people"
    if not case.manifest.promise.contains:
        return Remark("there are no more released trajectories than people; some may be deleted")
    return (
        f"{mask_small(people - released, 'people')} have no released trajectory"
        if released < people
        else None
    )


@BOOK.rule("support-reaches-k")
def support_reaches_k(case: TrajectoryEvidence) -> str | Remark | None:
    """All fixes of each person are contained in k released trajectories or more."""
    if not case.manifest.promise.whole:
        return NotPromised(case.manifest.promise.not_linkage)
    return support_faults(case.supports, case.manifest.promise)


@BOOK.rule("two-sided-support-reaches-k")
def two_sided_support_reaches_k(case: TrajectoryEvidence) -> str | Remark | None:
    """K or more of them hold one of the fixes in every box, for those who know that they know all."""
    if not case.manifest.promise.contains:
        return NotPromised(case.manifest.promise.not_linkage)
    return two_sided_faults(case.supports, case.manifest.promise)


@BOOK.rule("nobody-alone")
def nobody_alone(case: TrajectoryEvidence) -> str | Remark | None:
    """Every released trajectory may stand for two people or more."""
    if not case.manifest.promise.contains:
        return NotPromised(case.manifest.promise.not_linkage)
    return lone_faults(case.supports, case.manifest.promise)


@BOOK.rule("raw-record-reaches-k")
def raw_record_reaches_k(case: TrajectoryEvidence) -> str | Remark | None:
    """Kept fixes and any that were dropped are contained in k released trajectories or more, or in none."""
    if not case.manifest.promise.contains:
        return NotPromised(case.manifest.promise.not_linkage)
    return raw_faults(case.raw_supports, case.manifest.promise)


@BOOK.rule("companions-reach-k")
def companions_reach_k(case: TrajectoryEvidence) -> str | Remark | None:
    """Each released trajectory has k - 1 others with its time stamps within delta at all of them."""
    if case.manifest.promise.delta is None:
        return NotPromised(NOT_TOGETHER)
    spans = case.spans
    step, metres = case.manifest.seconds * 1e6, case.manifest.metres
    sizes = ((spans.t0, spans.t1, step), (spans.x0, spans.x1, metres), (spans.y0, spans.y1, metres))
    if any(np.any(high - low != size) for low, high, size in sizes):
        return "a promise of colocation is about points, and some released boxes are larger"
    return companion_faults(case.companions, case.manifest.promise)


@BOOK.rule("boxes-hold-k")
def boxes_hold_k(case: TrajectoryEvidence) -> str | Remark | None:
    """In every released box k people or more have a fix."""
    promise = case.manifest.promise
    if promise.kind != "presence":
        return NotPromised("not promised: no number of people in every box by itself")
    people = people_in_boxes(case.samples, case.spans, enough=promise.asked, jobs=case.jobs)
    return crowd_faults(people, promise)


@BOOK.rule("m-samples-reach-k")
def m_samples_reach_k(case: TrajectoryEvidence) -> str | Remark | None:
    """Any m boxes of a released trajectory, or fewer, are those of k or more."""
    promise = case.manifest.promise
    if promise.m is None:
        return NotPromised("not promised: nothing of whoever knows no more than some samples")
    return sharing_faults(fewest_sharing(case.spans, promise.m), promise)


@BOOK.rule("pseudonyms-change-among-k")
def pseudonyms_change_among_k(case: TrajectoryEvidence) -> str | Remark | None:
    """Pseudonyms change only where k people are silent in one zone at once; everything else is told."""
    promise = case.manifest.promise
    if promise.width is None or promise.longest is None:
        return NotPromised(NO_CHANGES)
    whose, told = case.whose, read_run(case.folder).get("facts")
    zones = read_zones(told.get("zones") if isinstance(told, dict) else None, case.manifest.metres)
    return mixing_faults(
        case.samples,
        case.spans,
        whose,
        zones,
        k=promise.asked,
        width=promise.width,
        longest=promise.longest * MICRO,
    )


@BOOK.rule("dummies-meet-profile")
def dummies_meet_profile(case: TrajectoryEvidence) -> str | Remark | None:
    """Everybody's trajectory is told as recorded, beside dummies like it that meet the promised profile."""
    profile = case.manifest.promise.profile
    if profile is None:
        return NotPromised(NO_DUMMIES)
    return dummy_faults(
        case.samples,
        case.spans,
        case.whose,
        case.guards,
        profile,
        step=float(case.manifest.metres),
        asked=case.asked_profiles,
    )


@BOOK.rule("noise-adds-up")
def noise_adds_up(case: TrajectoryEvidence) -> str | Remark | None:
    """What noisy numbers spend is no more than is promised, and their noise no less than that takes."""
    return noise_faults(case.manifest.promise, case.facts.get("method"), case.facts.get("parameters"))


@BOOK.rule("made-up-is-coarse")
def made_up_is_coarse(case: TrajectoryEvidence) -> str | Remark | None:
    """Made-up samples are cells and slots of a grid that was laid without the input, and no finer."""
    told = case.manifest
    if not told.promise.made_up:
        return NotPromised("not promised: released trajectories are made of people's own")
    parameters = case.facts.get("parameters")
    times = [side / MICRO for side in case.spans[1:3]]
    steps = told.seconds, told.metres
    return coarse_faults(parameters if isinstance(parameters, dict) else {}, steps, [*times, *case.spans[3:]])


ROUNDING_TOLERANCE = 1e-9
"""Degrees by which rounding of the projection may differ."""

SCALE = 1e6
"""Degrees are told to the sixth decimal."""

MARGIN, SHARE = 3e-6, 0.011
"""Degrees that rounding outwards adds at most, and the share of a box that bent edges do."""

ALONG = (0.0, 0.25, 0.5, 0.75)
"""Where on each edge of a box it is looked at; edges are bent in degrees."""

BATCH = 1 << 18


class DegreesPart(NamedTuple):
    """Some of the different boxes, a row each: stated degrees, and those of points around them."""

    west: Floats
    south: Floats
    east: Floats
    north: Floats
    lon: Floats
    lat: Floats


@BOOK.rule("degrees-enclose-metres")
def degrees_enclose_metres(case: TrajectoryEvidence) -> str | None:
    """Every box in degrees encloses the one in metres and is hardly wider: it tells no other place."""
    outside = wide = 0
    for part in _parts(case):
        outside += int((~_encloses(part)).sum())
        wide += int((~_is_tight(part)).sum())
    if outside:
        return f"{mask_small(outside, 'different boxes')} in degrees do not enclose the one in metres"
    return (
        f"{mask_small(wide, 'different boxes')} in degrees are wider or finer than rounding makes them"
        if wide
        else None
    )


def _parts(case: TrajectoryEvidence) -> Iterator[DegreesPart]:
    columns = case.numbers(
        "SELECT DISTINCT x_min::DOUBLE AS x0, x_max::DOUBLE AS x1, y_min::DOUBLE AS y0, y_max::DOUBLE AS y1, "
        f"lon_min, lat_min, lon_max, lat_max FROM {case.table}"
    )
    for start in range(0, len(columns["x0"]), BATCH):
        sides = [column[start : start + BATCH, None] for column in columns.values()]
        x0, x1, y0, y1, west, south, east, north = sides
        lon, lat = case.project(*_outline(x0, x1, y0, y1), back=True)
        # A box across the 180th meridian runs on past 180.
        yield DegreesPart(
            west,
            south,
            east,
            north,
            west - ROUNDING_TOLERANCE + (lon - west + ROUNDING_TOLERANCE) % 360.0,
            lat,
        )


def _outline(x0: Floats, x1: Floats, y0: Floats, y1: Floats) -> tuple[Floats, Floats]:
    """Return points around each box, corners among them."""
    along = np.array(ALONG)[None, :]
    still = np.ones_like(along)
    x = np.hstack([x0 + (x1 - x0) * along, x1 * still, x1 - (x1 - x0) * along, x0 * still])
    y = np.hstack([y0 * still, y0 + (y1 - y0) * along, y1 * still, y1 - (y1 - y0) * along])
    return x, y


def _encloses(part: DegreesPart) -> Bools:
    held: Bools = (part.south - ROUNDING_TOLERANCE <= part.lat) & (
        part.lat <= part.north + ROUNDING_TOLERANCE
    )
    held &= _goes_around(part) | (part.lon <= part.east + ROUNDING_TOLERANCE)
    return np.asarray(held.all(axis=1))


def _goes_around(part: DegreesPart) -> Bools:
    """Return which boxes hold a pole, and so all longitudes."""
    around: Bools = part.east - part.west >= 360.0
    return around


def _is_tight(part: DegreesPart) -> Bools:
    tight = (part.west >= -180.0) & (part.west < 180.0)
    for side in part[:4]:
        tight &= np.rint(side * SCALE) / SCALE == side
    around = _goes_around(part)
    tight &= np.where(
        around, (part.west == -180.0) & (part.east == 180.0), _close(part.west, part.east, part.lon)
    )
    # Around a pole latitudes go up to it, further than any edge.
    south = np.where(around & (part.south == -90.0), part.lat.min(axis=1, keepdims=True), part.south)
    north = np.where(around & (part.north == 90.0), part.lat.max(axis=1, keepdims=True), part.north)
    tight &= _close(south, north, part.lat)
    rows: Bools = tight[:, 0]
    return rows


def _close(low: Floats, high: Floats, around: Floats) -> Bools:
    """Return whether two edges are hardly further out than points around a box, by how its edges bend."""
    least, most = around.min(axis=1, keepdims=True), around.max(axis=1, keepdims=True)
    edges = around[:, (np.arange(4)[:, None] * len(ALONG) + np.arange(len(ALONG) + 1)) % around.shape[1]]
    bend = np.abs(np.diff(edges, 2, axis=2)).max(axis=(1, 2))[:, None]
    slack = MARGIN + np.maximum(SHARE * (most - least), bend)
    close: Bools = (least - low <= slack) & (high - most <= slack)
    return close
