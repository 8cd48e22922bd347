"""The promise of a release, read with distrust, and what it asks of numbers; for arrays and files alike."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from tripcloak.ground.arrays import Ints
from tripcloak.ground.entries import figures
from tripcloak.ground.masking import mask_small
from tripcloak.ground.rulebook import BrokenPart, Remark
from tripcloak.trajectories.audit.containment import Supports

PROMISES = ("containment", "colocation")

NOT_LINKAGE = (
    "not promised: somebody who knows samples of a person may find that person's trajectory; "
    "(k, delta)-anonymity says only that released trajectories run close together"
)


class Stated(NamedTuple):
    """What is promised: ``containment`` in k, or ``colocation`` of k within ``delta`` metres."""

    kind: str
    k: int
    delta: float | None = None

    @property
    def moves(self) -> bool:
        """Return whether released points may lie elsewhere than the original ones."""
        return self.kind == "colocation"

    @property
    def spoken(self) -> tuple[str, ...]:
        """Return the numbers that a sentence on it gives, in their order."""
        told = f"{self.k} {self.k}" if self.delta is None else f"{self.k}, {self.delta:g} {self.k}"
        return tuple(figures(told))


def read_stated(entry: Any) -> Stated:
    """Return what an entry promises, or raise :class:`BrokenPart`.

    Examples
    --------
    >>> read_stated({"kind": "containment", "k": 1})
    Traceback (most recent call last):
    tripcloak.ground.rulebook.BrokenPart: the promise is none: k must be a whole number, 2 or more
    >>> read_stated({"kind": "colocation", "k": 5, "delta": 100.0})
    Stated(kind='colocation', k=5, delta=100.0)
    """
    told = dict(entry) if isinstance(entry, Mapping) else {}
    faults = _faults(told)
    if faults:
        raise BrokenPart(f"the promise is none: {faults}")
    return Stated(told["kind"], told["k"], told.get("delta"))


def _faults(told: Mapping[str, Any]) -> str | None:
    kind, k, delta = (told.get(name) for name in ("kind", "k", "delta"))
    if kind not in PROMISES:
        return f"it must be one of {', '.join(PROMISES)}"
    if type(k) is not int or k < 2:
        return "k must be a whole number, 2 or more"
    if kind == "containment":
        return None if set(told) == {"kind", "k"} else "containment has a k, and no other number"
    if isinstance(delta, bool) or not isinstance(delta, int | float) or not math.isfinite(delta) or delta < 0:
        return "colocation needs a delta in metres"
    return None if set(told) == {"kind", "k", "delta"} else "colocation has k and delta, and no other number"


def support_faults(supports: Supports, promise: Stated) -> str | Remark | None:
    """Return whether k released trajectories contain each original one; a remark where nobody promised."""
    short = int((supports.support < promise.k).sum())
    if promise.moves:
        return Remark(f"{NOT_LINKAGE}; it {'holds here all the same' if not short else 'does not hold here'}")
    return (
        f"{mask_small(short, 'original trajectories')} are contained in fewer than k released ones"
        if short
        else None
    )


def two_sided_faults(supports: Supports, promise: Stated) -> str | Remark | None:
    """Return the same of released trajectories that have no box without a sample of the original one."""
    if promise.moves:
        return Remark(NOT_LINKAGE)
    short = int((supports.two_sided < promise.k).sum())
    if short:
        return (
            f"{mask_small(short, 'original trajectories')} have fewer than k released ones that contain them "
            "and hold one of their samples in every box"
        )
    return None


def lone_faults(supports: Supports, promise: Stated) -> str | Remark | None:
    """Return whether a released trajectory stands for one person alone."""
    if promise.moves:
        return Remark(NOT_LINKAGE)
    alone = int((supports.members < 2).sum())
    return (
        f"{mask_small(alone, 'released trajectories')} stand for one person alone, or for nobody"
        if alone
        else None
    )


def companion_faults(companions: Ints, promise: Stated) -> str | None:
    """Return whether each released trajectory runs close to k - 1 others."""
    short = int((np.asarray(companions) < promise.k - 1).sum())
    if short:
        alone = mask_small(short, "released trajectories")
        return f"{alone} have fewer than k - 1 others within delta at all times"
    return None
