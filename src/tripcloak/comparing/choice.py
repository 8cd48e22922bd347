"""Choice: which row of a comparison to take, by a rule that is stated and the same for everybody.

1. Only rows count that have a release which promises k-anonymity, passed the audit, stayed within the
   limit and has a loss G.
2. Of these, the finest is the one with the smallest G; ties go to the smaller suppression, then to
   shared zones, then to the first in the list of methods.
3. The finest with shared zones is taken if its G is at most FACTOR times that of the finest of all,
   because zones that all flows share can be mapped, joined and added up. Otherwise the finest is.
4. Differential privacy promises something else, so it is named apart and never ranked against k.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from tripcloak.comparing.rows import ComparisonRow
from tripcloak.flows.release.release import proven
from tripcloak.ground.spelling import spelt

FACTOR = 2.0
"""How many times coarser shared zones may be and still be preferred."""


@dataclass(frozen=True, kw_only=True)
class Choice:
    """What to use at one k and one limit, and why.

    Attributes
    ----------
    method : str, optional
        The method to use; None where no row qualifies.
    runner_up : str, optional
        What to use instead, in the case that ``words`` names.
    words : tuple of str
        The reason, one sentence each.
    """

    k: float
    unit: str
    limit: float
    method: str | None
    runner_up: str | None
    words: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {**asdict(self), "words": list(self.words)}


def choices(rows: Sequence[ComparisonRow]) -> tuple[Choice, ...]:
    """Return one choice for every pair of k and limit that was asked for, in the order of the rows."""
    asked = dict.fromkeys((row.k, row.limit) for row in rows if row.k is not None and row.limit is not None)
    return tuple(choose(rows, k, limit) for k, limit in asked)


def choose(rows: Sequence[ComparisonRow], k: float, limit: float) -> Choice:
    """Return the choice among the rows of one k and one limit.

    Examples
    --------
    >>> told = {"k": 10, "unit": "travellers", "limit": 0.1, "safe": True}
    >>> rows = [
    ...     ComparisonRow(method="shared", shared=True, measures={"G": 80.0, "S": 0.1}, **told),
    ...     ComparisonRow(method="fine", shared=False, measures={"G": 50.0, "S": 0.1}, **told),
    ... ]
    >>> found = choose(rows, 10, 0.1)
    >>> found.method, found.runner_up
    ('shared', 'fine')
    """
    own = [row for row in rows if (row.k, row.limit) == (k, limit)]
    ranked = sorted(filter(_qualifies, own), key=_rank)
    unit = own[0].unit if own else ""
    if not ranked:
        words = (_why_nothing(own), *_apart(rows))
        return Choice(k=k, unit=unit, limit=limit, method=None, runner_up=None, words=words)
    finest = ranked[0]
    shared = next((row for row in ranked if row.shared), None)
    taken = shared if shared is not None and _loss(shared) <= FACTOR * _loss(finest) else finest
    other = _runner_up(ranked, taken, finest, shared)
    words = (
        *_reason(taken, finest, len(ranked)),
        *_certificate(taken),
        *([] if other is None else [_instead(taken, other)]),
        *_caution(taken),
        *_apart(rows),
    )
    return Choice(
        k=k,
        unit=unit,
        limit=limit,
        method=taken.method,
        runner_up=None if other is None else other.method,
        words=words,
    )


def _qualifies(row: ComparisonRow) -> bool:
    suppressed, loss = row.measures.get("S"), row.measures.get("G")
    if suppressed is None or loss is None or row.limit is None:
        return False
    within = suppressed <= row.limit * (1 + 1e-9)
    return row.ran and row.safe is True and row.promised.of_every_group and within


def _loss(row: ComparisonRow) -> float:
    loss = row.measures["G"]
    assert loss is not None
    return loss


def _rank(row: ComparisonRow) -> tuple[float, float, bool]:
    return _loss(row), row.measures["S"] or 0.0, not row.shared


def _runner_up(
    ranked: list[ComparisonRow], taken: ComparisonRow, finest: ComparisonRow, shared: ComparisonRow | None
) -> ComparisonRow | None:
    """Return the row that is better in what the taken one gives up, or else the next in line."""
    if taken is not finest:
        return finest
    if not taken.shared and shared is not None:
        return shared
    return next((row for row in ranked if row is not taken), None)


def _reason(taken: ComparisonRow, finest: ComparisonRow, number: int) -> list[str]:
    among = f"the {number} releases" if number > 1 else "the releases"
    sharing = "that all flows share" if taken.shared else "of all"
    told = [
        *_plainly(taken),
        f"Of {among} that are safe by the audit and within the limit, {taken.method} has the finest zones "
        f"{sharing}: the two zones of a released trip hold {_loss(taken):,.4g} tiles on average (G).",
    ]
    if taken is finest and taken.shared and number > 1:
        told.append("No other release is finer, shared zones or not.")
    elif taken is not finest:
        told.append(
            f"The finest without shared zones, {finest.method}, is {_times(_loss(taken) / _loss(finest))} "
            f"finer; shared zones are preferred up to {FACTOR:g} times, because they can be mapped, joined "
            "and added up."
        )
    return told


def _plainly(taken: ComparisonRow) -> list[str]:
    """Return how coarse the taken release is, before any letter of a measure."""
    from tripcloak.flows.report.plain import area_words

    metres = taken.measures.get("GDM_mean")
    size = [] if taken.zone_km2 is None else [f"a typical zone covers {area_words(taken.zone_km2)}"]
    away = [] if metres is None else [f"trips are moved by {metres:,.0f} m on average"]
    told = ", ".join([*size, *away, f"{100 * (taken.measures['S'] or 0):.1f} % withheld"])
    return [f"In plain words: {told}."]


def _certificate(row: ComparisonRow) -> list[str]:
    if row.gap is None:
        return []
    of = "" if row.relaxation is None else f" ({row.relaxation})"
    return [f"It is proven to be {proven(row.gap)} for this data, k and limit{of}."]


def _instead(taken: ComparisonRow, other: ComparisonRow) -> str:
    times = _loss(other) / _loss(taken)
    if taken.shared and not other.shared:
        return (
            f"Prefer {other.method} where single flows are read and zones need not be added up: "
            f"its zones are {_times(1 / times)} finer, but they overlap from flow to flow."
            if times < 1
            else f"Next comes {other.method} (G {_loss(other):,.4g}), whose zones overlap from flow to flow."
        )
    if not taken.shared and other.shared:
        return (
            f"Prefer {other.method} where users map, join or add up zones: all its flows share one set of "
            f"zones, which are {_times(times)} coarser."
        )
    return f"Next comes {other.method}, {_times(times)} as coarse (G {_loss(other):,.4g})."


def _times(factor: float) -> str:
    return f"{factor:.2f} times" if factor < 10 else f"{factor:,.0f} times"


def _caution(row: ComparisonRow) -> list[str]:
    if row.people != "travellers" or row.k is None or row.smallest is None or row.smallest >= row.k:
        return []
    return [
        f"Careful: k counts {row.unit} here, and the smallest released flow has {row.smallest:,.0f} "
        f"different {'id' if row.smallest == 1 else 'ids'} behind it; ask for "
        f"{spelt('unit', 'travellers')}."
    ]


def _apart(rows: Sequence[ComparisonRow]) -> list[str]:
    noisy = [row for row in rows if row.ran and row.promised.noisy]
    if not noisy:
        return []
    names = list(dict.fromkeys(f"{row.method} (epsilon {row.epsilon:g})" for row in noisy))
    verb = "protects" if len(names) == 1 else "protect"
    return [
        f"Apart from these, {' and '.join(names)} {verb} against something else: that one person's presence "
        "can be told at all, even by those who know everybody else. Numbers are noisy, and no k is promised."
    ]


def _why_nothing(rows: Sequence[ComparisonRow]) -> str:
    asked = "No method gave a release that is safe by the audit and within the limit"
    if any(row.ran for row in rows):
        return f"{asked}; the rows say what is wrong with each."
    return f"{asked}: none came to an end. Ask for a smaller k, allow more suppression, or give more time."
