"""Boxes widened for samples that reading dropped, so that who knows them too is left among k all the same."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tripcloak.ground.arrays import Bools, Ints
from tripcloak.trajectories.model import Trajectories
from tripcloak.trajectories.release.release import Boxes, TrajectorySolution

FEW = 8
"""Samples by which most released trajectories are ruled out, before the others are looked at."""


def cover_dropped(trajectories: Trajectories, solution: TrajectorySolution, k: int) -> TrajectorySolution:
    """Return the solution with boxes widened until dropped samples leave nobody among fewer than k.

    Some released trajectory may hold all kept samples of a person and, by chance, some of the dropped ones.
    Then k or more must hold these, for somebody may know them: of the trajectories that hold all kept
    samples, those are widened that take the least to hold the dropped ones as well. Boxes only grow into
    time that no other box of their trajectory takes, and none is added. So whoever was hidden stays so.

    Examples
    --------
    >>> from tripcloak.trajectories.model import Dropped, Grid
    >>> made = Trajectories(grid=Grid(), offsets=[0, 1, 2], t=[0, 0], x=[3, 7], y=[0, 0],
    ...                     dropped=Dropped.of([1], [0], [9], [0]))
    >>> boxes = Boxes(*(np.array(side) for side in ([0, 0], [1, 1], [3, 3], [8, 10], [0, 0], [1, 1])))
    >>> found = TrajectorySolution(np.arange(3), boxes, np.arange(2), np.arange(2), {})
    >>> covered = cover_dropped(made, found, 2)
    >>> covered.boxes.x1.tolist(), covered.facts
    ([10, 10], {'widened_samples': 1})
    """
    people = np.unique(trajectories.dropped.owner)
    if not len(people):
        return solution
    released = _Released(trajectories, solution)
    # Boxes only grow, and not beyond all samples; so there comes a round that widens nothing.
    while sum(_cover(trajectories, int(person), released, k) for person in people):
        continue
    changed = int((released.boxes != np.stack(solution.boxes, axis=1)).any(axis=1).sum())
    return solution._replace(
        boxes=Boxes(*released.boxes.T),
        facts={**solution.facts, **({"widened_samples": changed} if changed else {})},
    )


class _Released:
    """Released trajectories whose boxes grow; a row a box."""

    def __init__(self, trajectories: Trajectories, solution: TrajectorySolution) -> None:
        self.offsets = np.asarray(solution.offsets, dtype=np.int64)
        self.boxes = np.stack(solution.boxes, axis=1).astype(np.int64)
        times = (trajectories.t, trajectories.dropped.t, *self.boxes[:, :2].T)
        self.first = min(int(t.min()) for t in times)
        self.span = max(int(t.max()) for t in times) - self.first + 2
        self.owner = np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))
        self.begins = self.owner * self.span + (self.boxes[:, 0] - self.first)
        sides = (np.minimum, np.maximum) * 3
        self.frames = np.stack(
            [side.reduceat(self.boxes[:, at], self.offsets[:-1]) for at, side in enumerate(sides)], axis=1
        )

    def holding(self, samples: Ints) -> tuple[Ints, Bools]:
        """Return the trajectories that hold all these samples, and which have no box without one."""
        rows = np.arange(len(self.frames))
        for axis, column in enumerate(samples.T):
            rows = rows[self.frames[rows, 2 * axis] <= column.min()]
            rows = rows[column.max() < self.frames[rows, 2 * axis + 1]]
        for sample in samples[:: 1 + len(samples) // FEW]:
            rows = rows[self.box_of(rows, sample[None, :])[:, 0] >= 0]
        found = [(row, self.box_of(np.array([row]), samples)[0]) for row in rows]
        held = [(row, len(np.unique(at))) for row, at in found if (at >= 0).all()]
        rows = np.array([row for row, _ in held], dtype=np.int64)
        used = np.array([number for _, number in held], dtype=np.int64)
        return rows, used == np.diff(self.offsets)[rows]

    def box_of(self, rows: Ints, samples: Ints) -> Ints:
        """Return, for each trajectory and sample, the box that holds it; -1 where none does."""
        key = rows[:, None] * self.span + (samples[:, 0] - self.first)[None, :]
        at = np.maximum(np.searchsorted(self.begins, key, side="right") - 1, 0)
        box = self.boxes[at]
        holds = self.owner[at] == rows[:, None]
        for axis in range(3):
            holds &= (box[:, :, 2 * axis] <= samples[:, axis]) & (samples[:, axis] < box[:, :, 2 * axis + 1])
        return np.where(holds, at, -1)

    def put(self, row: int, boxes: Ints) -> None:
        """Put larger boxes in place of those of a trajectory."""
        mine = slice(self.offsets[row], self.offsets[row + 1])
        self.boxes[mine] = boxes
        self.begins[mine] = row * self.span + (boxes[:, 0] - self.first)
        self.frames[row, 0::2], self.frames[row, 1::2] = (
            boxes[:, 0::2].min(axis=0),
            boxes[:, 1::2].max(axis=0),
        )


def _cover(trajectories: Trajectories, person: int, released: _Released, k: int) -> int:
    """Widen boxes for the dropped samples of one person, and return how many trajectories were widened."""
    mine = slice(*trajectories.offsets[person : person + 2])
    kept = np.stack([trajectories.t[mine], trajectories.x[mine], trajectories.y[mine]], axis=1)
    lost = np.stack(trajectories.dropped[1:], axis=1)[trajectories.dropped.owner == person].astype(np.int64)
    rows, filled = released.holding(kept.astype(np.int64))
    held = released.box_of(rows, lost) >= 0
    for pattern in _short(held, filled, k):
        holders = held[:, pattern].all(axis=1)
        plans = sorted(
            (_widened(released, int(row), lost[pattern]) for row in rows[filled & ~holders]),
            key=lambda plan: plan[:2],
        )
        needed = plans[: k - int((holders & filled).sum())]
        for _, row, boxes in needed:
            released.put(row, boxes)
        if needed:
            return len(needed)
    return 0


def _short(held: Bools, filled: Bools, k: int) -> Iterator[Bools]:
    """Yield sets of dropped samples that some trajectories hold and fewer than k do, the largest first."""
    patterns = np.unique(held, axis=0)
    for pattern in patterns[np.argsort(-patterns.sum(axis=1), kind="stable")]:
        holders = held[:, pattern].all(axis=1)
        if holders.sum() < k or 0 < (holders & filled).sum() < k:
            yield pattern


def _widened(released: _Released, row: int, samples: Ints) -> tuple[int, int, Ints]:
    """Return what it costs to widen a trajectory so that it holds samples, its row, and its boxes then."""
    before = released.boxes[released.offsets[row] : released.offsets[row + 1]]
    boxes = before.copy()
    for sample in samples:
        at = int(np.searchsorted(boxes[:, 0], sample[0], side="right")) - 1
        # Between two boxes the one grows that takes less; where one holds the moment, no other may.
        near = (
            [at] if at >= 0 and sample[0] < boxes[at, 1] else [b for b in (at, at + 1) if 0 <= b < len(boxes)]
        )
        grown = {box: _grown(boxes[box], sample) for box in near}
        best = min(near, key=lambda box: (int(_cost(grown[box]) - _cost(boxes[box])), box))
        boxes[best] = grown[best]
    return int((_cost(boxes) - _cost(before)).sum()), row, boxes


def _grown(box: Ints, sample: Ints) -> Any:
    grown = box.copy()
    grown[0::2], grown[1::2] = np.minimum(box[0::2], sample), np.maximum(box[1::2], sample + 1)
    return grown


def _cost(boxes: Ints) -> Any:
    """Return the duration of each box times its width and height together."""
    t0, t1, x0, x1, y0, y1 = np.moveaxis(boxes, -1, 0)
    return (t1 - t0) * (x1 - x0 + y1 - y0)
