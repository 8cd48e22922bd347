"""The result in plain words: how coarse, how much withheld, how good a guess is, and whether it is of use."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from tripcloak.ground.spelling import spelt
from tripcloak.promises.counted import ones_of
from tripcloak.trajectories.reading import ReadTrajectories
from tripcloak.trajectories.reading.projection import SPAN_KM
from tripcloak.trajectories.release.guess import BesideGuess, OwnerGuess
from tripcloak.trajectories.release.release import TrajectoryRelease

USELESS_MINUTES = 24 * 60.0
"""A typical box that lasts as long does not tell the time of day."""

USELESS_KM = 50.0
"""A typical box as wide does not tell one town from the next."""

USELESS_SHARE = 0.5
"""Nor does one of this share of the extent that ten people reach tell one side of it from the other."""

_REPEATED = ("duplicate", "repeated")
_UNWANTED = ("outside_box", "outside_polygon", "outside_window")


def plain_words(
    reading: ReadTrajectories,
    release: TrajectoryRelease,
    measures: Mapping[str, Any],
    guess: OwnerGuess | None,
    beside: BesideGuess | None = None,
) -> tuple[str, ...]:
    """Return the result in sentences for the owner of the data; numbers in them are not released.

    Parameters
    ----------
    measures
        All measures of the release, by name.
    guess, beside
        How often simple guesses are right, where they can be made.
    """
    told = [
        f"{release.n_released:,} trajectories of {release.n_boxes:,} samples are released; "
        f"{release.promise.in_brief()}.",
        _size(release, measures),
        _withheld(reading, release, measures),
        "" if guess is None else _sentence(guess.sentence("pieces" if release.promise.parted else "people")),
        "" if beside is None else _sentence(beside.sentence()),
        _use(reading, release, measures),
    ]
    return tuple(words for words in told if words)


def useless(minutes: float, km: float, extent_km: tuple[float, float] | None) -> tuple[str, ...]:
    """Return what a typical box does not tell: where, when, or both; nothing where it is fine enough.

    Parameters
    ----------
    minutes, km
        How long and how wide the box of a typical sample is.
    extent_km
        How far ten people reach, from west to east and from south to north.

    Examples
    --------
    >>> useless(9 * 24 * 60, 175.0, None), useless(60, 2.0, (30.0, 30.0)), useless(60, 15.0, (30.0, 30.0))
    (('where', 'when'), (), ('where',))
    """
    across = None if extent_km is None else math.sqrt(extent_km[0] * extent_km[1])
    wide = km >= USELESS_KM or (across is not None and 0 < USELESS_SHARE * across <= km)
    return (*(("where",) if wide else ()), *(("when",) if minutes >= USELESS_MINUTES else ()))


def lasting(minutes: float) -> str:
    """Return a length of time in the unit that suits it.

    >>> lasting(45), lasting(90), lasting(9 * 24 * 60)
    ('45 minutes', '1.5 hours', '9 days')
    """
    if minutes < 60:
        return f"{minutes:.3g} minutes"
    hours = minutes / 60
    return f"{hours:.3g} hours" if hours < 48 else f"{hours / 24:.3g} days"


def across(km: float) -> str:
    """Return a length in the unit that suits it.

    >>> across(0.14142), across(174.6)
    ('141 m', '175 km')
    """
    return f"{km * 1000:,.0f} m" if km < 1 else f"{km:,.3g} km"


def _typical(measures: Mapping[str, Any]) -> tuple[float, float] | None:
    """Return minutes and kilometres of the box of a typical sample; None where nothing is left."""
    minutes = measures["duration_minutes_per_original_sample"]["median"]
    area = measures["area_km2_per_original_sample"]["median"]
    return None if minutes is None or area is None else (minutes, math.sqrt(area))


def _size(release: TrajectoryRelease, measures: Mapping[str, Any]) -> str:
    if release.promise.made_up:
        return "They are nobody's: they were drawn from noisy numbers, and none stands for a person."
    if release.promise.moves_samples:
        km, minutes = (measures[name]["mean"] for name in ("spatial_error_km", "time_error_minutes"))
        if km is None or minutes is None:
            return ""
        return f"Samples were moved by {across(km)} and {lasting(minutes)} on average."
    typical = _typical(measures)
    if typical is None:
        return ""
    minutes, km = typical
    return (
        f"A typical sample became a box {across(km)} across that lasts {lasting(minutes)}: half of the "
        "samples are in one as small, and half in one as short."
    )


def _withheld(reading: ReadTrajectories, release: TrajectoryRelease, measures: Mapping[str, Any]) -> str:
    several = ones_of(release.promise.id_is).several
    cleaning = reading.cleaning
    unwanted = sum(cleaning.dropped.get(name, 0) for name in _UNWANTED)
    lost = sum(n for name, n in cleaning.dropped.items() if name not in (*_REPEATED, *_UNWANTED))
    if release.promise.made_up:
        share = lost / max(cleaning.rows - unwanted, 1)
        return f"{share:.1%} of the fixes that were asked for were left out when they were read."
    told = (
        f"{measures['deleted_users']:.1%} of the {several} and {measures['deleted']:.1%} of the samples are "
        "withheld"
    )
    share = lost / max(cleaning.rows - unwanted, 1)
    return f"{told}; {share:.1%} of the fixes that were asked for were left out when they were read."


def _use(reading: ReadTrajectories, release: TrajectoryRelease, measures: Mapping[str, Any]) -> str:
    """Return that the precision is useless, and what would help; nothing where it is not."""
    typical = None if release.promise.moves_samples else _typical(measures)
    if typical is None:
        return ""
    extent = reading.facts["extent_km"]
    untold = useless(*typical, None if extent is None else (extent[0], extent[1]))
    if not untold:
        return ""
    several = ones_of(release.promise.id_is).several
    return (
        f"This precision is useless to tell {' or '.join(untold)} {several} were. What would help: "
        f"{', '.join(_helps(release, untold, far=extent is not None and max(extent) >= SPAN_KM))}, or more "
        f"{several}."
    )


def _helps(release: TrajectoryRelease, untold: tuple[str, ...], *, far: bool) -> list[str]:
    k = release.promise.k or 0
    helps = [f"a smaller k ({spelt('k', max(2, int(k) // 2))})"] if k > 2 else []
    if "where" in untold:
        helps.append(f"a smaller area ({spelt('box', 'south,west,north,east')})")
    if "where" in untold and far:
        helps.append("a release for each region (`tripcloak trajectories anonymise --regions auto`)")
    if "when" in untold:
        helps.append(f"a shorter time ({spelt('since', 'DAY')}, {spelt('until', 'DAY')})")
    return helps


def _sentence(words: str) -> str:
    return f"{words[0].upper()}{words[1:]}."
