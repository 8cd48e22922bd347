"""TrajectoryRelease: what may leave the building, and which sample went where."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from tripcloak._version import __version__
from tripcloak.ground.arrays import Bools, Floats, Ints
from tripcloak.ground.errors import InternalError
from tripcloak.ground.threads import blocks, in_threads, processors
from tripcloak.promises import TrajectoryPromise
from tripcloak.trajectories.model import Grid, Trajectories


class Boxes(NamedTuple):
    """Generalised samples in steps of the grid; ends are exclusive, so a raw sample is 1 x 1 x 1."""

    t0: Ints
    t1: Ints
    x0: Ints
    x1: Ints
    y0: Ints
    y1: Ints

    def __repr__(self) -> str:
        return f"<Boxes: {len(self.t0):,}>"


class TrajectorySolution(NamedTuple):
    """What a method decides.

    Attributes
    ----------
    offsets : array of int64
        Where the boxes of each released trajectory begin; one more than there are.
    boxes : Boxes
        Generalised samples of all released trajectories, by time within each.
    released_of : array of int64
        The released trajectory of each input trajectory; -1 where it is deleted.
    box_of : array of int32 or int64
        The box that stands for each input sample in its own released trajectory; -1 where it is deleted.
    facts : mapping
        What the method did, in numbers that may be told inside (pairs merged, skipped, ...).
    pieces : array of int64, optional
        Where people's trajectories are released in pieces: the input trajectory of each released one, by
        person and time; ``released_of`` says the first piece of each then.
    guards : array of int64, optional
        Where dummies are released: the input trajectory that each dummy stands beside, -1 of people's own.
    profiles : array of float64, optional
        What each person asks for beyond the promise, a row each; never published.
    """

    offsets: Ints
    boxes: Boxes
    released_of: Ints
    box_of: Ints
    facts: Mapping[str, Any]
    pieces: Ints | None = None
    guards: Ints | None = None
    profiles: Floats | None = None

    def __repr__(self) -> str:
        return f"<TrajectorySolution: {len(self.offsets) - 1:,} trajectories>"


@dataclass(frozen=True, kw_only=True, eq=False)
class TrajectoryRelease:
    """Generalised trajectories, one for each input trajectory that was not deleted.

    Attributes
    ----------
    method, parameters
        How it was made.
    promise : TrajectoryPromise
        What it is held to; whoever wants to know what was promised asks it.
    grid : Grid
        What the steps of the boxes mean.
    offsets, boxes, released_of, box_of, facts, pieces, guards, profiles
        See :class:`TrajectorySolution`.
    """

    method: str
    parameters: Mapping[str, Any]
    promise: TrajectoryPromise
    grid: Grid
    offsets: Ints
    boxes: Boxes
    released_of: Ints
    box_of: Ints
    input_digest: str
    facts: Mapping[str, Any] = field(default_factory=dict)
    pieces: Ints | None = None
    guards: Ints | None = None
    profiles: Floats | None = None
    seconds: float = 0.0
    version: str = field(default=__version__)

    def __repr__(self) -> str:
        return (
            f"<TrajectoryRelease by {self.method}: {self.n_released:,} trajectories of {self.n_boxes:,} "
            f"samples; {self.promise.sentence()}>"
        )

    @property
    def n_released(self) -> int:
        """Return the number of released trajectories."""
        return len(self.offsets) - 1

    @property
    def n_boxes(self) -> int:
        """Return the number of generalised samples."""
        return len(self.boxes.t0)

    @property
    def deleted(self) -> Bools:
        """Return, for every input sample, whether it is in no released sample of its person."""
        return self.box_of < 0

    @property
    def created(self) -> Bools:
        """Return, for every generalised sample, whether it stands for no sample of its own person.

        Under the containment promise none is: every generalised sample holds one of each trajectory.
        """
        used = np.zeros(self.n_boxes, dtype=bool)
        used[self.box_of[self.box_of >= 0]] = True
        return ~used

    @cached_property
    def whose(self) -> Ints:
        """Return the input trajectory of each released one; -1 where it is nobody's."""
        if self.pieces is not None:
            return self.pieces
        whose = np.full(self.n_released, -1, np.int64)
        people = np.flatnonzero(self.released_of >= 0)
        whose[self.released_of[people]] = people
        return whose

    def of_people(self, people: int) -> tuple[Ints, Ints]:
        """Return where the boxes of each of so many people begin, all pieces together, and which they are."""
        owner = np.repeat(self.whose, np.diff(self.offsets))
        order = np.lexsort((self.boxes.t0, owner))
        order = order[np.searchsorted(owner[order], 0) :]
        return np.concatenate(([0], np.cumsum(np.bincount(owner[order], minlength=people)))), order

    def spans(self) -> tuple[Floats, Floats, Floats]:
        """Return minutes, metres wide and metres high of each generalised sample."""
        t0, t1, x0, x1, y0, y1 = (side.astype(np.float64) for side in self.boxes)
        metres = self.grid.metres
        return (t1 - t0) * self.grid.seconds / 60, (x1 - x0) * metres, (y1 - y0) * metres


