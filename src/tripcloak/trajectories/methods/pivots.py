"""What the methods share that hide people in clusters round a pivot."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

import numpy as np

from tripcloak.ground.arrays import Floats, Ints
from tripcloak.ground.errors import InputError
from tripcloak.trajectories.model import Grid, Trajectories
from tripcloak.trajectories.release.release import Boxes, TrajectorySolution

ABOUT_DELTA: dict[str, Any] = {"help": "How far apart the hidden may be, in metres.", "metavar": "METRES"}
ABOUT_TRASH: dict[str, Any] = {"help": "Share of the people that may be deleted.", "metavar": "SHARE"}
ABOUT_CHUNK: dict[str, Any] = {"help": "People that are clustered at a time.", "metavar": "N"}
ABOUT_RADIUS: dict[str, Any] = {
    "help": "Radius of clusters to begin with, in metres.",
    "unset": "delta",
    "metavar": "METRES",
}
ABOUT_GROWTH: dict[str, Any] = {"help": "Factor by which the radius grows.", "metavar": "FACTOR"}


class _Columns(NamedTuple):
    offsets: Ints
    t: Ints
    x: Ints
    y: Ints
    point_of: Ints


class PivotPoints(_Columns):
    """The points of all people, by time, and the point of every sample.

    Points of person i stand at ``offsets[i]:offsets[i + 1]``; no two of them are in one step of time.
    """

    @classmethod
    def of(cls, trajectories: Trajectories) -> PivotPoints:
        """Return the points of trajectories: samples of one step of time are one, in their middle.

        Examples
        --------
        >>> from tripcloak.trajectories.model import Grid
        >>> made = Trajectories.of(user=[0, 0, 0], t=[1, 1, 2], x=[0, 4, 7], y=[0, 0, 0], grid=Grid())
        >>> PivotPoints.of(made).x.tolist()
        [2, 7]
        """
        fresh = np.ones(trajectories.n_samples, dtype=bool)
        fresh[1:] = np.diff(trajectories.t) != 0
        fresh[trajectories.offsets[:-1]] = True
        point_of = np.cumsum(fresh) - 1
        starts = np.flatnonzero(fresh)
        held = np.diff(np.append(starts, trajectories.n_samples))
        x, y = (
            np.floor_divide(np.add.reduceat(column.astype(np.int64), starts), held).astype(np.int32)
            for column in (trajectories.x, trajectories.y)
        )
        offsets = np.append(point_of[trajectories.offsets[:-1]], len(starts))
        return cls(offsets, trajectories.t[starts], x, y, point_of)

    @cached_property
    def lengths(self) -> Ints:
        """Return the number of points of every person."""
        return np.diff(self.offsets)

    @cached_property
    def centres(self) -> tuple[Floats, Floats]:
        """Return the mean place of every person, in steps."""
        x, y = (np.add.reduceat(v.astype(np.float64), self.offsets[:-1]) for v in (self.x, self.y))
        return x / self.lengths, y / self.lengths

    def pace(self, grid: Grid) -> float:
        """Return how many metres people cover in a step of time, on the whole.

        One step of space a step of time where nobody moves or no time goes by.
        """
        within = np.ones(len(self.t) - 1, dtype=bool)
        within[self.offsets[1:-1] - 1] = False
        moved = np.hypot(*(np.diff(v.astype(np.float64))[within] for v in (self.x, self.y))).sum()
        lasted = float((self.t[self.offsets[1:] - 1].astype(np.int64) - self.t[self.offsets[:-1]]).sum())
        return grid.metres * (float(moved / lasted) if moved and lasted else 1.0)

    def spread(self, grid: Grid) -> float:
        """Return how far points lie from the middle of all, on the mean: metres, and time at the pace."""
        t, x, y = (column - column.mean() for column in (self.t, self.x, self.y))
        return float(np.hypot(x, y).mean()) * grid.metres + float(np.abs(t).mean()) * self.pace(grid)


def ranges(starts: Ints, lengths: Ints) -> Ints:
    """Return starts[0], starts[0] + 1, ... for its length, then the same for the others.

    Examples
    --------
    >>> ranges(np.array([5, 0]), np.array([2, 3])).tolist()
    [5, 6, 0, 1, 2]
    """
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    rows: Ints = np.arange(total) + np.repeat(np.asarray(starts) - (ends - lengths), lengths)
    return rows


class Clusters(NamedTuple):
    """The pivot of every trajectory (-1 where it is discarded), and the radius that was needed."""

    pivot_of: Ints
    radius: float


def grown_clusters(distance: Floats, *, k: int, spare: int, radius: float, growth: float) -> Clusters:
    """Return clusters of k or more that leave out ``spare`` trajectories at most.

    The radius grows until they do. At the largest distance every trajectory fits.

    Examples
    --------
    >>> line = np.array([0.0, 1.0, 9.0, 11.0, 50.0])
    >>> distance = np.abs(line[:, None] - line)
    >>> grown_clusters(distance, k=2, spare=1, radius=1.0, growth=2.0)
    Clusters(pivot_of=array([ 0,  0,  3,  3, -1]), radius=2.0)
    """
    steps = ladder(distance, k=k, radius=radius, growth=growth)
    return next(found for found in steps if np.count_nonzero(found.pivot_of < 0) <= spare)


def ladder(distance: Floats, *, k: int, radius: float, growth: float) -> Iterator[Clusters]:
    """Yield the clusters at the first radius, at the grown one, and so on until none is discarded.

    Examples
    --------
    >>> line = np.array([0.0, 1.0, 9.0, 11.0])
    >>> steps = ladder(np.abs(line[:, None] - line), k=2, radius=1.0, growth=2.0)
    >>> [found.pivot_of.tolist() for found in steps]
    [[0, 0, -1, -1], [0, 0, 3, 3]]
    """
    from tripcloak.trajectories.methods._kernels.pivots import greedy_clusters

    while True:
        pivot_of = greedy_clusters(distance, k, float(radius))
        yield Clusters(pivot_of, radius)
        if (pivot_of >= 0).all():
            return
        radius *= growth


def lowest_step(ladders: Sequence[Sequence[Clusters]], spare: int) -> int:
    """Return the first step at which no more than ``spare`` are discarded, all ladders together.

    A ladder that has ended discards nobody.
    """
    step = 0
    while sum(int((one[step].pivot_of < 0).sum()) for one in ladders if step < len(one)) > spare:
        step += 1
    return step


def chunks(x: Floats, y: Floats, size: int) -> list[Ints]:
    """Return rows split into chunks of neighbours, none larger than ``size``, all of about one size.

    Halved again and again across the longer side of the places, so a chunk is a compact part of the map.

    Examples
    --------
    >>> [rows.tolist() for rows in chunks(np.array([0.0, 9.0, 1.0, 8.0]), np.zeros(4), 2)]
    [[0, 2], [1, 3]]
    """
    return _halved(x, y, np.arange(len(x)), -(-len(x) // size))


def check_clustering(delta: float, trash: float, radius: float | None, growth: float) -> None:
    """Raise an InputError unless clusters can be grown with these."""
    if not 0 <= delta < np.inf:
        raise InputError(f"delta is a number of metres, 0 or more; got {delta}")
    if not 0 <= trash < 1:
        raise InputError(f"the trash limit is a share from 0 to less than 1; got {trash}")
    if radius is not None and not 0 < radius < np.inf:
        raise InputError(f"the first radius is a number of metres above 0; got {radius}")
    if not 1 < growth < np.inf:
        raise InputError(f"the radius grows by a factor above 1; got {growth}")


def first_radius(radius: float | None, delta: float, grid: Grid) -> float:
    """Return the radius to start with, in metres: delta, but a step of space at least."""
    return max(delta, float(grid.metres)) if radius is None else radius


def _halved(x: Floats, y: Floats, rows: Ints, parts: int) -> list[Ints]:
    if parts <= 1:
        return [rows]
    axes = sorted((x[rows], y[rows]), key=lambda side: float(np.ptp(side)), reverse=True)
    order = rows[np.lexsort((rows, axes[1], axes[0]))]
    lower = parts // 2
    cut = len(rows) * lower // parts
    first, second = np.sort(order[:cut]), np.sort(order[cut:])
    return _halved(x, y, first, lower) + _halved(x, y, second, parts - lower)


def moved_into_disc(
    x: Ints, y: Ints, centre: tuple[Ints, Ints], *, grid: Grid, delta: float
) -> tuple[Ints, Ints]:
    """Return places within delta / 2 metres of their centres, moved straight towards them where needed.

    Two places in one disc are within delta of each other. Steps are whole, so a place that is moved
    comes to lie on the boundary or less than two steps inside it, never outside.

    Examples
    --------
    >>> none = np.array([0, 0])
    >>> moved_into_disc(np.array([9, 90]), none, (none, none), grid=Grid(metres=100), delta=2000)
    (array([ 9, 10], dtype=int32), array([0, 0], dtype=int32))
    """
    # Squares of whole numbers are compared with a whole number, so no rounding lets a place slip out.
    limit = int(Fraction(delta) ** 2 / (4 * grid.metres**2))
    east, north = (
        np.asarray(v, np.int64) - np.asarray(c, np.int64) for v, c in zip((x, y), centre, strict=True)
    )
    out = east**2 + north**2 > limit
    away_x, away_y = east[out], north[out]
    scale = np.sqrt(limit / (away_x**2 + away_y**2))
    away_x, away_y = (np.trunc(away * scale).astype(np.int64) for away in (away_x, away_y))
    while (outside := away_x**2 + away_y**2 > limit).any():
        wider = np.abs(away_x) >= np.abs(away_y)
        away_x = away_x - np.where(outside & wider, np.sign(away_x), 0)
        away_y = away_y - np.where(outside & ~wider, np.sign(away_y), 0)
    east[out], north[out] = away_x, away_y
    return (np.asarray(centre[0]) + east).astype(np.int32), (np.asarray(centre[1]) + north).astype(np.int32)


T = TypeVar("T")


class ReleasedPart(NamedTuple):
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


def assembled(
    points: PivotPoints, parts: Sequence[ReleasedPart], facts: Mapping[str, Any]
) -> TrajectorySolution:
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
    return TrajectorySolution(offsets, boxes, released_of, box_of, told)


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
