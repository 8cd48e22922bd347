"""Pace: how often the fixes of a typical person come, and the silence that parts trips at that pace."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from tripcloak.ground.masking import FEW
from tripcloak.ground.spelling import spelt

SILENCES = (180.0, 300.0, 600.0, 900.0, 1800.0, 3600.0)
"""Seconds of silence that end a trip, one for each pace: round numbers, so that they tell of nobody."""

MISSED = 3
"""Intervals between fixes that a silence lasts at least: one that fails to come must not end a trip."""

INTERVALS = tuple(silence / MISSED for silence in SILENCES[:-1])
"""Seconds between fixes up to which each of the silences serves; the last one serves all that is slower."""


class Pace(NamedTuple):
    """How often fixes come: the place of a silence among :data:`SILENCES`, None where too few people tell.

    >>> Pace(3).silence, Pace(None).silence, Pace(5).sparse
    (900.0, 180.0, True)
    """

    rung: int | None

    @property
    def silence(self) -> float:
        """Return the seconds of silence that end a trip; those of dense fixes where nothing tells."""
        return SILENCES[self.rung or 0]

    @property
    def sparse(self) -> bool:
        """Return whether fixes come so seldom that nobody is seen on the way, as calls and check-ins do."""
        return self.rung == len(SILENCES) - 1

    @property
    def words(self) -> str:
        """Return how far apart fixes are.

        >>> Pace(0).words, Pace(3).words, Pace(5).words
        ('1 minute apart or less', '5 minutes apart or less', 'more than 10 minutes apart')
        """
        if self.rung is None:
            return "nobody knows how far apart"
        if self.sparse:
            return f"more than {_lasting(INTERVALS[-1])} apart"
        return f"{_lasting(INTERVALS[self.rung])} apart or less"

    def note(self) -> str:
        """Return which silence was taken, and why."""
        taken = f"a silence of more than {_lasting(self.silence)} starts a new trip"
        if self.rung is None:
            return (
                f"too few ids have several fixes to tell how often these come, so {taken}; "
                f"{spelt('silence', 'SECONDS')} says otherwise"
            )
        return (
            f"the fixes of a typical id are mostly {self.words}, so {taken}; "
            f"{spelt('silence', 'SECONDS')} says otherwise"
        )


def pace_of(people: Mapping[int, int]) -> Pace:
    """Return the pace of a typical person, given how many people have each.

    The median of people is taken, whoever has how many fixes, and only where there are ten: nobody alone
    decides how the trips of all others are read.

    Examples
    --------
    >>> pace_of({0: 3, 3: 8}), pace_of({3: 9})
    (Pace(rung=3), Pace(rung=None))
    """
    total, passed = sum(people.values()), 0
    if total < FEW:
        return Pace(None)
    for rung in sorted(people):
        passed += people[rung]
        if 2 * passed >= total:
            break
    return Pace(rung)


def rung_of(interval: float) -> int:
    """Return the place of the silence that serves fixes which are so many seconds apart.

    >>> rung_of(60), rung_of(60.5), rung_of(300), rung_of(86_400)
    (0, 1, 3, 5)
    """
    return sum(interval > bound for bound in INTERVALS)


def _lasting(seconds: float) -> str:
    """Return a length of time in words.

    >>> _lasting(100), _lasting(60), _lasting(900), _lasting(3600)
    ('100 seconds', '1 minute', '15 minutes', '60 minutes')
    """
    if seconds % 60:
        return f"{seconds:g} seconds"
    minutes = round(seconds / 60)
    return f"{minutes} minute{'' if minutes == 1 else 's'}"
