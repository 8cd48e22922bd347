"""From trajectories to trips, raw or released, for the OD side."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tripcloak.ground.engine import connect, plain_errors
from tripcloak.ground.errors import EmptyInputError, InputError, MissingColumnError
from tripcloak.ground.folders import FolderParts, refuse_if_taken, staged
from tripcloak.ground.manifest import is_release
from tripcloak.ground.memory import Budget, Memory
from tripcloak.ground.progress import Progress, silent
from tripcloak.ground.spelling import spelt
from tripcloak.records.files.frames import files_among
from tripcloak.records.opening import open_rows
from tripcloak.records.trips import clean, open_canonical
from tripcloak.trajectories.checking import refuse_options
from tripcloak.trajectories.model import Grid
from tripcloak.trajectories.reading import TrajectorySource, read_trajectories
from tripcloak.trajectories.reading.kinds import PLACE_METRES, STAY_MINUTES, FixKind, fix_kind
from tripcloak.trajectories.release.reading import read_trajectory_folder
from tripcloak.trajectories.stays import Stays, StayTrips, Visits, find_stays, trips_between

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

FINE = 10
"""Metres; the places of trips are told finer than trajectories need, unless a resolution is given."""

MOST = 0.5
"""The share of samples in no trip from which on it is told."""

BOXES = FixKind("released boxes", "", STAY_MINUTES, PLACE_METRES)
RIDES = (
    "fixes say whether a passenger is on board, so a trip is a ride, from the first fix with a passenger to "
    "the last one; --by stays makes trips from stay to stay instead"
)
RAW = "these trips are raw data under the ids of the input: keep the file inside"
RELEASED = (
    "these trips come from released boxes, taken at their centres under the release's pseudonyms; "
    "they say no more than the release does"
)


USUAL_HOURS = 24.0


@dataclass(frozen=True, kw_only=True)
class TripRules:
    """What a stay and a trip are: see :func:`find_stays` and :func:`trips_between`.

    What is not said follows from what the fixes are. Where fixes say whether a passenger is on board, trips
    are rides, as the other wing reads them; ``by="stays"`` has them made of stays all the same, and
    ``by="silence"`` parts fixes where none come for a while, which the other wing does too.
    """

    minutes: float | None = None
    metres: float | None = None
    hours: float | None = None
    by: str | None = None

    def __post_init__(self) -> None:
        if self.by not in (None, "stays", "rides", "silence"):
            raise InputError(f"{spelt('by')} says what parts trips: stays, rides or silence; got {self.by!r}")

    def of(self, kind: FixKind) -> tuple[float, float, float]:
        """Return minutes, metres and hours for fixes of a kind."""
        said = ((self.minutes, kind.minutes), (self.metres, kind.metres), (self.hours, USUAL_HOURS))
        minutes, metres, hours = (usual if one is None else one for one, usual in said)
        return minutes, metres, hours


@dataclass(frozen=True, kw_only=True)
class ExtractedTrips:
    """How many trips came of how many trajectories and stays, or of rides; ``rules`` is what was taken."""

    trajectories: int
    stays: int | None
    trips: int
    too_long: int
    rules: Mapping[str, Any]
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
    found = None if rules.by == "stays" else _as_flows(source, rules, out, memory, progress)
    table, told = found or _between_stays(source, rules, out, memory, progress)
    with staged(out.parent, force=force, parts=parts) as staging:
        _write(staging / out.name, table)
    return told


def _between_stays(
    source: TrajectorySource, rules: TripRules, out: Path, memory: Memory, progress: Progress
) -> tuple[pa.Table, ExtractedTrips]:
    people, grid, visits, kind, notes = _visits(source, memory, progress)
    minutes, metres, hours = rules.of(kind)
    progress("finding stays", 0, None)
    stays = find_stays(visits, metres=metres, minutes=minutes)
    trips = trips_between(stays, metres=metres, hours=hours)
    if not len(trips.owner):
        raise EmptyInputError(_why_none(stays))
    told = ExtractedTrips(
        trajectories=len(visits.offsets) - 1,
        stays=len(stays.owner),
        trips=len(trips.owner),
        too_long=trips.too_long,
        rules={"by": "stays", "fixes": kind.name, "stay": minutes, "place": metres, "longest": hours},
        notes=(*_note_on_kind(kind, rules), *_note_on_unused(visits, stays, trips), *notes),
        out=out,
    )
    return trips_table(trips, people, grid), told


def _note_on_kind(kind: FixKind, rules: TripRules) -> list[str]:
    """Return what the fixes were taken for, why, and what a stay is for that."""
    if not kind.why:
        return []
    minutes, metres, hours = rules.of(kind)
    stay = f"{minutes:g} minutes or longer" if minutes else "of any length"
    return [
        f"the fixes look like {kind.name} ({kind.why}), so a stay is one {stay} within {metres:,.0f} metres; "
        f"--stay {minutes:g} --place {metres:g} --longest {hours:g} say so, other numbers otherwise"
    ]


def _note_on_unused(visits: Visits, stays: Stays, trips: StayTrips) -> list[str]:
    """Return that most samples lie at no end of a trip, nor between them, where they do."""
    used = used_samples(visits, stays, trips)
    lost = 1 - used / len(visits.x)
    if lost <= MOST:
        return []
    return [
        f"most of the samples ({lost:.0%}) are part of no trip: they lie at no end of one, nor between its "
        "ends. Shorter stays (--stay), other places (--place), a longer silence (--longest), or trips parted "
        "where no fixes come (--by silence) would help"
    ]


def used_samples(visits: Visits, stays: Stays, trips: StayTrips) -> int:
    """Return how many samples lie at the ends of trips, or between them.

    Examples
    --------
    >>> at = np.array([0, 600, 1800, 2400, 6000, 90_000])
    >>> x = np.array([0.0, 50, 20, 3000, 3000, 9000])
    >>> visits = Visits(np.array([0, 6]), at, at + 60, x, np.zeros(6))
    >>> stays = find_stays(visits)
    >>> used_samples(visits, stays, trips_between(stays))
    5
    """
    if not len(trips.owner):
        return 0
    first, people = int(visits.begins.min()), np.arange(len(visits.offsets) - 1)
    span = int(visits.ends.max()) - first + 1
    seen = np.repeat(people, np.diff(visits.offsets)) * span + (visits.begins - first)
    arrivals = trips.owner * span + (trips.arrives - first)
    # Of stays that begin at one instant the last: the one before it is of the same person.
    arrived = np.searchsorted(stays.owner * span + (stays.begins - first), arrivals, side="right") - 1
    begin = np.searchsorted(seen, trips.owner * span + (stays.begins[arrived - 1] - first))
    end = np.searchsorted(seen, trips.owner * span + (stays.ends[arrived] - first))
    change = np.bincount(begin, minlength=len(seen) + 1) - np.bincount(end, minlength=len(seen) + 1)
    return int(np.count_nonzero(np.cumsum(change)))


def _as_flows(
    source: TrajectorySource, rules: TripRules, out: Path, memory: Memory, progress: Progress
) -> tuple[pa.Table, ExtractedTrips] | None:
    """Return rides, or what lies between silences, as the other wing reads them; None where stays are to."""
    if any(is_release(path) for path in files_among(source.paths)):
        return None
    with connect(Budget.of(memory).engine) as con:
        rides = _tells_of_passengers(con, source)
        if rules.by == "rides" and not rides:
            raise InputError("no column says whether a passenger is on board, so there are no rides")
        if rules.by is None and not rides:
            return None
        if rules.by == "silence" and rides:
            raise InputError(
                "fixes say whether a passenger is on board, which parts trips better than silence"
            )
        progress("reading trips", 0, None)
        canonical = open_canonical(con, source.trips)
        report = clean(canonical)
        with plain_errors():
            table: pa.Table = con.sql(_as_flows_sql(source, canonical.timezone)).to_arrow_table()
            ((people,),) = con.execute("SELECT count(DISTINCT person) FROM canonical").fetchall()
    if not table.num_rows:
        raise EmptyInputError(report.why_empty("trip"))
    told = ExtractedTrips(
        trajectories=people,
        stays=None,
        trips=table.num_rows,
        too_long=0,
        rules={"by": "rides"} if rides else {"by": "silence", "silence": canonical.silence},
        notes=(*((RIDES,) if rides else ()), *canonical.notes, RAW),
        out=out,
    )
    return table, told


def _tells_of_passengers(con: duckdb.DuckDBPyConnection, source: TrajectorySource) -> bool:
    try:
        return "occupied" in open_rows(con, source.trips).columns
    except MissingColumnError:
        # A table of trips is read as fixes at their ends.
        return False


def _as_flows_sql(source: TrajectorySource, timezone: str | None) -> str:
    """Return SQL of the trips that lie in the window of time, in the columns that the OD side knows."""
    since, until = source.window
    window = "" if since is None else f" AND start_time >= make_timestamptz({since})"
    window += "" if until is None else f" AND end_time < make_timestamptz({until})"
    # Times that claim no zone are to claim none afterwards either.
    times = ", ".join(
        f"{name}{'::TIMESTAMP' if timezone is None else ''} AS {name}" for name in ("start_time", "end_time")
    )
    ends = ", ".join(
        f"{short}_{axis} AS {end}_{axis}"
        for short, end in (("o", "origin"), ("d", "destination"))
        for axis in ("lat", "lon")
    )
    return (
        f"SELECT person::VARCHAR AS person, {ends}, {times} FROM canonical "
        f"WHERE reason = 0{window} ORDER BY ALL"
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
    instant = pa.timestamp("s", tz="UTC" if grid.clock == "UTC" else None)
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
) -> tuple[Any, Grid, Visits, FixKind, tuple[str, ...]]:
    """Return whose samples they are, the grid, the samples, what they are, and what is to be said of them."""
    folders = [path for path in files_among(source.paths) if is_release(path)]
    if folders and len(source.paths) > 1:
        raise InputError(
            "trips are taken from raw files, or from one release folder; several things were given"
        )
    if folders:
        refuse_options(source)
        published = read_trajectory_folder(folders[0])
        visits = Visits.of_boxes(published.grid, published.offsets, published.boxes)
        return published.pseudonyms, published.grid, visits, BOXES, (RELEASED,)
    fine = source if source.metres is not None else replace(source, metres=FINE)
    reading = read_trajectories(fine, memory=memory, progress=progress)
    trajectories = reading.trajectories
    visits = Visits.of_trajectories(trajectories)
    kind = fix_kind(trajectories, reading.columns)
    return trajectories.users, trajectories.grid, visits, kind, (*reading.notes, RAW)


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
