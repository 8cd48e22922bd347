"""k-merge: the optimal merge of any number of trajectories.

Mishra and Fiore 2025, III-A, after Gramaglia et al. 2017.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from tripcloak.ground.arrays import Floats, Ints
from tripcloak.ground.threads import blocks, in_threads
from tripcloak.trajectories.model import Trajectories
from tripcloak.trajectories.release.release import Boxes, TrajectorySolution

BLOCK = 4096
"""Pairs, or merges, that one thread takes at a time."""


class Rates(NamedTuple):
    """What the errors of a sample cost, in steps: how far its box's centre is away, in time and in space."""

    time: float
    space: float = 1.0

    @property
    def floats(self) -> tuple[float, float]:
        """Return them as compiled loops take them; whole numbers would be another kind of loop."""
        return float(self.time), float(self.space)


class Merged(NamedTuple):
    """One generalised trajectory.

    Attributes
    ----------
    boxes : Boxes
        The generalised samples, by time.
    cost : float
        Sum over all samples of what the box they are in costs: duration x (width + height) in steps of
        the grid, or what their errors cost by the rates that were asked for.
    box_of : array of int
        The box of every sample, one member after the other.
    """

    boxes: Boxes
    cost: float
    box_of: Ints


def k_merge(trajectories: Trajectories, members: Any, rates: Rates | None = None) -> Merged:
    """Return the cheapest generalised trajectory that holds every sample of all members.

    A generalised sample holds one sample or more of every member, and generalised samples do not
    overlap in time. There is no cheaper one: see ``trajectories/methods/_kernels/merging.py``. By rates
    there hardly is: see ``errors.py`` beside it.

    Examples
    --------
    >>> from tripcloak.trajectories import Grid, Trajectories
    >>> two = Trajectories.of(user=[0, 0, 1, 1], t=[0, 9, 1, 9], x=[5, 0, 6, 0], y=[0, 0, 0, 0], grid=Grid())
    >>> merged = k_merge(two, [0, 1])
    >>> merged.cost, merged.boxes.t0.tolist(), merged.boxes.t1.tolist()
    (16.0, [0, 9], [2, 10])
    """
    from tripcloak.trajectories.methods._kernels import errors
    from tripcloak.trajectories.methods._kernels import merging as _kernels

    members = np.asarray(members, dtype=np.int64)
    size = int(trajectories.lengths[members].sum())
    at = _kernels.merge_buffers(size)
    _kernels.lay_many(at, *_columns(trajectories), members)
    if rates is None:
        cost = float(_kernels.cover(at, size, np.inf))
    else:
        cost = float(errors.cover_by_errors(at, errors.sums_of(size), size, np.inf, rates.floats))
    boxes = Boxes(*(np.empty(size, dtype=np.int32) for _ in Boxes._fields))
    box_of = np.empty(size, dtype=np.int64)
    many = _kernels.write_runs(at, size, tuple(boxes), 0, box_of)
    return Merged(Boxes(*(side[:many] for side in boxes)), cost, box_of)


def merge_groups(
    trajectories: Trajectories, groups: Sequence[Ints], facts: Mapping[str, Any], rates: Rates | None = None
) -> TrajectorySolution:
    """Return the solution in which everybody of a group is released as its merge.

    Examples
    --------
    >>> from tripcloak.trajectories import Grid, Trajectories
    >>> two = Trajectories.of(user=[0, 0, 1, 1], t=[0, 9, 1, 9], x=[5, 0, 6, 0], y=[0, 0, 0, 0], grid=Grid())
    >>> merge_groups(two, [np.array([0, 1])], {}).boxes.t1.tolist()
    [2, 10, 2, 10]
    """
    merged = [k_merge(trajectories, members, rates) for members in groups]
    group_of = np.empty(trajectories.n_users, dtype=np.int64)
    for at, members in enumerate(groups):
        group_of[members] = at
    lengths = np.array([len(one.boxes.t0) for one in merged])[group_of]
    offsets = np.concatenate(([0], np.cumsum(lengths)))
    sides = (np.concatenate([merged[at].boxes[side] for at in group_of]) for side in range(6))
    box_of = np.empty(trajectories.n_samples, dtype=np.int64)
    for members, one in zip(groups, merged, strict=True):
        at = 0
        for member in members:
            begin, end = trajectories.offsets[member : member + 2]
            box_of[begin:end] = one.box_of[at : at + end - begin] + offsets[member]
            at += end - begin
    return TrajectorySolution(offsets, Boxes(*sides), np.arange(trajectories.n_users), box_of, facts)


def pair_costs(trajectories: Trajectories, first: Any, second: Any, *, jobs: int = 1) -> Floats:
    """Return the cost of merging each pair of trajectories, a sample, in steps (eq. 4 over both).

    Examples
    --------
    >>> from tripcloak.trajectories import Grid, Trajectories
    >>> two = Trajectories.of(user=[0, 0, 1, 1], t=[0, 9, 1, 9], x=[5, 0, 6, 0], y=[0, 0, 0, 0], grid=Grid())
    >>> pair_costs(two, [0], [1])
    array([4.])
    """
    from tripcloak.trajectories.methods._kernels import merging as _kernels

    first, second = (np.ascontiguousarray(rows, dtype=np.int64) for rows in (first, second))
    columns = _columns(trajectories)

    def of_block(block: slice) -> Floats:
        return _kernels.pair_costs(*columns, first[block], second[block])

    return np.concatenate([np.empty(0), *in_threads(of_block, blocks(len(first), BLOCK), jobs)])


def merge_sets(
    trajectories: Trajectories, set_offsets: Ints, members: Ints, *, jobs: int = 1
) -> tuple[Ints, Boxes, Ints, Floats]:
    """Return offsets and boxes of one generalised trajectory a set, its first members' boxes, and costs.

    The third array holds the box of each sample of the sets' first members, set after set; the
    fourth the total cost of each merge, in steps.
    """
    from tripcloak.trajectories.methods._kernels import merging as _kernels

    lengths = trajectories.lengths[members[set_offsets[:-1]]]
    room = np.concatenate(([0], np.cumsum(lengths)))
    boxes = tuple(np.empty(room[-1], dtype=np.int32) for _ in Boxes._fields)
    box_of = np.empty(room[-1], dtype=np.int64)
    columns = _columns(trajectories)

    def of_block(block: slice) -> tuple[Floats, Ints]:
        bounds = set_offsets[block.start : block.stop + 1]
        mine = box_of[room[block.start] : room[block.stop]]
        return _kernels.merge_sets(*columns, bounds, members, boxes, room[block], mine)

    done = list(in_threads(of_block, blocks(len(lengths), BLOCK // 16), jobs))
    many = np.concatenate([of for _, of in done])
    offsets = np.concatenate(([0], np.cumsum(many)))
    rows = np.arange(offsets[-1]) + np.repeat(room[:-1] - offsets[:-1], many)
    box_of -= np.repeat(room[:-1] - offsets[:-1], lengths)
    return offsets, Boxes(*(side[rows] for side in boxes)), box_of, np.concatenate([cost for cost, _ in done])


def _columns(trajectories: Trajectories) -> tuple[Ints, Ints, Ints, Ints]:
    return trajectories.t, trajectories.x, trajectories.y, trajectories.offsets
