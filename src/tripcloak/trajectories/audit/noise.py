"""Noise as it is stated, held to what the stated method and its parameters imply."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

from tripcloak.ground.rulebook import NotPromised, Remark
from tripcloak.trajectories.audit.promise import MOST_PARTS, Stated

ROUNDING = 1e-9
"""Relative, of sums of budgets and of scales of noise."""

REPLACED = 2
"""By how much numbers change at least, added up, where something else takes the place of what is hidden."""


def noise_faults(promise: Stated, method: Any, parameters: Any) -> str | Remark | None:
    """Return whether parts spend no more than is promised, and have no less noise than that takes.

    Parameters
    ----------
    method, parameters
        As the release states them; of the methods of the library what is hidden changes by them is known.
    """
    if promise.epsilon is None:
        return NotPromised("not promised: no number of this release is noisy")
    if math.fsum(part.epsilon for part in promise.parts) > promise.epsilon * (1 + ROUNDING):
        return "the parts of the noise spend more than the epsilon that is promised"
    if any(part.scale * part.epsilon < part.changes * (1 - ROUNDING) for part in promise.parts):
        return "the noise of a part is smaller than its epsilon asks for"
    if promise.unit is None:
        return NotPromised(
            "not promised: besides the noise this release rests on numbers without any, so that it hides "
            "nobody in the sense of differential privacy"
        )
    if faults := _understatement(promise, method, parameters if isinstance(parameters, dict) else {}):
        return faults
    return Remark(
        "what the parts of the noise spend adds up to no more than is promised, and each has the noise that "
        "its epsilon asks for; that it was drawn so, and that nothing else was taken from the input, no look "
        "at a release can tell: the method's code and its tests stand for that"
    )


WHOLE = 1_000_000
"""What everybody weighs in tables that are told in parts of a whole."""
ONE_OF_ALL = ("user", "element")
"""Units that may be all visits of a person; of others a window says how many, or it is one."""


def _understatement(promise: Stated, method: Any, parameters: dict[str, Any]) -> str | None:
    """Return whether parts are for less than what is hidden changes by the parameters, or are not told."""
    if promise.unit != "user" and any(part.changes < REPLACED for part in promise.parts):
        return (
            "the noise of a part is for less than what is hidden changes: what is not left out is replaced, "
            "and changes numbers where it was and where it is"
        )
    for name, stated in (("epsilon", promise.epsilon), ("unit", promise.unit), ("window", promise.window)):
        if name in parameters and parameters[name] != stated:
            return f"the parameters state another {name} than the promise"
    if not isinstance(method, str) or method not in CHANGED:
        return None
    length = parameters.get("length", 1 if method == "adatrace" else None)
    if type(length) is not int or length < 1:
        return "the parameters do not say how many visits or places of everybody are counted"
    return _part_faults(promise, CHANGED[method](*_extent(promise, length), length))


def _extent(promise: Stated, length: int) -> tuple[int, int]:
    """Return how often numbers change by what is hidden, and how many visits of so many it may be."""
    times = 1 if promise.unit == "user" else REPLACED
    return times, length if promise.unit in ONE_OF_ALL else min(promise.window or 1, length)


def _part_faults(promise: Stated, changed: dict[str, int]) -> str | None:
    """Return whether parts are other ones than these, or for less than these change by."""
    # Levels are as many as area and period ask for.
    kinds = [part.name if part.name in changed else LEVEL.sub(" #", part.name) for part in promise.parts]
    if set(kinds) != set(changed) or len({part.name for part in promise.parts}) < len(kinds):
        return "the parts of the noise are not those of which the method makes its release"
    if any(part.changes < changed[kind] for part, kind in zip(promise.parts, kinds, strict=True)):
        return "the noise of a part is for less than what is hidden changes by the parameters of the release"
    return None


LEVEL = re.compile(r" \d+$")


def _of_safepath(times: int, touched: int, length: int) -> dict[str, int]:
    return {
        f"visit {n + 1} {what} #": times for n in range(min(length, MOST_PARTS)) for what in ("time", "place")
    }


def _of_adatrace(times: int, touched: int, length: int) -> dict[str, int]:
    tables = ("quadtree #", "trips", "moves", "hours", "days")
    return {"people": times, **dict.fromkeys(tables, times * WHOLE)}


def _of_locations(times: int, touched: int, length: int) -> dict[str, int]:
    return dict.fromkeys(("quadtree #", "cells"), times * length)


def _of_dptd(times: int, touched: int, length: int) -> dict[str, int]:
    levels = [f"level {n}" for n in range(1, min(length, 2 * MOST_PARTS) + 1, 2)]
    moves = times * max(1, min(touched + 1, length - 1))
    return {"places": times * touched, "starts": times, "moves": moves, **dict.fromkeys(levels, times)}


CHANGED: dict[str, Callable[[int, int, int], dict[str, int]]] = {
    "safepath": _of_safepath,
    "adatrace": _of_adatrace,
    "locations": _of_locations,
    "dptd": _of_dptd,
}
"""By how much what is hidden changes the numbers of each part, added up, by the pages of the methods.

From how often numbers change by it, how many visits of a person it may be, and how many are counted.
"""
