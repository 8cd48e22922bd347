"""A release of groups merged with k-merge, as a method of full consistency would make it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from tripcloak.promises import Containment
from tripcloak.trajectories.methods.kmerge import k_merge
from tripcloak.trajectories.model import Trajectories
from tripcloak.trajectories.release.release import (
    Boxes,
    TrajectoryRelease,
    TrajectorySolution,
    build_trajectory_release,
)


def merged_release(trajectories: Trajectories, *, k: int = 2) -> TrajectoryRelease:
    """Return a release in which k neighbours (the last ones more) share one generalised trajectory each."""
    people = trajectories.n_users
    sides: list[list[Any]] = [[] for _ in Boxes._fields]
    offsets, box_of = [0], np.full(trajectories.n_samples, -1)
    starts = list(range(0, people - people % k, k))
    for start in starts:
        members = np.arange(start, people if start == starts[-1] else start + k)
        merged = k_merge(trajectories, members)
        lengths = trajectories.lengths[members]
        for person, told in zip(members, np.split(merged.box_of, np.cumsum(lengths)[:-1]), strict=True):
            box_of[trajectories.offsets[person] : trajectories.offsets[person + 1]] = told + offsets[-1]
            offsets.append(offsets[-1] + len(merged.boxes.t0))
            for side, more in zip(sides, merged.boxes, strict=True):
                side.append(more)
    solution = TrajectorySolution(
        np.array(offsets), Boxes(*map(np.concatenate, sides)), np.arange(people), box_of, {"by": "hand"}
    )
    return build_trajectory_release(
        trajectories, solution, promise=Containment(k=k), method="by-hand", parameters={}
    )


def with_side(release: TrajectoryRelease, side: str, box: int, value: int) -> TrajectoryRelease:
    """Return the release with one side of one box changed."""
    changed = getattr(release.boxes, side).copy()
    changed[box] = value
    return replace(release, boxes=release.boxes._replace(**{side: changed}))
