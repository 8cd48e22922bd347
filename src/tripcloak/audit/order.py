"""Order: what the caller asked the release to promise, beside what its manifest says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tripcloak.audit.promise import COVERED, UNITS
from tripcloak.errors import InputError


@dataclass(frozen=True)
class Order:
    """What was ordered; a release that promises less fails.

    Parameters
    ----------
    k, unit
        A threshold, and what it counts: the manifest's main unit if not given.
    known_items
        How many items of a trip a reader may know for k to hold, if not all of them.
    diversity
        How many different tiles or places every released zone must cover.
    closeness
        How far the destinations of an origin zone may be from those of all.

    Examples
    --------
    >>> Order(k=10).thresholds("travellers")
    {'travellers': 10}
    >>> Order(k=1)
    Traceback (most recent call last):
    tripcloak.errors.InputError: k must be at least 2 (a group of one hides nobody); got 1
    """

    k: float | None = None
    unit: str | None = None
    diversity: Mapping[str, int] = field(default_factory=dict)
    closeness: float | None = None
    known_items: int | None = None

    def __post_init__(self) -> None:
        if self.unit is not None and self.unit not in UNITS:
            raise InputError(f"unit must be one of {', '.join(UNITS)}; got {self.unit!r}")
        if self.k is None and self.unit is not None:
            raise InputError("give k together with the unit it counts")
        if self.k is not None and not self.k >= 2:
            raise InputError(f"k must be at least 2 (a group of one hides nobody); got {self.k:g}")
        if self.known_items is not None and (self.k is None or not self.known_items >= 1):
            raise InputError("give the number of known items, 1 or more, together with k")
        for what, least in self.diversity.items():
            if what not in COVERED or not least >= 2:
                raise InputError(
                    f"l must be a whole number of at least 2, of {' or '.join(COVERED)}; got {least}"
                )
        if self.closeness is not None and not 0 < self.closeness < 1:
            raise InputError(
                f"t is a share of the volume, neither none nor all of it; got {self.closeness:g}"
            )

    def thresholds(self, main: str) -> dict[str, float]:
        """Return the threshold that was ordered, by unit; ``main`` is the unit where none was named."""
        return {} if self.k is None else {self.unit or main: self.k}
