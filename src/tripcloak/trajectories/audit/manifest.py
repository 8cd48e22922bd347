"""The manifest of a release of trajectories, read with distrust."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from tripcloak.ground.entries import figures
from tripcloak.ground.rulebook import BrokenPart
from tripcloak.trajectories.audit.promise import Stated, read_stated

PROJECTION = re.compile(
    r"\+proj=laea \+lat_0=-?\d{1,2}(\.\d)? \+lon_0=-?\d{1,3}(\.\d)? \+datum=WGS84 \+units=m \+no_defs"
)
LARGE = 1 << 53
"""No number that means something is as large; a longer one could spell a message."""


class Manifest(NamedTuple):
    """What a release says of itself, and everything it says.

    Times of the grid are in seconds, lengths in metres; ``projection`` is PROJ text.
    """

    promise: Stated
    seconds: int
    metres: int
    start: int
    projection: str
    facts: dict[str, Any]


def understand(facts: dict[str, Any]) -> Manifest:
    """Return the promise and the grid of a manifest, or raise :class:`BrokenPart`."""
    promise, grid = facts.get("promise"), facts.get("grid")
    if not isinstance(promise, dict) or not isinstance(grid, dict):
        raise BrokenPart("release/manifest.json does not state a promise and a grid")
    if set(grid) != {"seconds", "metres", "start", "projection"}:
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
    return Manifest(stated, **grid, facts=facts)


def is_small(value: Any) -> bool:
    """Return whether a value is a number, a truth or nothing, and no longer than one has to be.

    >>> is_small(2.5), is_small(None), is_small(10**40), is_small([1])
    (True, True, False, False)
    """
    return value is None or (isinstance(value, int | float) and -LARGE < value < LARGE)
