"""W4M-LC (Wait for Me): k trajectories with the same times, within delta of each other all the while."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from tripcloak.ground.arrays import Ints
from tripcloak.ground.errors import InputError
from tripcloak.ground.options import option
from tripcloak.ground.progress import Progress
from tripcloak.ground.threads import processors
from tripcloak.promises import CoLocation, TrajectoryPromise
from tripcloak.trajectories.methods.method import ABOUT_JOBS, HidingMethod
from tripcloak.trajectories.methods.pivots import (
    ABOUT_CHUNK,
    ABOUT_DELTA,
    ABOUT_GROWTH,
    ABOUT_RADIUS,
    ABOUT_TRASH,
    Clusters,
    PivotPoints,
    ReleasedPart,
    assembled,
    check_clustering,
    chunks,
    first_radius,
    grown_clusters,
    moved_into_disc,
    ranges,
    told,
)
from tripcloak.trajectories.model import Grid, Trajectories
from tripcloak.trajectories.release.release import TrajectorySolution

Scales = tuple[float, float, float]
"""Metres a step of space, metres that a step of time counts for, metres of a point without a match."""


@dataclass(frozen=True, kw_only=True)
class W4M(HidingMethod):
    """W4M-LC (Abul, Bonchi and Nanni 2010), as the k-scale paper compares with it (section IV, table II).

    People are split into chunks of neighbours. In each, clusters grow round pivots that lie far apart: a
    pivot and the k - 1 nearest free trajectories, none farther than a radius. The radius grows until no
    more than the trash limit is left over; the rest is discarded. Then every trajectory of a cluster is
    edited until it moves with its pivot: same times, and within delta / 2 of it at each of them, so any
    two of a cluster are within delta. A point that is matched takes the pivot's time and is moved no
    further than the disc asks; where the pivot has a point and the other one none, one is created; what
    has no match is deleted.

    From the article come (k, delta)-anonymity, the greedy clusters with their radius and trash limit,
    editing towards the pivot, a distance that is linear in points, and chunks; from the k-scale paper
    delta = 2 km and a trash of 10 %. Where they are silent, this was decided:

    - The points of the shorter trajectory are matched in order, each with the point of the longer one
      that is nearest in time among those that leave enough for the rest. Nothing limits how far.
    - The distance is the mean over matched points of metres in space plus minutes in time, which count
      for as many metres as people cover in them on the whole, plus ``unmatched`` metres times the share
      of points of the longer one without a match.
    - A created point lies where the pivot is. Samples of one person in one step of time are one point.
    - Chunks are compact on the map, of about one size; each keeps the trash limit. The radius starts at
      delta.

    What is promised is co-location: every released trajectory has k - 1 others within delta at all its
    times. That hides nobody from somebody who knows original samples: pivots are released as they were,
    others keep whatever already lay in the disc (Trujillo-Rasua and Domingo-Ferrer 2013). Samples are
    invented and deleted. Use k-scale where that matters.

    Parameters
    ----------
    delta
        Metres within which the trajectories of a cluster stay.
    trash
        The share of trajectories that may be discarded.
    chunk
        The most people that are clustered together.
    radius
        Metres at which the radius of clusters starts; delta if not given.
    growth
        The factor by which the radius grows.
    unmatched
        Metres that a point without a match counts for. Less of it means more samples created and
        deleted, and smaller errors of those that stay. If not given, what knowing nothing about a point
        costs: how far points lie from the middle of all, in space and time, on the mean.
    jobs
        Threads; as many as there are cores if not given. The release does not depend on it.

    Examples
    --------
    >>> from tripcloak.trajectories.model import Grid
    >>> made = Trajectories.of(
    ...     user=["a", "a", "b", "b"], t=[0, 9, 1, 8], x=[0, 0, 50, 5], y=[0, 0, 0, 0], grid=Grid()
    ... )
    >>> release = W4M(k=2, trash=0).anonymise(made)
    >>> release.boxes.t0.tolist(), release.boxes.x0.tolist()
    ([0, 9, 0, 9], [0, 0, 10, 5])
    """

    name: ClassVar[str] = "w4m"
    summary: ClassVar[str] = (
        "edits k trajectories until they move within delta of each other; invents and deletes"
    )
    source: ClassVar[str] = "Abul, Bonchi and Nanni 2010 (W4M-LC), as in the k-scale paper, section IV"
    makes: ClassVar[type[TrajectoryPromise]] = CoLocation

    largest_chunk: ClassVar[int] = 10_000
    """Distances of a larger chunk would not fit 1 GB of memory."""

    delta: float = option(2000.0, **ABOUT_DELTA)
    trash: float = option(0.1, **ABOUT_TRASH)
    chunk: int = option(1000, **ABOUT_CHUNK)
    radius: float | None = option(None, **ABOUT_RADIUS)
    growth: float = option(1.5, **ABOUT_GROWTH)
    unmatched: float | None = option(
        None,
        help="What a point without a match counts for, in metres.",
        unset="what knowing nothing of it costs",
        metavar="METRES",
    )
    jobs: int | None = option(None, **ABOUT_JOBS)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_clustering(self.delta, self.trash, self.radius, self.growth)
        if self.unmatched is not None and not 0 <= self.unmatched < np.inf:
            raise InputError(f"a point without a match counts for 0 metres or more; got {self.unmatched}")
        if not 2 * self.k <= self.chunk <= self.largest_chunk:
            raise InputError(
                f"a chunk holds 2 k = {2 * self.k} to {self.largest_chunk} people; got {self.chunk}"
            )

    def solve(self, trajectories: Trajectories, progress: Progress) -> TrajectorySolution:
        """Return the edited trajectories; those of no cluster are deleted."""
        points, grid = PivotPoints.of(trajectories), trajectories.grid
        pace = points.pace(grid)
        unmatched = points.spread(grid) if self.unmatched is None else self.unmatched
        scales = (float(grid.metres), pace, float(unmatched))
        split = chunks(*points.centres, self.chunk)
        with ThreadPoolExecutor(processors(self.jobs)) as pool:
            parts = told(
                pool.map(lambda rows: self._edited(points, grid, scales, rows), split),
                lambda done: progress("editing chunks", done, len(split)),
            )
        facts = {
            "chunks": len(split),
            "clusters": sum(one.clusters for one in parts),
            "largest_radius_metres": max(one.radius for one in parts),
            "metres_per_minute": pace * 60 / grid.seconds,
            "unmatched_metres": unmatched,
        }
        return assembled(points, [one.part for one in parts], facts)

    def _edited(self, points: PivotPoints, grid: Grid, scales: Scales, rows: Ints) -> _Edited:
        """Return the released points of a chunk."""
        from tripcloak.trajectories.methods._kernels.pivots import lst_distances

        distance = lst_distances(points.offsets, (points.t, points.x, points.y), rows, scales)
        found = grown_clusters(
            distance,
            k=self.k,
            spare=int(self.trash * len(rows)),
            radius=first_radius(self.radius, self.delta, grid),
            growth=self.growth,
        )
        clusters = len(np.unique(found.pivot_of[found.pivot_of >= 0]))
        return _Edited(_towards_pivots(points, grid, self.delta, rows, found), clusters, found.radius)


class _Edited(NamedTuple):
    part: ReleasedPart
    clusters: int
    radius: float


def _towards_pivots(
    points: PivotPoints, grid: Grid, delta: float, rows: Ints, found: Clusters
) -> ReleasedPart:
    """Return every clustered trajectory of a chunk, edited towards its pivot."""
    from tripcloak.trajectories.methods._kernels.pivots import matched_points

    kept = found.pivot_of >= 0
    own, pivots = rows[kept], rows[found.pivot_of[kept]]
    match = matched_points(points.offsets, points.t, own, pivots)
    lengths = points.lengths[pivots]
    of_pivot = ranges(points.offsets[pivots], lengths)
    # A created point lies where the pivot is.
    source = np.where(match < 0, of_pivot, match)
    centre = (points.x[of_pivot], points.y[of_pivot])
    x, y = moved_into_disc(points.x[source], points.y[source], centre, grid=grid, delta=delta)
    box_of = np.full(int(points.lengths[own].sum()), -1, dtype=np.int64)
    starts = np.cumsum(points.lengths[own]) - points.lengths[own]
    matched = np.flatnonzero(match >= 0)
    shift = np.repeat(starts - points.offsets[own], lengths)
    box_of[match[matched] + shift[matched]] = matched
    return ReleasedPart(own, lengths, points.t[of_pivot], x, y, box_of)
