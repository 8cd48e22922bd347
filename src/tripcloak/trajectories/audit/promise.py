"""The promise of a release, read with distrust, and what it asks of numbers; for arrays and files alike."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from tripcloak.ground.arrays import Ints
from tripcloak.ground.entries import figures
from tripcloak.ground.masking import mask_small
from tripcloak.ground.rulebook import BrokenPart, NotPromised, Remark
from tripcloak.trajectories.audit.containment import RawSupports, Supports

PROMISES = ("containment", "colocation")
IDS = ("person", "vehicle", "device", "card", "household", "unknown")

NOT_LINKAGE = (
    "not promised: somebody who knows samples of a person may find that person's trajectory; "
    "(k, delta)-anonymity says only that released trajectories run close together"
)


class Stated(NamedTuple):
    """What is promised: ``containment`` in k, or ``colocation`` of k within ``delta`` metres, and of whom."""

    kind: str
    k: int
    delta: float | None = None
    id_is: str = "unknown"

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
    Stated(kind='colocation', k=5, delta=100.0, id_is='unknown')
    """
    told = dict(entry) if isinstance(entry, Mapping) else {}
    id_is = told.pop("id_is", "unknown")
    faults = _faults(told) or ("whose trajectories these are is no word for it" if id_is not in IDS else None)
    if faults:
        raise BrokenPart(f"the promise is none: {faults}")
    return Stated(told["kind"], told["k"], told.get("delta"), id_is)


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
        return NotPromised(
            f"{NOT_LINKAGE}; it {'holds here all the same' if not short else 'does not hold here'}"
        )
    return (
        f"{mask_small(short, 'original trajectories')} are contained in fewer than k released ones"
        if short
        else None
    )


def two_sided_faults(supports: Supports, promise: Stated) -> str | Remark | None:
    """Return the same of released trajectories that have no box without a sample of the original one."""
    if promise.moves:
        return NotPromised(NOT_LINKAGE)
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
        return NotPromised(NOT_LINKAGE)
    alone = int((supports.members < 2).sum())
    return (
        f"{mask_small(alone, 'released trajectories')} stand for one person alone, or for nobody"
        if alone
        else None
    )


def raw_faults(raw: RawSupports, promise: Stated) -> str | Remark | None:
    """Return whether samples that reading dropped lead to fewer than k released trajectories."""
    if promise.moves:
        return NotPromised(NOT_LINKAGE)
    short = int((np.minimum(raw.support, raw.two_sided) < promise.k).sum())
    if short:
        return (
            f"{mask_small(short, 'people')} are found among fewer than k released trajectories by what was "
            "dropped of them when the data was read"
        )
    return None


def companion_faults(companions: Ints, promise: Stated) -> str | None:
    """Return whether each released trajectory runs close to k - 1 others."""
    short = int((np.asarray(companions) < promise.k - 1).sum())
    if short:
        alone = mask_small(short, "released trajectories")
        return f"{alone} have fewer than k - 1 others within delta at all times"
    return None


PROJECTION = re.compile(
    r"\+proj=laea \+lat_0=-?\d{1,2}(\.\d)? \+lon_0=-?\d{1,3}(\.\d)? \+datum=WGS84 \+units=m \+no_defs"
)
LARGE = 1 << 53
"""No number that means something is as large; a longer one could spell a message."""


class Manifest(NamedTuple):
    """What a release says of itself, and everything it says.

    Times of the grid are in seconds, lengths in metres; ``projection`` is PROJ text; ``clock``
    is UTC or unknown.
    """

    promise: Stated
    seconds: int
    metres: int
    start: int
    projection: str
    clock: str
    facts: dict[str, Any]


def understand(facts: dict[str, Any]) -> Manifest:
    """Return the promise and the grid of a manifest, or raise :class:`BrokenPart`."""
    promise, grid = facts.get("promise"), facts.get("grid")
    if not isinstance(promise, dict) or not isinstance(grid, dict):
        raise BrokenPart("release/manifest.json does not state a promise and a grid")
    if set(grid) != {"seconds", "metres", "start", "projection", "clock"}:
        raise BrokenPart("release/manifest.json: the grid holds other entries than it should")
    if not all(
        is_small(entry) for entry in (*promise.values(), *grid.values()) if not isinstance(entry, str)
    ):
        raise BrokenPart("release/manifest.json: the promise or the grid hold a number that means nothing")
    stated = read_stated({name: value for name, value in promise.items() if name != "sentence"})
    words = promise.get("sentence")
    if not isinstance(words, str) or tuple(figures(words)) != stated.spoken:
        raise BrokenPart("release/manifest.json: the promise in words does not fit its numbers")
    numbers = [grid[name] for name in ("seconds", "metres", "start")]
    if any(type(number) is not int for number in numbers) or min(numbers[:2]) < 1 or numbers[2] % numbers[0]:
        raise BrokenPart("release/manifest.json: the grid's steps must be whole seconds and metres")
    if not isinstance(grid["projection"], str) or not PROJECTION.fullmatch(grid["projection"]):
        raise BrokenPart("release/manifest.json: the projection must be the PROJ text that is always written")
    if grid["clock"] not in ("UTC", "unknown"):
        raise BrokenPart("release/manifest.json: the clock must be UTC or unknown")
    return Manifest(stated, **grid, facts=facts)


def is_small(value: Any) -> bool:
    """Return whether a value is a number, a truth or nothing, and no longer than one has to be.

    >>> is_small(2.5), is_small(None), is_small(10**40), is_small([1])
    (True, True, False, False)
    """
    return value is None or (isinstance(value, int | float) and -LARGE < value < LARGE)
