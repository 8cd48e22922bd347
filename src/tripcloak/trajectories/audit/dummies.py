"""What dummies amount to, counted afresh: disclosure of places and of ways, distance, times and speeds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from tripcloak.ground.arrays import Bools, Floats, Ints
from tripcloak.ground.masking import mask_small
from tripcloak.trajectories.audit.screening import BoxSpans, Samples
from tripcloak.trajectories.audit.told import by_person, where_samples_are

MANY = 1e15
"""Ways beyond which nobody counts."""
ROUNDING = 1e-9
CORNERS = 2.0
"""By how many steps of place rounding may change a distance between two samples, on both sides together."""


class Profile(NamedTuple):
    """What is promised of dummies: both disclosures at most, the distance at least, in cells of metres."""

    sd: float
    ld: float
    dst: float
    cell: float


def dummy_faults(
    samples: Samples,
    spans: BoxSpans,
    whose: Ints,
    guards: Ints,
    profile: Profile,
    step: float,
    asked: Floats | None = None,
) -> str | None:
    """Return what is wrong with trajectories and their dummies, or nothing.

    Parameters
    ----------
    samples
        The original trajectories; places in metres.
    spans
        The released boxes, in the same units.
    whose
        The original trajectory of each released one, -1 of dummies.
    guards
        The original trajectory that each dummy stands beside, -1 of people's own.
    profile
        What is promised.
    step
        Metres of a step of place.
    asked
        What each person of the input asks for beyond that: both disclosures and the distance, a row each.
    """
    if ((whose >= 0) == (guards >= 0)).any():
        return "a released trajectory is neither somebody's nor a dummy, or both"
    told = by_person(spans, whose)
    where = where_samples_are(samples, told)
    released = np.isin(np.arange(len(samples.offsets) - 1), whose)
    astray = (where.outside & np.repeat(released, np.diff(samples.offsets))).sum()
    if told.overlaps or len(told.changes) or astray or where.empty:
        return "a person's own trajectory is not told as it was recorded"
    own_of = np.full(len(released), -1, np.int64)
    own_of[whose[whose >= 0]] = np.flatnonzero(whose >= 0)
    own = np.where(whose >= 0, np.arange(len(whose)), own_of[np.maximum(guards, 0)])
    if (own < 0).any():
        return "a dummy stands beside somebody who is not released"
    limits = np.tile(np.array(profile[:3], np.float64), (len(whose), 1))
    if asked is not None:
        if len(asked) != len(released) or not _is_stricter(asked, profile):
            return "somebody's own profile is none, or asks for less than is promised to everybody"
        limits = asked[np.maximum(whose, 0)]
    return _likeness_faults(spans, own, step) or _profile_faults(spans, own, limits, profile.cell)


def _likeness_faults(spans: BoxSpans, own: Ints, step: float) -> str | None:
    """Return whether a dummy can be told from its trajectory by times, by widths or by speed."""
    lengths = np.diff(spans.offsets)
    if (lengths != lengths[own]).any():
        return "a dummy has another number of samples than its trajectory"
    at = np.arange(spans.offsets[-1])
    true = np.repeat(spans.offsets[own] - spans.offsets[:-1], lengths) + at
    sizes = (spans.x1 - spans.x0, spans.y1 - spans.y0)
    if any((side != side[true]).any() for side in (spans.t0, spans.t1, *sizes)):
        return "a dummy has other times than its trajectory, or boxes of another size"
    begins = np.zeros(len(at), dtype=bool)
    begins[spans.offsets[:-1]] = True
    later = np.flatnonzero(~begins)
    if not len(later):
        return None
    far = np.hypot(spans.x0[later] - spans.x0[later - 1], spans.y0[later] - spans.y0[later - 1])
    lasts = np.asarray(spans.t0[later] - spans.t0[later - 1], np.float64)
    whose = np.repeat(own, lengths)[later]
    released = np.repeat(np.arange(len(own)), lengths)[later]
    fastest = np.zeros(len(own))
    truly = whose == released
    np.maximum.at(fastest, whose[truly], far[truly] / lasts[truly])
    fast = int((far > fastest[whose] * lasts + CORNERS * step).sum())
    return f"{mask_small(fast, 'samples')} of dummies are reached faster than anybody went" if fast else None


def _is_stricter(asked: Floats, profile: Profile) -> bool:
    sd, ld, dst = asked.T
    return bool(((sd <= profile.sd) & (ld <= profile.ld) & (dst >= profile.dst)).all())


def _profile_faults(spans: BoxSpans, own: Ints, limits: Floats, cell: float) -> str | None:
    short = 0
    for group in _groups(own):
        sd, ld, dst = disclosures(spans, group, cell)
        most_sd, most_ld, least = limits[group[:, 0]].T
        missed = (sd > most_sd + ROUNDING) | (ld > most_ld + ROUNDING) | (dst < least - ROUNDING)
        short += int(missed.sum())
    return f"{mask_small(short, 'people')} have dummies that do not meet the profile" if short else None


def _groups(own: Ints) -> Iterator[Ints]:
    """Yield people with as many dummies: a row each, own trajectory first."""
    order = np.lexsort((np.arange(len(own)) != own, own))
    begins = np.flatnonzero(np.diff(own[order], prepend=-1))
    sizes = np.diff(np.append(begins, len(own)))
    for size in np.unique(sizes).tolist():
        yield order[begins[sizes == size][:, None] + np.arange(size)]


def disclosures(spans: BoxSpans, group: Ints, cell: float) -> tuple[Floats, Floats, Floats]:
    """Return short-term disclosure, long-term disclosure and distance of people, by equations 2.6 to 2.8.

    Parameters
    ----------
    group
        A row a person: own trajectory and dummies, all of as many boxes at the same times.
    cell
        How wide a cell is.

    Examples
    --------
    >>> x = np.array([0, 1, 2, 2, 1, 0])
    >>> spans = BoxSpans(np.array([0, 3, 6]), *([np.tile([0, 1, 2], 2)] * 2), x, x + 1, x * 0, x * 0 + 1)
    >>> [round(float(one[0]), 6) for one in disclosures(spans, np.array([[0, 1]]), 1.0)]
    [0.666667, 0.25, 1.333333]
    """
    lengths = np.diff(spans.offsets)[group[:, 0]]
    order = np.argsort(-lengths, kind="stable")
    group, lengths = group[order], lengths[order]
    people, size = group.shape
    short, away = np.zeros(people), np.zeros(people)
    ways, before = np.ones((people, size)), np.zeros((people, size, 2))
    # Invariant: ways lead to the place of each trajectory at the moment before, of who has that many.
    for at in range(int(lengths[0])):
        n = int(np.searchsorted(-lengths, -at, "left"))
        rows = spans.offsets[group[:n]] + at
        x, y = spans.x0[rows], spans.y0[rows]
        place = np.floor(np.stack([x, y], axis=2) / cell)
        same = (place[:, :, None] == place[:, None, :]).all(axis=3)
        short[:n] += 1.0 / _first(same).sum(axis=1)
        away[:n] += (np.hypot(x - x[:, :1], y - y[:, :1]) / cell).sum(axis=1)
        if at:
            step = same & (before[:n, :, None] == before[:n, None, :]).all(axis=3)
            fresh = np.where(_first(step), ways[:n], 0.0)
            ways[:n] = np.minimum((same * fresh[:, None, :]).sum(axis=2), MANY)
        before[:n] = place
    last = (before[:, :, None] == before[:, None, :]).all(axis=3)
    total = np.where(_first(last), ways, 0.0).sum(axis=1)
    back = np.argsort(order)
    return (short / lengths)[back], (1.0 / total)[back], (away / lengths / max(size - 1, 1))[back]


def _first(same: Bools) -> Bools:
    """Return which of each row is the first of those that are the same as it."""
    earlier = np.tril(np.ones(same.shape[1:], dtype=bool), -1)
    return np.asarray(~np.any(same & earlier, axis=2))
