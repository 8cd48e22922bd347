"""The manifest of a release of trajectories, read with distrust."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

from tripcloak.trajectories.audit.promise import promise_faults
from tripcloak.trajectories.audit.rulebook import BrokenPart

KIND = "trajectories"


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
    except (OSError, ValueError):
        return None
    return facts if isinstance(facts, dict) and facts.get("kind") == KIND else None


def understand(facts: dict[str, Any]) -> Manifest:
    """Return the promise and the grid of a manifest, or raise :class:`BrokenPart`."""
    promise, grid = facts.get("promise"), facts.get("grid")
    if not isinstance(promise, dict) or not isinstance(grid, dict):
        raise BrokenPart("release/manifest.json does not state a promise and a grid")
    if set(promise) - {"kind", "k", "delta"} or set(grid) != {"seconds", "metres", "start", "projection"}:
        raise BrokenPart("release/manifest.json: the promise or the grid hold other entries than they should")
    faults = promise_faults(promise.get("k"), promise.get("kind"), promise.get("delta"))
    if faults:
        raise BrokenPart(f"release/manifest.json: {faults}")
    if type(facts.get("k")) is not int or facts["k"] != promise["k"]:
        raise BrokenPart("release/manifest.json states two different k")
    numbers = [grid[name] for name in ("seconds", "metres", "start")]
    if any(type(number) is not int for number in numbers) or min(numbers[:2]) < 1 or numbers[2] % numbers[0]:
        raise BrokenPart("release/manifest.json: the grid's steps must be whole seconds and metres")
    if not isinstance(grid["projection"], str) or not grid["projection"].startswith("+proj="):
        raise BrokenPart("release/manifest.json: the projection must be PROJ text")
    return Manifest(promise["k"], promise["kind"], promise.get("delta"), **grid, facts=facts)
