"""How large released samples are, how far they lie from what was, and what was created or deleted."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from tripcloak.ground.arrays import Floats, Ints
from tripcloak.ground.threads import blocks
from tripcloak.trajectories.measures.distribution import Distribution, distribution, share
from tripcloak.trajectories.measures.shape import AT_ONCE, people_at_a_time
from tripcloak.trajectories.model import Trajectories
from tripcloak.trajectories.release.release import TrajectoryRelease


class Accuracy(NamedTuple):
    """How large generalised samples are; smaller is more accurate.

    Attributes
    ----------
    area_km2, duration_minutes : Distribution
        Over generalised samples, each counted once, as in the paper.
    own_area_km2, own_duration_minutes : Distribution
        Over original samples, each told by the generalised sample that stands for it. Where many
        samples share a large box this is the more honest figure.
    """

    area_km2: Distribution
    duration_minutes: Distribution
    own_area_km2: Distribution
    own_duration_minutes: Distribution


def accuracy(release: TrajectoryRelease) -> Accuracy:
    """Return the area and the duration of generalised samples, as distributions (Mishra and Fiore 2025, IV).

    Examples
    --------
    >>> from tripcloak.trajectories import Boxes, Grid, TrajectorySolution, Trajectories
    >>> from tripcloak.trajectories.release.release import build_trajectory_release
    >>> made = Trajectories.of(user=["a", "a"], t=[0, 9], x=[0, 19], y=[0, 9], grid=Grid())
    >>> whole = Boxes(*(np.array([side]) for side in (0, 10, 0, 20, 0, 10)))
    >>> solution = TrajectorySolution(np.array([0, 1]), whole, np.zeros(1), np.zeros(2, int), {})
    >>> from tripcloak.promises import Containment
    >>> told = {"promise": Containment(k=2), "method": "by hand", "parameters": {}}
    >>> found = accuracy(build_trajectory_release(made, solution, **told))
    >>> found.area_km2.mean, found.duration_minutes.mean, found.own_area_km2.n
    (2.0, 10.0, 2)
    """
    minutes, area = minutes_and_area(release)
    own = release.box_of[release.box_of >= 0]
    return Accuracy(
        distribution(area), distribution(minutes), distribution(area[own]), distribution(minutes[own])
    )


def minutes_and_area(release: TrajectoryRelease) -> tuple[Floats, Floats]:
    """Return minutes and square kilometres of each generalised sample."""
    minutes, width, height = release.spans()
    return minutes, np.multiply(width, height) / 1e6


class SampleErrors(NamedTuple):
    """What the columns of the paper's table II say, and the cost of eq. 4.

    Attributes
    ----------
    spatial_km, time_minutes : Distribution
        From the centre of an original sample to the centre of the generalised sample that stands for
        it, over the samples that were not deleted.
    created, deleted : float
        Released samples that stand for none of the person's own, and samples of the person that no
        released one stands for; both as shares of all original samples.
    deleted_users : float
        The share of people of whom nothing is released.
    cost : Distribution
        Eq. 4 in minutes x km over the people with a kept sample: the mean of duration x (width + height)
        over their own samples.
    """

    spatial_km: Distribution
    time_minutes: Distribution
    created: float
    deleted: float
    deleted_users: float
    cost: Distribution


def sample_errors(trajectories: Trajectories, release: TrajectoryRelease) -> SampleErrors:
    """Return how far released samples are from the original ones (Mishra and Fiore 2025, table II and eq. 4).

    Examples
    --------
    >>> from tripcloak.trajectories import Boxes, Grid, TrajectorySolution
    >>> from tripcloak.trajectories.release.release import build_trajectory_release
    >>> made = Trajectories.of(user=["a", "a"], t=[0, 10], x=[0, 20], y=[0, 0], grid=Grid())
    >>> whole = Boxes(*(np.array([side]) for side in (0, 11, 0, 21, 0, 1)))
    >>> solution = TrajectorySolution(np.array([0, 1]), whole, np.zeros(1), np.zeros(2, int), {})
    >>> from tripcloak.promises import Containment
    >>> told = {"promise": Containment(k=2), "method": "by hand", "parameters": {}}
    >>> found = sample_errors(made, build_trajectory_release(made, solution, **told))
    >>> found.spatial_km.mean, found.time_minutes.mean, found.deleted, round(found.cost.mean, 6)
    (1.0, 5.0, 0.0, 24.2)
    """
    kept = int(np.count_nonzero(release.box_of >= 0))
    # One after the other: each is a number of every sample, and is sorted.
    spatial = distribution(_apart(trajectories, release, kept, _kilometres))
    time = distribution(_apart(trajectories, release, kept, _minutes))
    n = trajectories.n_samples
    return SampleErrors(
        spatial_km=spatial,
        time_minutes=time,
        created=share(int(release.created.sum()), n) or 0.0,
        deleted=share(n - kept, n) or 0.0,
        deleted_users=share(int((release.released_of < 0).sum()), trajectories.n_users) or 0.0,
        cost=distribution(costs(trajectories, release)),
    )


def costs(trajectories: Trajectories, release: TrajectoryRelease) -> Floats:
    """Return the cost of eq. 4 of everybody with a kept sample, in minutes x km."""
    minutes, width, height = release.spans()
    of_box = minutes * (width + height) / 1000
    total, samples = np.zeros(trajectories.n_users), np.zeros(trajectories.n_users, np.int64)
    for people in people_at_a_time(trajectories.offsets):
        edges = trajectories.offsets[people.start : people.stop + 1]
        box = release.box_of[edges[0] : edges[-1]]
        kept = box >= 0
        owner = np.repeat(np.arange(len(edges) - 1), np.diff(edges))[kept]
        total[people] = np.bincount(owner, of_box[box[kept]], minlength=len(edges) - 1)
        samples[people] = np.bincount(owner, minlength=len(edges) - 1)
    return np.asarray(total[samples > 0] / samples[samples > 0])


def _apart(
    trajectories: Trajectories,
    release: TrajectoryRelease,
    kept: int,
    measured: Callable[[Trajectories, TrajectoryRelease, slice], Floats],
) -> Floats:
    """Return what is measured of all samples that are kept, of which there are so many."""
    found, done = np.empty(kept), 0
    for part in blocks(trajectories.n_samples, AT_ONCE):
        some = measured(trajectories, release, part)
        found[done : done + len(some)] = some
        done += len(some)
    return found


def _kilometres(trajectories: Trajectories, release: TrajectoryRelease, part: slice) -> Floats:
    """Return kilometres between the centres of kept samples and of their boxes."""
    boxes = release.boxes
    across = _halves(release, part, trajectories.x, boxes.x0, boxes.x1)
    across = np.hypot(across, _halves(release, part, trajectories.y, boxes.y0, boxes.y1), out=across)
    return across * (release.grid.metres / 2000)


def _minutes(trajectories: Trajectories, release: TrajectoryRelease, part: slice) -> Floats:
    """Return minutes between the middles of kept samples and of their boxes."""
    boxes = release.boxes
    time = np.abs(_halves(release, part, trajectories.t, boxes.t0, boxes.t1))
    return time * (release.grid.seconds / 120)


def _halves(release: TrajectoryRelease, part: slice, column: Ints, low: Ints, high: Ints) -> Floats:
    """Return, in half steps, how far the middle of the box of each kept sample is ahead of its own."""
    box = release.box_of[part]
    kept = box >= 0
    centre = low[box[kept]].astype(np.int64) + high[box[kept]]
    return np.asarray(centre - 2 * column[part][kept].astype(np.int64) - 1, dtype=np.float64)
