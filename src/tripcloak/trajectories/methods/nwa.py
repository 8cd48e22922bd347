"""NWA (Never Walk Alone): k trajectories of one time span, within delta of each other all the while."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from tripcloak.ground.arrays import Floats, Ints
from tripcloak.ground.errors import ImpossibleRequestError, InputError
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
    ladder,
    lowest_step,
    moved_into_disc,
    ranges,
    told,
)
from tripcloak.trajectories.model import Grid, Trajectories
from tripcloak.trajectories.release.release import TrajectorySolution


class TimeSpans(NamedTuple):
    """When each person's trimmed trajectory begins and ends, in steps of the grid since 1970.

    Attributes
    ----------
    start, end : array of int64
        First and last time; the end lies before the start where no period begins in between.
    defined : array of int64
        How many whole multiples of the sampling step the untrimmed trajectory holds.
    step : int
        Steps of the grid between two points.
    """

    start: Ints
    end: Ints
    defined: Ints
    step: int

    def times(self, row: int) -> Ints:
        """Return the times at which this person's place is told."""
        return np.arange(self.start[row], self.end[row] + 1, self.step)


def trimmed_spans(points: PivotPoints, grid: Grid, *, sampling: int, period: int) -> TimeSpans:
    """Return the spans of trajectories trimmed to whole periods; both lengths in seconds.

    Examples
    --------
    >>> from tripcloak.trajectories.model import Trajectories
    >>> made = Trajectories.of(user=[0, 0], t=[5, 190], x=[0, 0], y=[0, 0], grid=Grid(seconds=60))
    >>> trimmed_spans(PivotPoints.of(made), Grid(seconds=60), sampling=600, period=3600)
    TimeSpans(start=array([60]), end=array([180]), defined=array([19]), step=10)
    """
    first, last = (since_1970(points.t[at], grid) for at in (points.offsets[:-1], points.offsets[1:] - 1))
    step, whole = sampling // grid.seconds, period // grid.seconds
    defined = np.maximum(last // step - -(-first // step) + 1, 0)
    return TimeSpans(-(-first // whole) * whole, last // whole * whole, defined, step)


def classes(spans: TimeSpans, k: int) -> list[Ints]:
    """Return people by time span, where k or more share one."""
    whole = np.flatnonzero(spans.end >= spans.start)
    both = np.stack((spans.start[whole], spans.end[whole]), axis=1)
    _, code = np.unique(both, axis=0, return_inverse=True)
    order = np.argsort(code, kind="stable")
    parts = np.split(whole[order], np.flatnonzero(np.diff(code[order])) + 1)
    return [rows for rows in parts if len(rows) >= k]


def places_at(points: PivotPoints, grid: Grid, rows: Ints, times: Ints) -> tuple[Ints, Ints]:
    """Return where each of these people is at each of these times: on the way from point to point.

    Every time lies between a person's first and last point.
    """
    own = ranges(points.offsets[rows], points.lengths[rows])
    t = since_1970(points.t[own], grid)
    # People stand one after the other on one axis of time, so that one search finds all the points.
    span = max(int(t.max()), int(times.max())) - min(int(t.min()), int(times.min())) + 1
    shift = np.arange(len(rows)) * span
    axis = t + np.repeat(shift, points.lengths[rows])
    asked = (times[None, :] + shift[:, None]).ravel()
    before = np.searchsorted(axis, asked, side="right") - 1
    after = np.searchsorted(axis, asked, side="left")
    gone = (asked - axis[before]) / np.maximum(axis[after] - axis[before], 1)
    shape = (len(rows), len(times))
    x, y = (
        np.rint(v[before] + gone * (v[after] - v[before])).astype(np.int32).reshape(shape)
        for v in (points.x[own].astype(np.float64), points.y[own].astype(np.float64))
    )
    return x, y


def since_1970(t: Ints, grid: Grid) -> Ints:
    """Return steps of the grid as steps since 1970, where periods begin whole."""
    return np.asarray(t, dtype=np.int64) + grid.start // grid.seconds


@dataclass(frozen=True, kw_only=True)
class NWA(HidingMethod):
    """Never Walk Alone (Abul, Bonchi and Nanni 2008), as the thesis on ODkAnon sums it up (2.5.3).

    1. *Trim*: a trajectory begins and ends on a whole period pi; people with the same beginning and end
       form a class. Who has no whole period, or shares it with fewer than k - 1 others, is discarded.
    2. *Cluster*, class by class: pivots that lie far apart, each with its k - 1 nearest free ones within
       a radius; the radius grows until no more than the trash limit is discarded in all.
    3. *Translate*: at each time, whoever is farther than delta / 2 from the cluster's centre is moved
       straight towards it, onto the circle. So any two of a cluster are within delta.

    From the article come all of these. It asks for trajectories that are sampled regularly and at the
    same times. Others are made so here, and that is not the article's: places are interpolated on a line
    between samples at whole multiples of ``sampling``, and every original sample is said to stand at the
    nearest of these times. Where the text is silent, this was decided:

    - The distance of two trajectories is the mean over time of metres between them; the centre of a
      cluster is the mean place. (The thesis speaks of the median.)
    - A next pivot is the one farthest from all pivots tried before.
    - Everybody who is discarded, for whatever reason, counts for the trash limit.
    - Classes above ``chunk`` people are split as W4M-LC does. The radius starts at delta.

    ``facts`` tells the information distortion ID of the article: the mean over all times at which a
    trajectory is defined of the metres by which its point was moved, with Omega, the longest such move,
    for every point that was cut or discarded.

    What is promised is co-location: every released trajectory has k - 1 others within delta at all its
    times. That hides nobody from somebody who knows original samples, which may be released as they were
    (Trujillo-Rasua and Domingo-Ferrer 2013). Samples are invented and deleted. Use k-scale where that
    matters.

    Parameters
    ----------
    delta
        Metres within which the trajectories of a cluster stay.
    trash
        The share of trajectories that may be discarded.
    period
        Seconds between two times at which trajectories may begin or end: the article's pi.
    sampling
        Seconds between two points of a released trajectory.
    chunk
        The most people that are clustered together.
    radius
        Metres at which the radius of clusters starts; delta if not given.
    growth
        The factor by which the radius grows.
    jobs
        Threads; as many as there are cores if not given. The release does not depend on it.

    Examples
    --------
    >>> made = Trajectories.of(
    ...     user=["a", "a", "b", "b"], t=[0, 120, 0, 130], x=[0, 0, 60, 60], y=[0] * 4, grid=Grid()
    ... )
    >>> release = NWA(k=2, trash=0, period=7200).anonymise(made)
    >>> release.boxes.t0.tolist(), release.boxes.x0.tolist()
    ([0, 60, 120, 0, 60, 120], [20, 20, 20, 40, 40, 40])
    """

    name: ClassVar[str] = "nwa"
    summary: ClassVar[str] = (
        "moves k trajectories of one time span within delta of each other; invents and deletes"
    )
    source: ClassVar[str] = (
        "Abul, Bonchi and Nanni 2008 (Never Walk Alone), as in the thesis on ODkAnon, 2.5.3"
    )
    makes: ClassVar[type[TrajectoryPromise]] = CoLocation

    largest_chunk: ClassVar[int] = 10_000
    """Distances of a larger chunk would not fit 1 GB of memory."""

    most_points: ClassVar[int] = 100_000_000
    """More released points than this would not fit 8 GB of memory."""

    most_periods: ClassVar[int] = 400
    """Longer periods that are tried for an answer to what would do, in whole periods."""

    delta: float = option(2000.0, **ABOUT_DELTA)
    trash: float = option(0.1, **ABOUT_TRASH)
    period: int = option(
        86_400, help="Trajectories begin and end at multiples of this, in seconds.", metavar="SECONDS"
    )
    sampling: int = option(3600, help="Time between two released points, in seconds.", metavar="SECONDS")
    chunk: int = option(1000, **ABOUT_CHUNK)
    radius: float | None = option(None, **ABOUT_RADIUS)
    growth: float = option(1.5, **ABOUT_GROWTH)
    jobs: int | None = option(None, **ABOUT_JOBS)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_clustering(self.delta, self.trash, self.radius, self.growth)
        if self.sampling < 1 or self.period < self.sampling or self.period % self.sampling:
            raise InputError(
                "the period is a whole multiple of the sampling step, and both are seconds above 0"
            )
        if not 2 * self.k <= self.chunk <= self.largest_chunk:
            raise InputError(
                f"a chunk holds 2 k = {2 * self.k} to {self.largest_chunk} people; got {self.chunk}"
            )

    def solve(self, trajectories: Trajectories, progress: Progress) -> TrajectorySolution:
        """Return the translated trajectories; those of no class or cluster are deleted."""
        grid, points = trajectories.grid, PivotPoints.of(trajectories)
        if self.sampling % grid.seconds:
            raise InputError(
                f"the sampling step of {self.sampling} s is no multiple of the resolution, {grid.seconds} s"
            )
        spans = self._spans(points, grid)
        alike = classes(spans, self.k)
        spare = self._spare(points, grid, alike)
        self._refuse_many_points(spans, alike)
        x, y = points.centres
        split = [rows[part] for rows in alike for part in chunks(x[rows], y[rows], self.chunk)]
        with ThreadPoolExecutor(processors(self.jobs)) as pool:
            ladders = told(
                pool.map(lambda rows: self._ladder(points, grid, spans, rows), split),
                lambda done: progress("clustering chunks", done, len(split)),
            )
            step = lowest_step(ladders, spare)
            ends = [steps[min(step, len(steps) - 1)].pivot_of for steps in ladders]
            kept = [(rows, end) for rows, end in zip(split, ends, strict=True) if (end >= 0).any()]
            moved = told(
                pool.map(lambda one: self._moved(points, grid, spans, *one), kept),
                lambda done: progress("moving chunks", done, len(kept)),
            )
        facts = {
            "classes": len(alike),
            "chunks": len(split),
            "radius_metres": first_radius(self.radius, self.delta, grid) * self.growth**step,
            **_distortion(spans, moved),
        }
        return assembled(points, [one.part for one in moved], facts)

    def _spans(self, points: PivotPoints, grid: Grid) -> TimeSpans:
        return trimmed_spans(points, grid, sampling=self.sampling, period=self.period)

    def _spare(self, points: PivotPoints, grid: Grid, alike: list[Ints]) -> int:
        """Return how many people of the classes may be discarded, or raise where too many are in none."""
        n = len(points.lengths)
        spare = int(self.trash * n)
        lost = n - sum(map(len, alike))
        if alike and lost <= spare:
            return spare - lost
        other = self._period_that_does(points, grid, n - spare)
        share = np.ceil(100 * lost / n) / 100
        advice = [
            *([f"a period of {other} s"] if other else []),
            *([f"a trash limit of {share:.2f}"] if alike and share < 1 else []),
        ]
        would = f"{' or '.join(advice)} would do" if advice else "no other period and no trash limit would do"
        raise ImpossibleRequestError(
            f"not possible: once trajectories are cut to whole periods of {self.period} s, too many of them "
            f"share their time span with fewer than k = {self.k} for a trash limit of {self.trash}; {would}. "
            "k-scale needs no time spans and discards nothing"
        )

    def _refuse_many_points(self, spans: TimeSpans, alike: list[Ints]) -> None:
        if sum(len(rows) * len(spans.times(rows[0])) for rows in alike) > self.most_points:
            raise InputError(
                f"a point every {self.sampling} s would be more than {self.most_points:,} points in all; "
                "choose a longer sampling step"
            )

    def _period_that_does(self, points: PivotPoints, grid: Grid, needed: int) -> int | None:
        """Return the period nearest to this one with enough people in classes, of those worth trying.

        A longer one lets more people share a span, a shorter one leaves a span to more people.
        """
        shorter = [p for p in range(self.sampling, self.period, self.sampling) if self.period % p == 0]
        lasts = int(points.t.max()) - int(points.t.min())
        most = min(lasts * grid.seconds // self.period, self.most_periods)
        longer = [self.period * many for many in range(2, most + 1)]
        for period in sorted(longer + shorter, key=lambda p: (max(p, self.period) / min(p, self.period), p)):
            found = classes(replace(self, period=period)._spans(points, grid), self.k)
            if found and sum(map(len, found)) >= needed:
                return period
        return None

    def _ladder(self, points: PivotPoints, grid: Grid, spans: TimeSpans, rows: Ints) -> list[Clusters]:
        """Return the clusters of people of one class at growing radii."""
        from tripcloak.trajectories.methods._kernels.pivots import mean_distances

        distance = mean_distances(*places_at(points, grid, rows, spans.times(rows[0]))) * grid.metres
        start = first_radius(self.radius, self.delta, grid)
        return list(ladder(distance, k=self.k, radius=start, growth=self.growth))

    def _moved(self, points: PivotPoints, grid: Grid, spans: TimeSpans, rows: Ints, pivot_of: Ints) -> _Moved:
        """Return the released points of people of one class."""
        own = rows[pivot_of >= 0]
        times = spans.times(own[0])
        x, y = places_at(points, grid, own, times)
        _, cluster = np.unique(pivot_of[pivot_of >= 0], return_inverse=True)
        centre = (_centres(x, cluster), _centres(y, cluster))
        moved = moved_into_disc(x, y, centre, grid=grid, delta=self.delta)
        shift = np.hypot(moved[0] - x, moved[1] - y) * grid.metres
        part = ReleasedPart(
            own,
            np.full(len(own), len(times)),
            np.tile((times - since_1970(np.array(0), grid)).astype(np.int32), len(own)),
            moved[0].ravel(),
            moved[1].ravel(),
            _nearest_time(points, grid, own, times, spans.step),
        )
        return _Moved(part, int(cluster.max()) + 1, float(shift.sum()), float(shift.max()))


class _Moved(NamedTuple):
    part: ReleasedPart
    clusters: int
    shift: float
    longest: float


def _centres(places: Ints, cluster: Ints) -> Ints:
    """Return, for everybody and every time, the mean place of the cluster, on whole steps."""
    sums: Floats = np.zeros((cluster.max() + 1, places.shape[1]))
    np.add.at(sums, cluster, places)
    means: Ints = np.rint(sums / np.bincount(cluster)[:, None]).astype(np.int64)[cluster]
    return means


def _nearest_time(points: PivotPoints, grid: Grid, rows: Ints, times: Ints, step: int) -> Ints:
    """Return, for every point of these people, the released point of the nearest time; -1 where cut."""
    lengths = points.lengths[rows]
    t = since_1970(points.t[ranges(points.offsets[rows], lengths)], grid)
    nearest = (t - times[0] + step // 2) // step
    cut = (t < times[0]) | (t > times[-1])
    return np.where(cut, -1, nearest + np.repeat(np.arange(len(rows)) * len(times), lengths))


def _distortion(spans: TimeSpans, parts: list[_Moved]) -> dict[str, Any]:
    """Return what was done, and the information distortion with Omega for points that are gone."""
    omega = max(one.longest for one in parts)
    released = sum(len(one.part.t) for one in parts)
    defined = int(spans.defined.sum())
    total = sum(one.shift for one in parts) + omega * (defined - released)
    return {
        "clusters": sum(one.clusters for one in parts),
        "omega_metres": omega,
        "information_distortion_metres": total / defined,
        "without_whole_period": int((spans.end < spans.start).sum()),
    }
