"""The promise of a release, read with distrust, and what it asks of numbers; for arrays and files alike."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from tripcloak.ground.arrays import Ints
from tripcloak.ground.entries import figures, is_number
from tripcloak.ground.masking import mask_small
from tripcloak.ground.rulebook import BrokenPart, NotPromised, Remark
from tripcloak.trajectories.audit.containment import RawSupports, Supports
from tripcloak.trajectories.audit.dummies import Profile

ENTRIES: dict[str, tuple[str, ...]] = {
    "containment": ("k",),
    "colocation": ("k", "delta"),
    "presence": ("k",),
    "k^m-anonymity of trajectories": ("k", "m"),
    "differential privacy of trajectories": ("epsilon", "unit", "window", "parts"),
    "noise without a proof": ("epsilon", "parts"),
    "mixing": ("k", "width", "longest"),
    "disclosure": ("sd", "ld", "dst", "cell"),
}
"""Every promise there is, and what it is told by."""
IDS = ("person", "vehicle", "device", "card", "household", "unknown")
UNITS = {"user": False, "event": False, "w-event": True, "l-trajectory": True, "element": False}
"""What differential privacy hides, and whether a number says how much of it."""
MOST_KNOWN = 3

NOT_LINKAGE = {
    "colocation": "not promised: somebody who knows samples of a person may find that person's trajectory; "
    "(k, delta)-anonymity says only that released trajectories run close together",
    "presence": "not promised: somebody who knows samples of a person may find that person's trajectory; k "
    "people in every box says nothing of several boxes",
    "k^m-anonymity of trajectories": "not promised: somebody who knows more than m samples of a person may "
    "find that person's trajectory",
    "mixing": "not promised: somebody who knows a sample of a person finds the piece that holds it; mix "
    "zones say only that pseudonyms change among k",
    "disclosure": "not promised: somebody who knows samples of a person may find that person's trajectory, "
    "which is told as it was recorded; dummies stand beside it",
}
MADE_UP = "not promised: released trajectories are nobody's, so that none need hold anybody's samples"


class Part(NamedTuple):
    """A set of noisy numbers: what it spends, by how much what is hidden may change it, and its noise."""

    name: str
    epsilon: float
    changes: int
    scale: float


class Stated(NamedTuple):
    """What is promised, of whom, and with which numbers; those that a promise has not are None."""

    kind: str
    k: int | None = None
    delta: float | None = None
    id_is: str = "unknown"
    m: int | None = None
    epsilon: float | None = None
    unit: str | None = None
    window: int | None = None
    parts: tuple[Part, ...] = ()
    width: int | None = None
    longest: int | None = None
    sd: float | None = None
    ld: float | None = None
    dst: float | None = None
    cell: int | None = None

    @property
    def contains(self) -> bool:
        """Return whether k released trajectories hold all samples of each person."""
        return self.kind == "containment"

    @property
    def made_up(self) -> bool:
        """Return whether released trajectories are nobody's."""
        return self.epsilon is not None

    @property
    def parted(self) -> bool:
        """Return whether trajectories are released in pieces."""
        return self.longest is not None

    @property
    def profile(self) -> Profile | None:
        """Return what is promised of dummies; None where there are none."""
        if self.sd is None or self.ld is None or self.dst is None or self.cell is None:
            return None
        return Profile(self.sd, self.ld, self.dst, self.cell)

    @property
    def whole(self) -> bool:
        """Return whether a released trajectory is all that is released of a person."""
        return not (self.made_up or self.parted)

    @property
    def moves(self) -> bool:
        """Return whether released points may lie elsewhere than the original ones."""
        return self.made_up or self.kind == "colocation"

    @property
    def not_linkage(self) -> str:
        """Return why nothing is promised against whoever knows a whole trajectory."""
        return NOT_LINKAGE.get(self.kind, MADE_UP)

    @property
    def asked(self) -> int:
        """Return k; 0 where none is promised."""
        return self.k or 0

    @property
    def spoken(self) -> tuple[str, ...]:
        """Return the numbers that a sentence on it gives, in their order."""
        if self.epsilon is not None:
            return tuple(
                figures(" ".join(f"{one:g}" for one in (self.window, self.epsilon) if one is not None))
            )
        if self.m is not None:
            return tuple(figures(f"{self.k}, {self.m} {self.m} {self.k}"))
        if self.parted:
            return tuple(figures(f"{self.k} {self.k} {self.width} {self.longest}"))
        if self.profile is not None:
            return tuple(figures(" ".join(f"{one:g}" for one in self.profile)))
        return tuple(
            figures(f"{self.k} {self.k}" if self.delta is None else f"{self.k}, {self.delta:g} {self.k}")
        )


