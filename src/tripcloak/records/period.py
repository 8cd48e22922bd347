"""When the trips of an input were made: a period that no stray clock decides, and how exact times are."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

import numpy as np

from tripcloak.ground.arrays import Ints
from tripcloak.ground.spelling import spelt

SECOND = 1_000_000
DAY = 86_400 * SECOND
MOST, FAR, LEAST_DAYS = 0.9, 10.0, 30
"""The share by which it is told how far apart times are, and how much further, and days, a stray one is."""
STEPS = {86_400: "day", 3_600: "hour", 1_800: "half hour", 900: "quarter of an hour", 600: "10 minutes",
         300: "5 minutes", 60: "minute", 1: "second"}  # fmt: skip
NEARLY_ALL, ENOUGH = 0.99, 20


class Period(NamedTuple):
    """The first and the last day, what times are rounded to, and whether some lie far from all others."""

    first: date
    last: date
    rounded_to: str | None
    stray: bool

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            "first_day": self.first.isoformat(),
            "last_day": self.last.isoformat(),
            "times_to": self.rounded_to,
            "stray_times": self.stray,
        }

    def stray_words(self) -> str | None:
        """Return the warning on stray times; None where there are none."""
        if not self.stray:
            return None
        return (
            "some times lie far before or after all others; the period is that of the others. Leave them out "
            f"with {spelt('where')}"
        )


def look_at_times(instants: Ints, timezone: str = "UTC") -> Period | None:
    """Return when trips were made, given some of the times; None where there are none.

    Parameters
    ----------
    instants
        Microseconds since 1970.

    Examples
    --------
    >>> quarters = np.arange(0, 300 * DAY, 900 * SECOND)
    >>> found = look_at_times(np.append(quarters, 40_000 * DAY))
    >>> found.first.isoformat(), found.last.isoformat(), found.rounded_to, found.stray
    ('1970-01-01', '1970-10-27', 'quarter of an hour', True)
    """
    if not len(instants):
        return None
    middle = np.median(instants)
    away = np.abs(instants - middle)
    near = away <= max(FAR * float(np.quantile(away, MOST)), LEAST_DAYS * DAY)
    kept = instants[near]
    first, last = (_day(int(edge), timezone) for edge in (kept.min(), kept.max()))
    steps = (words for step, words in STEPS.items() if (kept % (step * SECOND) == 0).mean() >= NEARLY_ALL)
    return Period(first, last, next(steps, None) if len(kept) >= ENOUGH else None, not near.all())


def _day(instant: int, timezone: str) -> date:
    try:
        return datetime.fromtimestamp(instant / SECOND, ZoneInfo(timezone)).date()
    except (ValueError, OverflowError, OSError):
        # Beyond the years that a date can hold.
        return date.max if instant > 0 else date.min
