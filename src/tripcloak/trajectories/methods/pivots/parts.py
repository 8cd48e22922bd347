"""Parts: released points of some people at a time, put together into one solution."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np

from tripcloak.arrays import Ints
from tripcloak.trajectories.methods.pivots.points import Points, ranges
from tripcloak.trajectories.release import Boxes, Solution

T = TypeVar("T")


class Part(NamedTuple):
    """Released points of some people.

    Attributes
    ----------
    rows : array of int64
        The people released, each once.
    lengths : array of int64
        The number of released points of each.
    t, x, y : array of int32
        Released points, by time within each person.
    box_of : array of int64
        For every point of these people the released point, numbered within the part; -1 = deleted.
    """

    rows: Ints
    lengths: Ints
    t: Ints
    x: Ints
    y: Ints
    box_of: Ints


def assembled(points: Points, parts: Sequence[Part], facts: Mapping[str, Any]) -> Solution:
    """Return the solution made of parts; who is in none of them is deleted."""
    rows = np.concatenate([part.rows for part in parts])
    lengths = np.zeros(len(points.lengths), dtype=np.int64)
    lengths[rows] = np.concatenate([part.lengths for part in parts])
    kept = lengths > 0
    released_of = np.where(kept, np.cumsum(kept) - 1, -1)
    offsets = np.append(0, np.cumsum(lengths[kept]))
    columns = [np.empty(offsets[-1], dtype=np.int32) for _ in "txy"]
    box_of_point = np.full(len(points.t), -1, dtype=np.int64)
    for part in parts:
        to = ranges(offsets[released_of[part.rows]], part.lengths)
        for column, made in zip(columns, (part.t, part.x, part.y), strict=True):
            column[to] = made
        own = ranges(points.offsets[part.rows], points.lengths[part.rows])
        box_of_point[own] = np.where(part.box_of < 0, -1, to[part.box_of])
    t, x, y = columns
    boxes = Boxes(t, t + 1, x, x + 1, y, y + 1)
    box_of = box_of_point[points.point_of]
    told = {**facts, **_edits(offsets, box_of, released_of)}
    return Solution(offsets, boxes, released_of, box_of, told)


def told(results: Iterable[T], progress: Callable[[int], None]) -> list[T]:
    """Return all results, telling before each how many there are already."""
    done: list[T] = []
    for one in results:
        progress(len(done))
        done.append(one)
    return done


def _edits(offsets: Ints, box_of: Ints, released_of: Ints) -> dict[str, Any]:
    """Return how many trajectories were discarded, and how many samples were created and deleted."""
    used = np.zeros(int(offsets[-1]), dtype=bool)
    used[box_of[box_of >= 0]] = True
    return {
        "discarded_trajectories": int((released_of < 0).sum()),
        "created_samples": int((~used).sum()),
        "deleted_samples": int((box_of < 0).sum()),
    }