CHECKED = 1 << 20
"""Samples that one thread checks at a time."""


def build_trajectory_release(
    trajectories: Trajectories, solution: TrajectorySolution, *, promise: TrajectoryPromise, **told: Any
) -> TrajectoryRelease:
    """Return the release of a solution, or raise an InternalError where it cannot be one."""
    boxes = Boxes(*(np.ascontiguousarray(side, dtype=np.int32) for side in solution.boxes))
    offsets = np.asarray(solution.offsets, dtype=np.int64)
    _check_shape(trajectories, solution, boxes, offsets)
    if not promise.moves_samples:
        _check_own_samples(trajectories, solution.box_of, boxes)
    return TrajectoryRelease(
        promise=promise,
        grid=trajectories.grid,
        offsets=offsets,
        boxes=boxes,
        released_of=np.asarray(solution.released_of, dtype=np.int64),
        # A number of every sample, of which there may be many: no wider than boxes are many.
        box_of=np.asarray(solution.box_of, dtype=np.int32 if len(boxes.t0) < 2**31 else np.int64),
        facts=dict(solution.facts),
        pieces=None if solution.pieces is None else np.asarray(solution.pieces, dtype=np.int64),
        guards=None if solution.guards is None else np.asarray(solution.guards, dtype=np.int64),
        profiles=solution.profiles,
        input_digest=trajectories.digest,
        **told,
    )


def _check_shape(
    trajectories: Trajectories, solution: TrajectorySolution, boxes: Boxes, offsets: Ints
) -> None:
    n_boxes = len(boxes.t0)
    if len(solution.released_of) != trajectories.n_users or len(solution.box_of) != trajectories.n_samples:
        raise InternalError("a method left out an input trajectory or sample")
    if offsets[0] != 0 or offsets[-1] != n_boxes or (np.diff(offsets) < 1).any():
        raise InternalError("a method released a trajectory without samples")
    if any((hi <= lo).any() for lo, hi in ((boxes.t0, boxes.t1), (boxes.x0, boxes.x1), (boxes.y0, boxes.y1))):
        raise InternalError("a method released a sample without extent")
    first = np.zeros(n_boxes, dtype=bool)
    first[offsets[:-1]] = True
    if (boxes.t0[1:] < boxes.t1[:-1])[~first[1:]].any():
        raise InternalError("a method released samples that overlap in time")
    owner = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    pieces = solution.pieces
    if pieces is not None and len(pieces) != len(offsets) - 1:
        raise InternalError("a method did not say whose each piece is")

    def strays(part: slice) -> bool:
        at = solution.box_of[part]
        kept = at >= 0
        person = np.searchsorted(trajectories.offsets, np.arange(part.start, part.stop), side="right") - 1
        mine, released = person[kept], owner[at[kept]]
        if pieces is not None:
            return bool((pieces[released] != mine).any())
        return bool((solution.released_of[mine] != released).any())

    if any(in_threads(strays, blocks(trajectories.n_samples, CHECKED), processors())):
        raise InternalError("a method put a sample into somebody else's trajectory")


def _check_own_samples(trajectories: Trajectories, box_of: Ints, boxes: Boxes) -> None:
    """Raise unless every kept sample lies in the box that stands for it."""

    def inside(part: slice) -> bool:
        kept = box_of[part] >= 0
        at = box_of[part][kept]
        return all(
            bool(((lo[at] <= column[part][kept]) & (column[part][kept] < hi[at])).all())
            for column, lo, hi in (
                (trajectories.t, boxes.t0, boxes.t1),
                (trajectories.x, boxes.x0, boxes.x1),
                (trajectories.y, boxes.y0, boxes.y1),
            )
        )

    if not all(in_threads(inside, blocks(trajectories.n_samples, CHECKED), processors())):
        raise InternalError("a method released a trajectory that does not hold its own samples")
