"""From trajectories to trips, raw or released, for the OD side."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tripcloak.ground.errors import EmptyInputError, InputError
from tripcloak.ground.folders import FolderParts, refuse_if_taken, staged
from tripcloak.ground.manifest import is_release
from tripcloak.ground.memory import Memory
from tripcloak.ground.progress import Progress, silent
from tripcloak.records.frames import files_among
from tripcloak.trajectories.checking import refuse_options
from tripcloak.trajectories.model import Grid
from tripcloak.trajectories.reading import TrajectorySource, read_trajectories
from tripcloak.trajectories.release.reading import read_trajectory_folder
from tripcloak.trajectories.stays import Stays, StayTrips, Visits, find_stays, trips_between

if TYPE_CHECKING:
    import pyarrow as pa

FINE = 10
"""Metres; the places of trips are told finer than trajectories need, unless a resolution is given."""

RAW = "these trips are raw data under the ids of the input: keep the file inside"
RELEASED = (
    "these trips come from released boxes, taken at their centres under the release's pseudonyms; "
    "they say no more than the release does"
)


@dataclass(frozen=True, kw_only=True)
class TripRules:
    """What a stay and a trip are: see :func:`find_stays` and :func:`trips_between`."""

    minutes: float = 20.0
    metres: float = 200.0
    hours: float = 24.0


@dataclass(frozen=True, kw_only=True)
class ExtractedTrips:
    """How many trips came of how many trajectories and stays."""

    trajectories: int
    stays: int
    trips: int
    too_long: int
    notes: tuple[str, ...]
    out: Path

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {**asdict(self), "notes": list(self.notes), "out": str(self.out)}


def write_trips_of_trajectories(
    source: TrajectorySource,
    out: Path,
    rules: TripRules | None = None,
    *,
    memory: Memory = None,
    force: bool = False,
    progress: Progress = silent,
) -> ExtractedTrips:
    """Write a table of the trips in trajectories and return how many they are.

    Parameters
    ----------
    source
        Raw fixes, or one release folder.
    out
        Parquet, or CSV if its name ends so, with the columns ``person``, ``origin_lat``, ``origin_lon``,
        ``destination_lat``, ``destination_lon``, ``start_time`` and ``end_time``.
    """
    rules = rules or TripRules()
    parts = FolderParts("table of trips of this name", files=(out.name,))
    refuse_if_taken(out.parent, force=force, parts=parts)
    if out.resolve() in {path.resolve() for path in files_among(source.paths)}:
        raise InputError("the trips would replace the very input they are taken from; choose another file")
    people, grid, visits, notes = _visits(source, memory, progress)
    progress("finding stays", 0, None)
    stays = find_stays(visits, metres=rules.metres, minutes=rules.minutes)
    trips = trips_between(stays, metres=rules.metres, hours=rules.hours)
    if not len(trips.owner):
        raise EmptyInputError(_why_none(stays))
    with staged(out.parent, force=force, parts=parts) as staging:
        _write(staging / out.name, trips_table(trips, people, grid))
    return ExtractedTrips(
        trajectories=len(visits.offsets) - 1,
        stays=len(stays.owner),
        trips=len(trips.owner),
        too_long=trips.too_long,
        notes=notes,
        out=out,
    )


def trips_table(trips: StayTrips, people: Any, grid: Grid) -> pa.Table:
    """Return trips in the columns that the OD side knows without being told."""
    import pyarrow as pa

    ends: dict[str, Any] = {}
    for end, x, y in (
        ("origin", trips.origin_x, trips.origin_y),
        ("destination", trips.destination_x, trips.destination_y),
    ):
        lon, lat = grid.unproject(x, y)
        ends |= {f"{end}_lat": np.round(lat, 6), f"{end}_lon": np.round(lon, 6)}
    instant = pa.timestamp("s", tz="UTC")
    times = {"start_time": trips.leaves, "end_time": trips.arrives}
    return pa.table(
        {
            "person": pa.array(np.asarray(people)[trips.owner].astype(str), pa.string()),
            **{name: pa.array(column) for name, column in ends.items()},
            **{name: pa.array(column, pa.int64()).cast(instant) for name, column in times.items()},
        }
    )


def _visits(
    source: TrajectorySource, memory: Memory, progress: Progress
) -> tuple[Any, Grid, Visits, tuple[str, ...]]:
    """Return whose samples they are, the grid, the samples, and what is to be said of them."""
    folders = [path for path in files_among(source.paths) if is_release(path)]
    if folders and len(source.paths) > 1:
        raise InputError(
            "trips are taken from raw files, or from one release folder; several things were given"
        )
    if folders:
        refuse_options(source)
        published = read_trajectory_folder(folders[0])
        visits = Visits.of_boxes(published.grid, published.offsets, published.boxes)
        return published.pseudonyms, published.grid, visits, (RELEASED,)
    fine = source if source.metres is not None else replace(source, metres=FINE)
    reading = read_trajectories(fine, memory=memory, progress=progress)
    trajectories = reading.trajectories
    visits = Visits.of_trajectories(trajectories)
    return trajectories.users, trajectories.grid, visits, (*reading.notes, RAW)


def _why_none(stays: Stays) -> str:
    if not len(stays.owner):
        return "nobody stays anywhere for so long; ask for shorter stays (--stay 0 for check-ins)"
    return "nobody goes from one stay to another; ask for shorter stays (--stay) or smaller places (--place)"


def _write(path: Path, table: pa.Table) -> None:
    from pyarrow import csv
    from pyarrow import parquet as pq

    path = path.absolute()
    if path.suffix == ".csv":
        csv.write_csv(table, path, csv.WriteOptions(quoting_style="needed"))
    else:
        pq.write_table(table, path, compression="zstd")
