"""Publication: which numbers of a flow are published, and how exactly."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from tripcloak.ground.arrays import Floats, Ints
from tripcloak.ground.errors import InputError, InternalError
from tripcloak.ground.spelling import spelt
from tripcloak.promises import Promise, Rounding, Unit, Volume
from tripcloak.promises.promise import whole_number

Publish = Literal["rounded", "both", "trips", "travellers"]
PUBLISH: tuple[Publish, ...] = get_args(Publish)


@dataclass(frozen=True, kw_only=True)
class Publication:
    """The published columns of a release, and the steps that all but the exact one are rounded down by.

    Attributes
    ----------
    columns : tuple of str
        The published numbers of a flow.
    steps : dict
        Column to its step; a column that is not there is exact.
    bases : dict
        Column to the smallest value it can have, from which steps are counted: its own threshold.
    volume : str
        The exact column that is summed over flows.
    by_segment : tuple of str
        The published numbers of one segment of a flow.
    base : int, optional
        What all numbers are multiples of, where they are rounded together.
    """

    columns: tuple[Unit, ...]
    volume: Unit
    steps: dict[Unit, int]
    bases: dict[Unit, int]
    by_segment: tuple[Unit, ...]
    base: int | None = None

    @property
    def summed(self) -> tuple[Unit, ...]:
        """Return the columns that are summed over the flows of a zone."""
        return summed(self.columns)

    def rounded(self, unit: Unit, numbers: Ints | Floats) -> Ints:
        """Return numbers of a column as they are published.

        A step of s leaves s whole numbers open, one next to the other. So whatever exact whole number is
        subtracted, s differences next to each other remain, of which no more than k - 1 lie between 1
        and k - 1: with s = k at least one is zero or less, or k or more. Nothing between 1 and k - 1 is
        ever proven. Steps begin at the column's own threshold, below which there is nothing: otherwise
        the lowest of them would leave fewer numbers open. That travellers never outnumber trips takes
        away differences below zero only, and zero stays where one below it was possible.

        >>> from tripcloak.promises import KAnonymity
        >>> told = publication(KAnonymity(k=10, unit="travellers"), "trips", "rounded")
        >>> told.rounded("travellers", np.array([10, 19, 20])).tolist()
        [10, 10, 20]
        >>> told.rounded("trips", np.array([10, 19, 20])).tolist()
        [10, 19, 20]
        """
        if self.base is not None:
            raise InternalError("numbers that are rounded together are never rounded one by one")
        if unit not in self.steps:
            return np.rint(numbers).astype(np.int64)
        step, base = self.steps[unit], self.bases[unit]
        steps: Ints = np.floor((numbers - base) / step).astype(np.int64)
        return base + step * steps

    def words(self) -> str:
        """Return what is said of columns beside each other; nothing where there is one alone.

        >>> from tripcloak.promises import KAnonymity
        >>> publication(KAnonymity(k=10, unit="travellers"), "trips", "rounded").words()
        'trips are exact; travellers are rounded down in steps of 10, so that no number below 10 can be told
        from the difference of two columns'
        """
        if self.base is not None:
            return (
                f"trips are multiples of {self.base:,}, each less than {self.base:,} from the true number, "
                "and totals are sums of them"
            )
        if len(self.columns) < 2:
            return ""
        exact = _listed([unit for unit in self.columns if unit not in self.steps])
        if not self.steps:
            return (
                f"WARNING: {exact} are all exact. Their differences tell how often people travel: trips less "
                "travellers is the number of repeated trips, and one below k tells of fewer than k of them"
            )
        step = max(self.steps.values())
        return (
            f"{exact} are exact; {_listed(list(self.steps))} are rounded down in steps of {step:,}, so that "
            f"no number below {step:,} can be told from the difference of two columns"
        )


def publication(promise: Promise, volume: Volume, publish: Publish) -> Publication:
    """Return what is published under a resolved promise.

    Parameters
    ----------
    volume
        What is summed for utility: the column that stays exact.
    publish
        ``rounded``: all numbers that a threshold covers, all but the exact one in steps of k. ``both``:
        all of them, exact. ``trips`` or ``travellers``: that one alone.

    Examples
    --------
    >>> from tripcloak.promises import KAnonymity
    >>> ten = KAnonymity(k=10, unit="travellers")
    >>> publication(ten, "trips", "rounded").steps
    {'travellers': 10}
    >>> publication(ten, "trips", "travellers").columns
    ('travellers',)
    """
    covered = promise.published(volume)
    if publish not in PUBLISH:
        raise InputError(f"{spelt('publish')} takes one of {', '.join(PUBLISH)}; got {publish!r}")
    if promise.rounding is not None:
        return _rounded(promise.rounding, covered, publish)
    if publish in ("trips", "travellers"):
        return _alone(promise, covered, publish)
    if publish == "both" and "travellers" not in covered:
        _refuse(covered, publish)
    others = tuple(unit for unit in covered if unit != volume)
    if publish == "both" or not others:
        by_segment = promise.published_by_segment(volume)
        return Publication(columns=covered, volume=volume, steps={}, bases={}, by_segment=by_segment)
    thresholds = promise.thresholds
    step = int(next(thresholds[unit] for unit in ("travellers", "trips") if unit in thresholds))
    return Publication(
        columns=covered,
        volume=volume,
        steps=dict.fromkeys(others, step),
        bases={unit: int(whole_number(thresholds[unit])) for unit in others},
        # Segments add up to the flow, so numbers in steps of both would narrow each other.
        by_segment=(volume,),
    )


def _rounded(rounding: Rounding, covered: tuple[Unit, ...], publish: Publish) -> Publication:
    """Return trips alone, all rounded: what is told beside them would tell them better."""
    asked = spelt("round", rounding.base)
    if "trips" not in covered:
        _refuse(covered, "trips")
    if publish in ("both", "travellers"):
        raise InputError(f"{asked} publishes trips alone; leave out {spelt('publish', publish)}")
    if publish == "rounded" and "population" in covered:
        raise InputError(
            f"{asked} is of trips, and leaves the population out; ask for {spelt('publish', 'trips')}"
        )
    return Publication(
        columns=("trips",), volume="trips", steps={}, bases={}, by_segment=(), base=rounding.base
    )


def _alone(promise: Promise, covered: tuple[Unit, ...], unit: Unit) -> Publication:
    """Return one column alone."""
    if unit not in covered:
        _refuse(covered, unit)
    if unit == "travellers" and (promise.segments or promise.by_release):
        raise InputError(
            f"{spelt('publish', unit)} does not go together with {spelt('segment_joint')} or {spelt('t')}: "
            "travellers do not add up over segments or flows; publish trips as well"
        )
    return Publication(columns=(unit,), volume=unit, steps={}, bases={}, by_segment=(unit,))


def _refuse(covered: tuple[Unit, ...], asked: str) -> None:
    raise InputError(
        f"{spelt('publish', asked)} is not possible here: what is promised covers {_listed(list(covered))} "
        "only, and other numbers of a flow could be small; ask for k on travellers "
        f"({spelt('unit', 'travellers')})"
    )


def publication_of(facts: Mapping[str, Any], promise: Promise) -> Publication:
    """Return the publication that a manifest states, or raise a ValueError where there is no such one."""
    return publication(promise, main_volume(promise), published_as(facts, promise))


def published_as(facts: Mapping[str, Any], promise: Promise) -> Publish:
    """Return which numbers a manifest says are published, or raise a ValueError where that cannot be."""
    stated = list(facts["columns"]), facts["volume"], dict(facts.get("steps", {}))
    for publish in PUBLISH:
        try:
            told = publication(promise, main_volume(promise), publish)
        except InputError:
            continue
        if (list(told.columns), told.volume, told.steps) == stated:
            return publish
    raise ValueError("the manifest states columns that are never published together")


def main_volume(promise: Promise) -> Volume:
    """Return the volume that goes with a promise: population when nothing else is protected."""
    return "population" if set(promise.thresholds) == {"population"} else "trips"


def summed(columns: tuple[Unit, ...]) -> tuple[Unit, ...]:
    """Return the columns that are summed over flows: not travellers, who may be in several, unless alone.

    >>> summed(("trips", "travellers")), summed(("travellers",))
    (('trips',), ('travellers',))
    """
    return tuple(unit for unit in columns if unit != "travellers") or columns


def _listed(names: list[Any]) -> str:
    """Return names as one lists them.

    >>> _listed(["trips", "travellers"]), _listed(["trips"])
    ('trips and travellers', 'trips')
    """
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else str(last)
