"""The scorecard: every measure of one release of trajectories, and several methods side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from tripcloak.ground.arrays import Ints
from tripcloak.pages.markdown import shown
from tripcloak.trajectories.measures.accuracy import Accuracy, SampleErrors, accuracy, sample_errors
from tripcloak.trajectories.measures.anchors import (
    AnchorAgreement,
    Anchors,
    compare_anchors,
    home,
    local_seconds,
    work,
)
from tripcloak.trajectories.measures.displacement import FIT, Law, count_moves, laws_of, slopes
from tripcloak.trajectories.measures.distribution import Distribution, distribution
from tripcloak.trajectories.measures.entropy import RegularityAgreement, compare_regularity, some_people
from tripcloak.trajectories.measures.shape import (
    Agreement,
    PersonTracks,
    Shapes,
    agreement,
    centre_shift_km,
    paired_tracks,
    people_at_a_time,
    shapes,
)
from tripcloak.trajectories.model import Trajectories
from tripcloak.trajectories.release.release import TrajectoryRelease

COLUMNS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("spatial_error_km", "mean spatial error (km)", ("spatial_error_km", "mean")),
    ("time_error_minutes", "mean time error (min)", ("time_error_minutes", "mean")),
    ("created", "created samples (%)", ("created",)),
    ("deleted", "deleted samples (%)", ("deleted",)),
    ("median_area_km2", "median area (km2)", ("area_km2_per_original_sample", "median")),
    ("median_minutes", "median duration (min)", ("duration_minutes_per_original_sample", "median")),
    ("cost", "cost (min km)", ("cost",)),
)
"""Key, heading and where the value stands in the measures of a release."""

SHARES = {"created", "deleted"}


def comparison_rows(rows: Sequence[tuple[Mapping[str, Any], Mapping[str, Any]]]) -> list[dict[str, Any]]:
    """Return one flat row a release, ready for JSON: what it is, then the columns of table II and two more.

    Parameters
    ----------
    rows : sequence of (mapping, mapping)
        What a release is (data set, method, k, ...; the same names for all), and what
        :func:`measure_trajectories` says of it.
    """
    return [{**told, **{key: _found(measures, path) for key, _, path in COLUMNS}} for told, measures in rows]


def comparison_table(rows: Sequence[tuple[Mapping[str, Any], Mapping[str, Any]]]) -> str:
    """Return the table of several releases as Markdown; areas and durations are those of original samples.

    Examples
    --------
    >>> measures = {"spatial_error_km": {"mean": 1.25}, "time_error_minutes": {"mean": 90.0}, "created": 0.0,
    ...             "deleted": 0.018, "cost": 1234.5, "area_km2_per_original_sample": {"median": None},
    ...             "duration_minutes_per_original_sample": {"median": 60.0}}
    >>> print(comparison_table([({"method": "glove"}, measures)]))
    | method | mean spatial error (km) | mean time error (min) | created samples (%) | ...
    |---|---:|---:|---:|---:|---:|---:|---:|
    | glove | 1.25 | 90 | 0 | 1.8 | – | 60 | 1,234 |
    """
    flat = comparison_rows(rows)
    names = list(rows[0][0]) if rows else []
    headings = [*names, *(heading for _, heading, _ in COLUMNS)]
    lines = [f"| {' | '.join(headings)} |", f"|{'---|' * len(names)}{'---:|' * len(COLUMNS)}"]
    for row in flat:
        cells = [shown(str(row[name])) for name in names] + [_cell(key, row[key]) for key, _, _ in COLUMNS]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _found(measures: Mapping[str, Any], path: Sequence[str]) -> float | None:
    found: Any = measures
    for name in path:
        found = found[name]
    return None if found is None else float(found)


def _cell(key: str, value: float | None) -> str:
    if value is None:
        return "–"
    value = 100 * value if key in SHARES else value
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


class ShapeAgreement(NamedTuple):
    """Where trajectories lie and how far they reach: centre of mass, radii of gyration, convex hull."""

    centre_km: Distribution
    radius: Agreement
    timed_radius: Agreement
    hull: Agreement


class TrajectoryMeasures(NamedTuple):
    """Every measure, with the distributions behind it; for the eyes of the data owner."""

    accuracy: Accuracy
    errors: SampleErrors
    shape: ShapeAgreement
    home: AnchorAgreement
    work: AnchorAgreement
    regularity: RegularityAgreement
    laws: tuple[dict[float, Law], dict[float, Law]]

    def __repr__(self) -> str:
        return "<TrajectoryMeasures, of unreleased data>"

    def to_dict(self) -> dict[str, Any]:
        """Return every measure by name, ready for JSON; None stands for what cannot be told, never NaN."""
        sizes, errors, shape = self.accuracy, self.errors, self.shape
        return {
            "spatial_error_km": errors.spatial_km.to_dict(),
            "time_error_minutes": errors.time_minutes.to_dict(),
            "created": errors.created,
            "deleted": errors.deleted,
            "deleted_users": errors.deleted_users,
            "cost": errors.cost.mean,
            "area_km2": sizes.area_km2.to_dict(),
            "duration_minutes": sizes.duration_minutes.to_dict(),
            "area_km2_per_original_sample": sizes.own_area_km2.to_dict(),
            "duration_minutes_per_original_sample": sizes.own_duration_minutes.to_dict(),
            "centre_of_mass_km": shape.centre_km.to_dict(),
            "radius_of_gyration": shape.radius.to_dict(),
            "radius_of_gyration_by_time": shape.timed_radius.to_dict(),
            "hull": shape.hull.to_dict(),
            "home": self.home.to_dict(),
            "work": self.work.to_dict(),
            **self.regularity.to_dict(),
            "displacement_slopes": slopes(*self.laws),
            "displacement_fit": list(FIT),
        }


def measure_trajectories(
    trajectories: Trajectories, release: TrajectoryRelease, *, timezone: str | None = None
) -> dict[str, Any]:
    """Return every measure by name, always the same ones in the same order, ready for JSON.

    The values are private: they are computed from data that is not released. ``timezone`` says what
    night and working hours are; without it the longitude does.

    Examples
    --------
    >>> import numpy as np
    >>> from tripcloak.trajectories import Boxes, Grid, TrajectorySolution
    >>> from tripcloak.trajectories.release.release import build_trajectory_release
    >>> made = Trajectories.of(user=["a", "a"], t=[0, 10], x=[0, 20], y=[0, 0], grid=Grid())
    >>> whole = Boxes(*(np.array([side]) for side in (0, 11, 0, 21, 0, 1)))
    >>> solution = TrajectorySolution(np.array([0, 1]), whole, np.zeros(1), np.zeros(2, int), {})
    >>> from tripcloak.promises import Containment
    >>> told = {"promise": Containment(k=2), "method": "by hand", "parameters": {}}
    >>> found = measure_trajectories(made, build_trajectory_release(made, solution, **told))
    >>> found["spatial_error_km"]["mean"], found["time_error_minutes"]["median"], found["deleted"]
    (1.0, 5.0, 0.0)
    """
    return take_measures(trajectories, release, timezone=timezone).to_dict()


def take_measures(
    trajectories: Trajectories,
    release: TrajectoryRelease,
    *,
    timezone: str | None = None,
    cell_km: float = 1.0,
    people: int = 20_000,
    seed: int = 0,
) -> TrajectoryMeasures:
    """Return every measure with the distributions behind it.

    Parameters
    ----------
    trajectories, release
        What was, and what is told of it.
    timezone : str, optional
        The time zone of home and work; without it the longitude says what the clocks show.
    cell_km : float
        How large a place is, for home, work and entropy.
    people, seed : int
        Entropy is taken of this many people at random where there are more.
    """
    # What needs every sample comes first and alone, so that less is held at a time.
    sizes, errors = accuracy(release), sample_errors(trajectories, release)
    where = release.of_people(trajectories.n_users)
    before, after = _of_everybody(trajectories, release, where, timezone, cell_km)
    kept = np.flatnonzero(np.diff(where[0]))
    some = paired_tracks(trajectories, release, kept[some_people(len(kept), people, seed)], where)
    return TrajectoryMeasures(
        sizes,
        errors,
        ShapeAgreement(
            distribution(centre_shift_km(before.shapes, after.shapes)),
            agreement(before.shapes.radius, after.shapes.radius),
            agreement(before.shapes.timed_radius, after.shapes.timed_radius),
            agreement(before.shapes.hull, after.shapes.hull),
        ),
        compare_anchors(before.homes, after.homes),
        compare_anchors(before.works, after.works),
        compare_regularity(*some, people=people, cell_km=cell_km),
        (laws_of(*before.moves), laws_of(*after.moves)),
    )


class _Side(NamedTuple):
    """What is measured person by person, before or after: one row each; moves are counted by group."""

    shapes: Shapes
    homes: Anchors
    works: Anchors
    moves: tuple[Ints, Ints]

    @classmethod
    def of(cls, tracks: PersonTracks, timezone: str | None, cell_km: float) -> _Side:
        """Return what is measured of some people."""
        found, local = shapes(tracks), local_seconds(tracks, timezone)
        homes, works = home(tracks, local, cell_km), work(tracks, local, cell_km)
        return cls(found, homes, works, count_moves(tracks, found.radius))

    @classmethod
    def join(cls, sides: Sequence[_Side]) -> _Side:
        """Return what is measured of several, one behind the other."""
        one, homes, works, moves = zip(*sides, strict=True)
        people, moved = zip(*moves, strict=True)
        return cls(
            Shapes(*map(np.concatenate, zip(*one, strict=True))),
            Anchors(*map(np.concatenate, zip(*homes, strict=True))),
            Anchors(*map(np.concatenate, zip(*works, strict=True))),
            (np.sum(people, axis=0), np.sum(moved, axis=0)),
        )


def _of_everybody(
    trajectories: Trajectories,
    release: TrajectoryRelease,
    where: tuple[Ints, Ints],
    timezone: str | None,
    cell_km: float,
) -> tuple[_Side, _Side]:
    """Return what is measured person by person in the original and in the release, some people at a time."""
    found = []
    for people in people_at_a_time(trajectories.offsets):
        tracks = paired_tracks(trajectories, release, np.arange(people.start, people.stop), where)
        found.append([_Side.of(one, timezone, cell_km) for one in tracks])
    before, after = zip(*found, strict=True)
    return _Side.join(before), _Side.join(after)
