"""How large released samples are, how far they lie from what was, and what was created or deleted."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tripcloak.ground.arrays import Floats, Ints
from tripcloak.trajectories.measures.distribution import Distribution, distribution, share
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
    kept = np.flatnonzero(release.box_of >= 0)
    spatial, time = _apart(trajectories, release, kept)
    n = trajectories.n_samples
    return SampleErrors(
        spatial_km=distribution(spatial),
        time_minutes=distribution(time),
        created=share(int(release.created.sum()), n) or 0.0,
        deleted=share(n - len(kept), n) or 0.0,
        deleted_users=share(int((release.released_of < 0).sum()), trajectories.n_users) or 0.0,
        cost=distribution(costs(trajectories, release)),
    )


def costs(trajectories: Trajectories, release: TrajectoryRelease) -> Floats:
    """Return the cost of eq. 4 of everybody with a kept sample, in minutes x km."""
    kept = np.flatnonzero(release.box_of >= 0)
    minutes, width, height = release.spans()
    of_box = minutes * (width + height) / 1000
    owner, people = trajectories.owner[kept], trajectories.n_users
    total = np.bincount(owner, of_box[release.box_of[kept]], minlength=people)
    samples = np.bincount(owner, minlength=people)
    return np.asarray(total[samples > 0] / samples[samples > 0])


def _apart(trajectories: Trajectories, release: TrajectoryRelease, kept: Ints) -> tuple[Floats, Floats]:
    """Return kilometres and minutes between the centres of kept samples and of their boxes."""
    box, grid = release.box_of[kept], release.grid
    boxes = release.boxes

    def halves(column: Ints, low: Ints, high: Ints) -> Floats:
        centre = (low.astype(np.int64) + high)[box]
        return np.asarray(centre - 2 * column[kept].astype(np.int64) - 1, dtype=np.float64)

    across = halves(trajectories.x, boxes.x0, boxes.x1)
    across = np.hypot(across, halves(trajectories.y, boxes.y0, boxes.y1), out=across)
    time = np.abs(halves(trajectories.t, boxes.t0, boxes.t1))
    return across * (grid.metres / 2000), time * (grid.seconds / 120)
