"""Advice where a ledger makes a release dear: a whole and its parts are better had as one release."""

from __future__ import annotations

from collections.abc import Sequence

from tripcloak.flows.notes import mean_tiles
from tripcloak.flows.release import Release
from tripcloak.ground.arrays import Ints
from tripcloak.ground.spelling import spelt
from tripcloak.ledger.disclosure import ABSENT, Disclosure
from tripcloak.ledger.waiting import ALIKE

DEAR = 1.5
"""How many times coarser a release is with a ledger than without before a better road is named."""

ALL_BUT_FEW = 0.99
"""Share of the records of a part that lie in its whole; a few may have been corrected since."""

PAIR_BY_PAIR = "productcut"
"""The method whose flows overlap least with those of a whole."""

LOOKED_AT = 10_000
"""About how many records of an input are looked for in those of earlier releases."""


def part_of_a_whole(earlier: Sequence[Disclosure], records: Ints) -> bool:
    """Return whether an input is a part of what an earlier release covers; much the same records are none.

    Examples
    --------
    >>> import numpy as np
    >>> def told(n):
    ...     who = np.arange(n, dtype=np.uint64)
    ...     group = np.zeros(n, dtype=np.int32)
    ...     return Disclosure(name="", record=who, person=who, group=group, trips=np.array([n]), k=3)
    >>> [part_of_a_whole([told(100)], np.arange(n, dtype=np.uint64)) for n in (89, 90)]
    [True, False]
    >>> part_of_a_whole([told(100)], np.arange(50, 110, dtype=np.uint64))
    False
    """
    some = records[:: max(len(records) // LOOKED_AT, 1)]
    return any(
        len(records) < ALIKE * one.n_records and _share_in(one, some) >= ALL_BUT_FEW for one in earlier
    )


def road_for_parts(method: str) -> str:
    """Return what to do instead of releasing a whole and its parts one by one by a method.

    >>> road_for_parts("productcut")[-61:]
    "(segment='COLUMN' segment_joint=True segment_where_safe=True)"
    """
    other = f", or zones pair by pair ({spelt('method', PAIR_BY_PAIR)})" if method != PAIR_BY_PAIR else ""
    return (
        "Parts told after their whole leave much to be subtracted: make all of them one release, in which "
        f"they add up ({spelt('segment', 'COLUMN')} {spelt('segment_joint', True)} "
        f"{spelt('segment_where_safe', True)}){other}"
    )


def advice(release: Release, alone: Release) -> tuple[str, ...]:
    """Return what to know of a part that the ledger made dear, given the release that it would be alone."""
    mean, less = mean_tiles(release), mean_tiles(alone)
    if mean < DEAR * less:
        return ()
    return (
        f"a released trip lies in {mean:,.4g} tiles on average (G), and in {less:,.4g} without the ledger, "
        f"which has a release of the whole that this is a part of. {road_for_parts(alone.method)}",
    )


def _share_in(one: Disclosure, some: Ints) -> float:
    return float((one.groups_of(some) != ABSENT).mean())
