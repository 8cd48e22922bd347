"""Pseudonyms: fresh random names for released trajectories, and an order that tells nothing."""

from __future__ import annotations

import secrets
from typing import Any

import numpy as np

from tripcloak.arrays import Ints
from tripcloak.trajectories import Boxes, TrajectoryRelease
from tripcloak.trajectories.published import PublishedTrajectories

DIGITS = 16


def under_pseudonyms(release: TrajectoryRelease) -> tuple[PublishedTrajectories, Ints, Ints]:
    """Return the release under fresh pseudonyms, with the old row of each trajectory and of each box.

    Names and their order are drawn anew every time from the system's source of randomness: they tell
    nothing of the input, nor of another release of the same people.
    """
    order = _shuffled(release.n_released)
    lengths = np.diff(release.offsets)[order]
    offsets = np.concatenate(([0], np.cumsum(lengths)))
    boxes = np.arange(offsets[-1]) + np.repeat(release.offsets[:-1][order] - offsets[:-1], lengths)
    published = PublishedTrajectories(
        grid=release.grid,
        pseudonyms=_names(release.n_released),
        offsets=offsets,
        boxes=Boxes(*(side[boxes] for side in release.boxes)),
    )
    return published, order, boxes


def new_rows(order: Ints) -> Ints:
    """Return the new row of each old one, of an order that says the old row of each new one."""
    rows = np.empty(len(order), dtype=np.int64)
    rows[order] = np.arange(len(order))
    return rows


def _names(n: int) -> Any:
    """Return different names of one width, ascending; a letter keeps readers from taking one for a number."""
    names: set[str] = set()
    while len(names) < n:
        digits = secrets.token_hex(DIGITS // 2 * (n - len(names)))
        names.update(f"t{digits[at : at + DIGITS]}" for at in range(0, len(digits), DIGITS))
    return np.array(sorted(names), dtype=f"<U{DIGITS + 1}")


def _shuffled(n: int) -> Ints:
    order: Ints = np.argsort(np.frombuffer(secrets.token_bytes(8 * n), dtype=np.uint64), kind="stable")
    return order