def read_stated(entry: Any) -> Stated:
    """Return what an entry promises, or raise :class:`BrokenPart`.

    Examples
    --------
    >>> read_stated({"kind": "containment", "k": 1})
    Traceback (most recent call last):
    tripcloak.ground.rulebook.BrokenPart: the promise is none: k must be a whole number, 2 or more
    >>> read_stated({"kind": "colocation", "k": 5, "delta": 100.0})[:4]
    ('colocation', 5, 100.0, 'unknown')
    """
    told = dict(entry) if isinstance(entry, Mapping) else {}
    id_is = told.pop("id_is", "unknown")
    faults = _faults(told) or ("whose trajectories these are is no word for it" if id_is not in IDS else None)
    if faults:
        raise BrokenPart(f"the promise is none: {faults}")
    parts = tuple(Part(*part) for part in told.pop("parts", ()))
    return Stated(**told, id_is=id_is, parts=parts)


def _faults(told: Mapping[str, Any]) -> str | None:
    kind = told.get("kind")
    if kind not in ENTRIES:
        return f"it must be one of {', '.join(ENTRIES)}"
    if "k" in ENTRIES[kind] and (type(told.get("k")) is not int or told["k"] < 2):
        return "k must be a whole number, 2 or more"
    if set(told) != {"kind", *ENTRIES[kind]}:
        if kind == "colocation" and "delta" not in told:
            return "colocation needs a delta in metres"
        return f"{kind} has {' and '.join(ENTRIES[kind])}, and no other number"
    return _number_faults(told)


def _number_faults(told: Mapping[str, Any]) -> str | None:
    """Return what is wrong with the numbers of a promise beyond k."""
    delta, m = told.get("delta", 0), told.get("m", 1)
    if isinstance(delta, bool) or not isinstance(delta, int | float) or not math.isfinite(delta) or delta < 0:
        return "colocation needs a delta in metres"
    if type(m) is not int or not 1 <= m <= MOST_KNOWN:
        return f"m must be a whole number from 1 to {MOST_KNOWN}"
    if any(type(told.get(name, 1)) is not int or told.get(name, 1) < 1 for name in ("width", "longest")):
        return "zones and silence need whole metres and seconds, 1 or more"
    if "sd" in told and (faults := _profile_faults(told)):
        return faults
    return _noise_entry_faults(told) if "epsilon" in told else None


def _profile_faults(told: Mapping[str, Any]) -> str | None:
    """Return what is wrong with the numbers of a profile."""
    if not all(is_number(told[name]) and 0 < told[name] < 1 for name in ("sd", "ld")):
        return "both disclosures are shares above 0 and below 1"
    if not is_number(told["dst"]) or not 0 <= told["dst"] < LARGE:
        return "dummies are a number of cells away, 0 or more"
    return None if type(told["cell"]) is int and told["cell"] >= 1 else "a cell is whole metres, 1 or more"


def _noise_entry_faults(told: Mapping[str, Any]) -> str | None:
    """Return what is wrong with what is told of noise."""
    if not is_number(told["epsilon"]) or told["epsilon"] <= 0:
        return "epsilon must be a number above 0"
    if "unit" in told and (faults := _unit_faults(told["unit"], told["window"])):
        return faults
    parts = told["parts"]
    if not isinstance(parts, list | tuple) or not 0 < len(parts) < MOST_PARTS:
        return f"the parts of noise must be named one by one, fewer than {MOST_PARTS}"
    return (
        None if all(map(_is_part, parts)) else "a part of the noise is not a name and three numbers above 0"
    )


MOST_PARTS = 200
"""Sets of noisy numbers that no release has."""
PART = re.compile(r"[a-z]+( [a-z0-9]+)*")


def _unit_faults(unit: Any, window: Any) -> str | None:
    if not isinstance(unit, str) or unit not in UNITS:
        return f"what is hidden must be one of {', '.join(UNITS)}"
    if UNITS[unit]:
        return None if type(window) is int and window >= 1 else f"{unit} needs a window of 1 or more"
    return None if window is None else f"{unit} has no window"


