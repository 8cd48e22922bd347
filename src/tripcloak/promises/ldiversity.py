"""l-diversity: a released zone must leave open where exactly a trip began or ended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, get_args

from tripcloak.ground.arrays import Bools
from tripcloak.ground.errors import InputError
from tripcloak.promises.promise import Covered, FlowGroups, Input, Passages, Promise

MOST = 2**31
"""More than any hierarchy has tiles."""


@dataclass(frozen=True, kw_only=True)
class LDiversity(Promise):
    """Both zones of a released group cover at least ``l`` different tiles, or places, that occur.

    The distinct l-diversity of Machanavajjhala et al. (2007) with the exact place as what is sensitive,
    as the ATG paper (section 5) proposes it for areas: each initial area is a location, or holds several
    points of interest that count as locations. A zone above a diverse zone is diverse, so this is a
    promise like any other. It says nothing about people: use it together with k-anonymity.

    Parameters
    ----------
    l
        How many different ones at least.
    of
        ``tiles`` that occur on the axis, or ``places``: the values of a column named when reading.

    Examples
    --------
    >>> LDiversity(l=3).sentence()
    'at least 3 tiles that occur in either zone'
    >>> LDiversity(l=1)
    Traceback (most recent call last):
    tripcloak.InputError: l must be a whole number of at least 2 (one place is no choice); got 1
    """

    kind: ClassVar[str] = "l-diversity"
    joins: ClassVar[bool] = True
    lacks: ClassVar[str] = "l-diversity counts places, not people: give it together with k-anonymity"

    l: int = 3  # noqa: E741 - the letter the promise is named after
    of: Covered = "tiles"

    def __post_init__(self) -> None:
        if not 2 <= self.l < MOST or self.l != int(self.l):
            raise InputError(
                f"l must be a whole number of at least 2 (one place is no choice); got {self.l:g}"
            )
        if self.of not in get_args(Covered):
            raise InputError(f"l counts {' or '.join(get_args(Covered))}; got {self.of!r}")

    @property
    def floors(self) -> dict[Covered, int]:
        """Return {of: l}."""
        return {self.of: int(self.l)}

    def resolve(self, matrix: Input) -> LDiversity:
        """Return the promise as it is; an error where the matrix knows no such places."""
        matrix.covers(self.of)
        return self

    def safe(self, groups: FlowGroups) -> Bools:
        """Return, for every group, whether its two zones cover enough."""
        origins, destinations = groups.matrix.covers(self.of)
        enough: Bools = (origins[groups.origin] >= self.l) & (destinations[groups.destination] >= self.l)
        return enough

    def sentence(self) -> str:
        """Return the promise in words."""
        return f"at least {int(self.l):,} {self.of} that occur in either zone"

    def in_full(self) -> Passages:
        """Return what it covers, and what not."""
        return Passages(
            f"**{self.sentence()}**\n",
            "Whoever finds a trip in a zone cannot tell at which of several places it began or ended. ",
            (
                "It says nothing of how many people there are; k-anonymity does.",
                "Places may differ and mean the same, such as two hospitals, or one may be far likelier than "
                "the others: that is not hidden.",
            ),
        )
