"""The manifest of a release of trajectories, read with distrust."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, NamedTuple

from tripcloak.ground.rulebook import BrokenPart
from tripcloak.trajectories.audit.promise import promise_faults

KIND = "trajectories"
PROJECTION = re.compile(
    r"\+proj=laea \+lat_0=-?\d{1,2}(\.\d)? \+lon_0=-?\d{1,3}(\.\d)? \+datum=WGS84 \+units=m \+no_defs"
)
LARGE = 1 << 53
"""No number that means something is as large; a longer one could spell a message."""


class Manifest(NamedTuple):
    """What a release says of itself, and everything it says.

    Times of the grid are in seconds, lengths in metres; ``projection`` is PROJ text.
    """

    k: int
    promise: str
    delta: float | None
    seconds: int
    metres: int
    start: int
    projection: str
    facts: dict[str, Any]


def read_facts(path: Path) -> dict[str, Any] | None:
    """Return the entries of a manifest of trajectories; None where there is no such manifest."""
    try:
        facts = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    return facts if isinstance(facts, dict) and facts.get("kind") == KIND else None


def understand(facts: dict[str, Any]) -> Manifest:
    """Return the promise and the grid of a manifest, or raise :class:`BrokenPart`."""
    promise, grid = facts.get("promise"), facts.get("grid")
    if not isinstance(promise, dict) or not isinstance(grid, dict):
        raise BrokenPart("release/manifest.json does not state a promise and a grid")
    if set(promise) - {"kind", "k", "delta"} or set(grid) != {"seconds", "metres", "start", "projection"}:
        raise BrokenPart("release/manifest.json: the promise or the grid hold other entries than they should")
    if not all(
        is_small(entry) for entry in (*promise.values(), *grid.values()) if not isinstance(entry, str)
    ):
        raise BrokenPart("release/manifest.json: the promise or the grid hold a number that means nothing")
    faults = promise_faults(promise.get("k"), promise.get("kind"), promise.get("delta"))
    if faults:
        raise BrokenPart(f"release/manifest.json: {faults}")
    if type(facts.get("k")) is not int or facts["k"] != promise["k"]:
        raise BrokenPart("release/manifest.json states two different k")
    numbers = [grid[name] for name in ("seconds", "metres", "start")]
    if any(type(number) is not int for number in numbers) or min(numbers[:2]) < 1 or numbers[2] % numbers[0]:
        raise BrokenPart("release/manifest.json: the grid's steps must be whole seconds and metres")
    if not isinstance(grid["projection"], str) or not PROJECTION.fullmatch(grid["projection"]):
        raise BrokenPart("release/manifest.json: the projection must be the PROJ text that is always written")
    return Manifest(promise["k"], promise["kind"], promise.get("delta"), **grid, facts=facts)


def is_small(value: Any) -> bool:
    """Return whether a value is a number, a truth or nothing, and no longer than one has to be.

    >>> is_small(2.5), is_small(None), is_small(10**40), is_small([1])
    (True, True, False, False)
    """
    return value is None or (isinstance(value, int | float) and -LARGE < value < LARGE)
