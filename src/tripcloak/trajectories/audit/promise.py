"""What the promise of a release asks of its numbers, in words; for arrays and for files alike."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tripcloak.ground.arrays import Ints
from tripcloak.ground.masking import mask_small
from tripcloak.ground.rulebook import Remark
from tripcloak.trajectories.audit.containment import Supports

PROMISES = ("containment", "colocation")

NOT_LINKAGE = (
    "not promised: somebody who knows samples of a person may find that person's trajectory; "
    "(k, delta)-anonymity says only that released trajectories run close together"
)


def promise_faults(k: Any, promise: Any, delta: Any) -> str | None:
    """Return what is wrong with a promise by itself.

    Examples
    --------
    >>> promise_faults(1, "containment", None)
    'k must be a whole number, 2 or more'
    >>> promise_faults(5, "colocation", 100.0) is None
    True
    """
    if type(k) is not int or k < 2:
        return "k must be a whole number, 2 or more"
    if promise not in PROMISES:
        return f"the promise must be one of {', '.join(PROMISES)}"
    if promise == "containment":
        return None if delta is None else "a promise of containment has no delta"
    if isinstance(delta, bool) or not isinstance(delta, int | float) or not math.isfinite(delta) or delta < 0:
        return "a promise of colocation needs a delta in metres"
    return None


def support_faults(supports: Supports, k: int, promise: str) -> str | Remark | None:
    """Return whether k released trajectories contain each original one; a remark where nobody promised."""
    short = int((supports.support < k).sum())
    if promise == "colocation":
        return Remark(f"{NOT_LINKAGE}; it {'holds here all the same' if not short else 'does not hold here'}")
    return (
        f"{mask_small(short, 'original trajectories')} are contained in fewer than k released ones"
        if short
        else None
    )


def two_sided_faults(supports: Supports, k: int, promise: str) -> str | Remark | None:
    """Return the same of released trajectories that have no box without a sample of the original one."""
    if promise == "colocation":
        return Remark(NOT_LINKAGE)
    short = int((supports.two_sided < k).sum())
    if short:
        return (
            f"{mask_small(short, 'original trajectories')} have fewer than k released ones that contain them "
            "and hold one of their samples in every box"
        )
    return None


def lone_faults(supports: Supports, promise: str) -> str | Remark | None:
    """Return whether a released trajectory stands for one person alone."""
    if promise == "colocation":
        return Remark(NOT_LINKAGE)
    alone = int((supports.members < 2).sum())
    return (
        f"{mask_small(alone, 'released trajectories')} stand for one person alone, or for nobody"
        if alone
        else None
    )


def companion_faults(companions: Ints, k: int) -> str | None:
    """Return whether each released trajectory runs close to k - 1 others."""
    short = int((np.asarray(companions) < k - 1).sum())
    if short:
        alone = mask_small(short, "released trajectories")
        return f"{alone} have fewer than k - 1 others within delta at all times"
    return None