def _is_part(part: Any) -> bool:
    if not isinstance(part, list | tuple) or len(part) != len(Part._fields):
        return False
    name, *numbers = part
    return (
        isinstance(name, str)
        and len(name) < 30
        and PART.fullmatch(name) is not None
        and all(is_number(number) and 0 < number < LARGE for number in numbers)
    )


def crowd_faults(people: Ints, promise: Stated) -> str | None:
    """Return whether a released box held fewer than k people."""
    short = int((np.asarray(people) < promise.asked).sum())
    return f"fewer than k people were recorded in {mask_small(short, 'released boxes')}" if short else None


def sharing_faults(fewest: int, promise: Stated) -> str | None:
    """Return whether m released samples fit fewer than k released trajectories."""
    return (
        "some released samples, m or fewer, are in fewer than k trajectories"
        if fewest < promise.asked
        else None
    )


def support_faults(supports: Supports, promise: Stated) -> str | Remark | None:
    """Return whether k released trajectories contain each original one; a remark where nobody promised."""
    if not promise.whole:
        return NotPromised(promise.not_linkage)
    short = int((supports.support < promise.asked).sum())
    if not promise.contains:
        held = "holds here all the same" if not short else "does not hold here"
        return NotPromised(f"{promise.not_linkage}; it {held}")
    return (
        f"{mask_small(short, 'original trajectories')} are contained in fewer than k released ones"
        if short
        else None
    )


def two_sided_faults(supports: Supports, promise: Stated) -> str | Remark | None:
    """Return the same of released trajectories that have no box without a sample of the original one."""
    if not promise.contains:
        return NotPromised(promise.not_linkage)
    short = int((supports.two_sided < promise.asked).sum())
    if short:
        return (
            f"{mask_small(short, 'original trajectories')} have fewer than k released ones that contain them "
            "and hold one of their samples in every box"
        )
    return None


def lone_faults(supports: Supports, promise: Stated) -> str | Remark | None:
    """Return whether a released trajectory stands for one person alone."""
    if not promise.contains:
        return NotPromised(promise.not_linkage)
    alone = int((supports.members < 2).sum())
    return (
        f"{mask_small(alone, 'released trajectories')} stand for one person alone, or for nobody"
        if alone
        else None
    )


def raw_faults(raw: RawSupports, promise: Stated) -> str | Remark | None:
    """Return whether samples that reading dropped lead to fewer than k released trajectories."""
    if not promise.contains:
        return NotPromised(promise.not_linkage)
    short = int((np.minimum(raw.support, raw.two_sided) < promise.asked).sum())
    if short:
        return (
            f"{mask_small(short, 'people')} are found among fewer than k released trajectories by what was "
            "dropped of them when the data was read"
        )
    return None


def companion_faults(companions: Ints, promise: Stated) -> str | None:
    """Return whether each released trajectory runs close to k - 1 others."""
    short = int((np.asarray(companions) < promise.asked - 1).sum())
    if short:
        alone = mask_small(short, "released trajectories")
        return f"{alone} have fewer than k - 1 others within delta at all times"
    return None


def coarse_faults(parameters: Mapping[str, Any], steps: tuple[int, int], sides: Sequence[Any]) -> str | None:
    """Return whether an edge of a box lies off the cells and slots that the parameters name.

    Parameters
    ----------
    parameters
        Those of the method; ``interval`` is a slot in seconds, ``cell`` the finest cell in metres. Both are
        rounded up to whole steps of the grid.
    steps
        Seconds and metres of a step.
    sides
        Begin and end of time in seconds since 1970, of x and of y in metres.
    """
    lengths = [parameters.get(name) for name in ("interval", "cell", "cell")]
    if not all(is_number(length) and length > 0 for length in lengths):
        return "the parameters do not say how large cells and slots are"
    for axis, length in enumerate(lengths):
        assert length is not None
        step = steps[min(axis, 1)]
        whole = step * math.ceil(length / step)
        if any((np.asarray(side) % whole != 0).any() for side in sides[2 * axis : 2 * axis + 2]):
            return "a made-up sample is finer than the stated cells and slots, or lies off them"
    return None


NO_DUMMIES = "not promised: nothing of dummies"
NO_CHANGES = "not promised: nothing of pseudonyms that change"
NOT_TOGETHER = "not promised: nothing of released trajectories that run close together"

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
    flat = (entry for name, entry in (*promise.items(), *grid.items()) if name != "parts")
    if not all(is_small(entry) for entry in flat if not isinstance(entry, str)):
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
