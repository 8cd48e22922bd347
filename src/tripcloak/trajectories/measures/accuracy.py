"""Accuracy: how large generalised samples are in space and how long in time (paper 002, figure 5)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tripcloak.arrays import Floats
from tripcloak.trajectories.measures.distribution import Distribution, distribution
from tripcloak.trajectories.release import TrajectoryRelease


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
    """Return the area and the duration of generalised samples, as distributions (paper 002, section IV).

    Examples
    --------
    >>> from tripcloak.trajectories import Boxes, Grid, Solution, Trajectories
    >>> from tripcloak.trajectories.release import build_trajectory_release
    >>> made = Trajectories.of(user=["a", "a"], t=[0, 9], x=[0, 19], y=[0, 9], grid=Grid())
    >>> whole = Boxes(*(np.array([side]) for side in (0, 10, 0, 20, 0, 10)))
    >>> solution = Solution(np.array([0, 1]), whole, np.zeros(1), np.zeros(2, int), {})
    >>> told = {"promise": "containment", "method": "by hand", "parameters": {}, "k": 1}
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
